/**
 * Inputs that are kept: each a line `### name | note | note`, and below it the bytes as `escape.ts` writes them. Before the
 * first one stand pieces, each a line `## piece` with its bytes, which every `<<piece>>` stands for. Inputs that differ in
 * a part of their bytes alone are lines `- name: bytes` below one title: `<<each>>` stands for that part.
 */
import { readFileSync } from 'node:fs';
import { escape, unescape } from './escape.ts';

export interface Kept {
  readonly name: string;
  readonly notes: readonly string[];
  readonly bytes: string;
}

/** @param file of the corpus folder, or a path */
export function readCorpus(file: string | URL): Kept[] {
  const [first = '', ...sections] = readFileSync(file, 'utf8').split(/^### /m);
  const pieces = new Map(first.split(/^## /m).slice(1).map(titled));
  const whole = (text: string): string =>
    text.replace(/<<([\w ]+)>>/g, (found, name: string) => {
      const piece = pieces.get(name);
      return piece === undefined ? found : whole(piece);
    });
  return sections.map(titled).flatMap(([title, text]) => {
    const [name = '', ...notes] = title.split('|').map((part) => part.trim());
    if (!text.includes('<<each>>')) return [{ name, notes, bytes: unescape(whole(text)) }];
    const rest = text.replace(/^- .*\n/gm, '');
    return [...text.matchAll(/^- ([^:]*): ?(.*)$/gm)].map(([, name = '', part = '']) => {
      return { name, notes, bytes: unescape(whole(rest.replace('<<each>>', () => part))) };
    });
  });
}

function titled(section: string): [title: string, text: string] {
  const end = section.indexOf('\n');
  return [section.slice(0, end), section.slice(end + 1)];
}

/** As it would stand in the corpus. */
export function asKept({ name, notes, bytes }: Kept): string {
  return `### ${[name, ...notes].join(' | ')}\n${escape(bytes)}\n`;
}

export const corpusFile = {
  requests: new URL('corpus/requests.http', import.meta.url),
  responses: new URL('corpus/responses.http', import.meta.url),
};
