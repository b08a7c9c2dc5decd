// @ts-check
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CONSOLE_FILES, PORTAL_FILES } from './output.mjs';
import { inProject } from './project.mjs';

/** Sources of the operators' console and of the customers' portal. */
export const CONSOLE = inProject('console');

/** Bundles the console and the portal. Names of files have a hash of their content, so browsers keep them. */
export async function buildPages() {
  // Only a build needs it, and not every program of scripts/ builds.
  const { build, stop } = await import('esbuild');
  await buildPage(build, {
    page: 'index.html',
    entry: 'src/main.tsx',
    icon: 'icon.svg',
    folder: CONSOLE_FILES,
  });
  await buildPage(build, {
    page: 'portal.html',
    entry: 'src/portal/main.tsx',
    icon: 'portal.svg',
    folder: PORTAL_FILES,
  });
  // Its process would stay as long as this one, which may go on to run the gateway.
  await stop();
}

/**
 * @param {typeof import('esbuild').build} build
 * @param {{ page: string, entry: string, icon: string, folder: string }} files in `console/`, and where they go
 */
async function buildPage(build, { page, entry, icon, folder }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(CONSOLE, entry)],
    absWorkingDir: inProject('.'),
    outdir: folder,
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
  const html = readFileSync(join(CONSOLE, page), 'utf8')
    .replace('main.js', named('.js'))
    .replace('main.css', named('.css'));
  writeFileSync(join(folder, 'index.html'), html);
  copyFileSync(join(CONSOLE, icon), join(folder, 'icon.svg'));
  writeFileSync(join(folder, 'licenses.txt'), licenses(Object.keys(metafile.inputs)));
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
      if (file === undefined) throw new Error(`${name} is part of a page and has no license file.`);
      return `${name}\n\n${readFileSync(file, 'utf8').trim()}\n`;
    })
    .join('\n----\n\n');
}
