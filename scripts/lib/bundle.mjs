// @ts-check
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { DIST, SRC } from './output.mjs';
import { inProject } from './project.mjs';

/** What processes are started with. */
const ENTRIES = ['main.ts', 'cli.ts', 'worker.ts', 'adapters/embedded/creation/program.ts'];

/** Packages that the bundles hold. typebox has hundreds of files; they are a third of what a start has to load. */
const INSIDE = ['typebox'];

/**
 * Bundles src/ into dist/, because a start pays for each file that it loads. What is imported lazily stays in files of its
 * own. Packages stay in node_modules, but for {@link INSIDE}.
 */
export async function bundle() {
  // Only a build needs it, and not every program of scripts/ builds.
  const { build } = await import('esbuild');
  const { dependencies } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
  const { metafile } = await build({
    entryPoints: ENTRIES.map((name) => join(SRC, name)),
    absWorkingDir: inProject('.'),
    outbase: SRC,
    outdir: DIST,
    bundle: true,
    splitting: true,
    external: Object.keys(dependencies).filter((name) => !INSIDE.includes(name)),
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    plugins: [ownPlaces],
  });
  for (const [output, { inputs }] of Object.entries(metafile.outputs)) {
    const moved = Object.keys(inputs).find((path) => usesItsPlace(inProject(path)));
    if (moved !== undefined && dirname(join(inProject('.'), output)) !== DIST)
      throw new Error(`${moved} finds files beside itself, and its bundle is in ${dirname(output)}.`);
  }
}

/**
 * Keeps `import.meta.url` what it would be if each module had a file of its own in dist/, because modules find files
 * relative to it. Bundles lie at the top of dist/.
 * @type {import('esbuild').Plugin}
 */
const ownPlaces = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!usesItsPlace(path)) return undefined;
      const place = `./${relative(SRC, path).split(sep).join('/').replace(/\.ts$/, '.js')}`;
      const contents = readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        `new URL('${place}', import.meta.url).href`,
      );
      return { contents, loader: 'ts', resolveDir: dirname(path) };
    });
  },
};

/** @param {string} path of a source */
function usesItsPlace(path) {
  if (!path.startsWith(SRC + sep) || !basename(path).endsWith('.ts')) return false;
  return readFileSync(path, 'utf8').includes('import.meta.url');
}
