import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';

const root = new URL('../../../', import.meta.url);

/** Each may name files; one that was moved or deleted would be passed over without a word. */
const configurations = [
  '.ci/run',
  '.dockerignore',
  '.github/CODEOWNERS',
  '.github/workflows/ci.yml',
  '.github/workflows/release.yml',
  '.prettierignore',
  '.taprc',
  'eslint.config.js',
  'knip.json',
  'package.json',
  'tsconfig.bench.json',
  'tsconfig.build.json',
  'tsconfig.client.json',
  'tsconfig.json',
];

/** Made by builds and runs, so they may be missing. */
const made = /^(?:node_modules|dist|data|src\/generated|\.cache|\.tap|coverage)\b/;

t.test('every file that a configuration names is there', async (t) => {
  let named = 0;
  for (const configuration of configurations.filter((file) => existsSync(new URL(file, root)))) {
    const text = readFileSync(new URL(configuration, root), 'utf8');
    for (const path of pathsIn(text)) {
      if (made.test(path)) continue;
      named += 1;
      t.ok(existsSync(new URL(path, root)), `${configuration}: ${path}`);
    }
  }
  t.ok(named > 40, `${named} files were named`);
});

/** Paths below a folder of the project; of a pattern its fixed beginning, and each choice of braces. */
function pathsIn(text: string): string[] {
  const written = text.match(
    /(?<![\w./:@*-])(?:src|test|scripts|bench|docs|config|examples|helm)\/[\w./*{},@-]*/g,
  );
  return (written ?? []).flatMap(choices).map((path) => path.replace(/\*.*$/, '').replace(/[/,.]+$/, ''));
}

function choices(path: string): string[] {
  const [whole, inner = ''] = /\{([^}]*)\}/.exec(path) ?? [];
  if (whole === undefined) return [path];
  return inner.split(',').flatMap((choice) => choices(path.replace(whole, choice)));
}
