import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository: configuration templates stay there while the harness runs compiled. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/**
 * Writes a copy of a file of `bench/` with every `{{name}}` filled in.
 *
 * @returns where the copy is
 * @throws Error when the template asks for a value that is missing
 */
export function render(
  template: string,
  values: Readonly<Record<string, string | number>>,
  file: string,
): string {
  const text = readFileSync(join(root, 'bench', template), 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`${template}: no value for ${name}`);
      return String(value);
    },
  );
  writeFileSync(file, text);
  return file;
}

function findRoot(dir: string): string {
  return existsSync(join(dir, 'package.json')) ? dir : findRoot(dirname(dir));
}
