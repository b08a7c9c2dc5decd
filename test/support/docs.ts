/** Pages of the docs as tests read them, and the command that their examples call. */
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { dist, tempFolder } from './process.ts';
import type { Scope } from './servers.ts';

/** @param name of a file in docs */
export function readPage(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

/** What stands in the blocks of a language, in their order. */
export function blocksOf(text: string, language: string): string[] {
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'));
  return [...blocks].map(([, block = '']) => block);
}

/** The lines of the blocks of commands. */
export function commandsOf(text: string): string[] {
  return blocksOf(text, 'sh').flatMap((block) => block.trim().split('\n'));
}

/** Installs `tenancy-gateway` into a folder of the test's own. Returns the folder, and a `PATH` that begins with it. */
export function installed(t: Scope): { readonly folder: string; readonly PATH: string } {
  const folder = tempFolder(t);
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(dist, 'cli.js')}" "$@"\n`;
  writeFileSync(join(folder, 'tenancy-gateway'), program, { mode: 0o755 });
  return { folder, PATH: [folder, process.env['PATH']].join(delimiter) };
}
