/** Inputs that are kept: each a line `### name | note | note`, and below it the bytes as `escape.ts` writes them. */
import { readFileSync } from 'node:fs';
import { escape, unescape } from './escape.ts';

export interface Kept {
  readonly name: string;
  readonly notes: readonly string[];
  readonly bytes: string;
}

/** @param file of the corpus folder, or a path */
export function readCorpus(file: string | URL): Kept[] {
  const sections = readFileSync(file, 'utf8').split(/^### /m).slice(1);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const [name = '', ...notes] = title.split('|').map((part) => part.trim());
    return { name, notes, bytes: unescape(lines.join('\n')) };
  });
}

/** As it would stand in the corpus. */
export function asKept({ name, notes, bytes }: Kept): string {
  return `### ${[name, ...notes].join(' | ')}\n${escape(bytes)}\n`;
}

export const corpusFile = {
  requests: new URL('corpus/requests.http', import.meta.url),
  responses: new URL('corpus/responses.http', import.meta.url),
};
