// @ts-check
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CONSOLE_FILES } from './output.mjs';
import { inProject } from './project.mjs';

/** Sources of the operators' console. */
export const CONSOLE = inProject('console');

/** Bundles the console. Names of files have a hash of their content, so browsers keep them. */
export async function buildConsole() {
  // Only a build needs it, and not every program of scripts/ builds.
  const { build } = await import('esbuild');
  rmSync(CONSOLE_FILES, { recursive: true, force: true });
  mkdirSync(CONSOLE_FILES, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(CONSOLE, 'src/main.tsx')],
    absWorkingDir: inProject('.'),
    outdir: CONSOLE_FILES,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022'],
    tsconfig: join(CONSOLE, 'tsconfig.json'),
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const outputs = Object.keys(metafile.outputs).map((path) => basename(path));
  const named = (/** @type {string} */ kind) => outputs.find((name) => name.endsWith(kind)) ?? '';
  const page = readFileSync(join(CONSOLE, 'index.html'), 'utf8')
    .replace('main.js', named('.js'))
    .replace('main.css', named('.css'));
  writeFileSync(join(CONSOLE_FILES, 'index.html'), page);
  copyFileSync(join(CONSOLE, 'icon.svg'), join(CONSOLE_FILES, 'icon.svg'));
  writeFileSync(join(CONSOLE_FILES, 'licenses.txt'), licenses(Object.keys(metafile.inputs)));
}

/**
 * The licenses of packages that are part of the bundle.
 * @param {string[]} inputs
 */
function licenses(inputs) {
  const packages = new Set(
    inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean),
  );
  return [...packages]
    .sort()
    .map((name) => {
      const folder = inProject(`node_modules/${name}`);
      const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
        .map((file) => join(folder, file))
        .find(existsSync);
      if (file === undefined) throw new Error(`${name} is part of the console and has no license file.`);
      return `${name}\n\n${readFileSync(file, 'utf8').trim()}\n`;
    })
    .join('\n----\n\n');
}
