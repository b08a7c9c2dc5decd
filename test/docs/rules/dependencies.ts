import t from 'tap';
import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

t.test(
  'every dependency has a line in docs/maintainers/dependencies.md that says why it is here',
  async (t) => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string> | undefined>;
    const [atRunTime, forDevelopment] = read('docs/maintainers/dependencies.md').split('## For development');
    t.same(named(atRunTime), [
      ...Object.keys(manifest['dependencies'] ?? {}),
      ...Object.keys(manifest['optionalDependencies'] ?? {}),
    ]);
    t.same(named(forDevelopment), Object.keys(manifest['devDependencies'] ?? {}));
  },
);

function named(section: string | undefined): (string | undefined)[] {
  return [...(section ?? '').matchAll(/^- `([^`]+)`: \S/gm)].map((line) => line[1]);
}
