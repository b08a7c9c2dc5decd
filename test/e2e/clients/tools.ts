/**
 * What clients run on. Packages go into `.cache/clients`, once; languages have to be on the machine. What cannot be had
 * is said with how to get it.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findTool, versionOf } from '../../../bench/lib/tools.ts';
import { installedOnce, lastLine, Missing } from '../../support/installed-once.ts';

const execute = promisify(execFile);

export const programs = fileURLToPath(new URL('programs/', import.meta.url));
const requirements = join(programs, 'requirements.txt');
const cache = fileURLToPath(new URL('../../../.cache/clients/', import.meta.url));

/** Packages of npm that the project itself does not have. */
const npmPackages = { axios: '1.21.1', eventsource: '4.1.1' } as const;

/** Packages and versions that are installed for the matrix, such as `axios 1.21.1`. */
export function pinnedVersions(): string[] {
  const pypi = readFileSync(requirements, 'utf8').trim().split('\n');
  return [
    ...Object.entries(npmPackages).map((pinned) => pinned.join(' ')),
    ...pypi.map((line) => line.replace('==', ' ')),
  ];
}

/** @returns curl, if it has what is asked for */
export async function curl(
  feature?: string,
): Promise<{ readonly program: string; readonly version: string }> {
  const program = findTool('curl');
  if (program === undefined) throw new Missing('apt-get install curl');
  const { stdout } = await execute(program, ['--version']);
  if (feature !== undefined && !stdout.includes(feature)) throw new Missing(`a curl with ${feature}`);
  return { program, version: stdout.split(' ').slice(0, 2).join(' ') };
}

/** A virtual environment with the packages of requirements.txt. */
export const python = once(async () => {
  const folder = join(cache, 'python');
  const program = join(folder, 'bin/python');
  const wanted = `${readFileSync(requirements, 'utf8')}${versionOf('python3', '--version')}`;
  await installedOnce(folder, wanted, 'Python 3 with venv, and access to PyPI', async () => {
    await execute('python3', ['-m', 'venv', '--clear', folder]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await execute(program, pip);
  });
  const version = versionOf('python3', '--version');
  const pinned = new Map(wanted.split('\n').map((line) => line.split('==') as [string, string]));
  return { program, version: (name: string) => `${name} ${pinned.get(name)}, ${version}` };
});

/** A folder in which the packages of npm are found, the project's own ones behind them. */
export const node = once(async () => {
  const folder = join(cache, 'node');
  const wanted = Object.entries(npmPackages).map(([name, version]) => `${name}@${version}`);
  await installedOnce(folder, wanted.join('\n'), 'access to the npm registry', async () => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    await execute('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...wanted], {
      cwd: folder,
    });
  });
  return { program: process.execPath, folder, version: nodeVersion };
});

/** Go's own packages, or a module that has a go.mod. */
export async function goProgram(name: 'go' | 'gorilla'): Promise<{ program: string; version: string }> {
  const go = findTool('go');
  if (go === undefined) throw new Missing('Go, from https://go.dev/dl/ or apt-get install golang');
  mkdirSync(cache, { recursive: true });
  const program = join(cache, `${name}-client`);
  const { stdout } = await execute(go, ['env', 'GOVERSION']);
  const args = name === 'go' ? ['http.go'] : ['.'];
  try {
    // The compiler keeps what it compiled, so this takes long only once.
    const env = { ...process.env, GOTOOLCHAIN: 'local' };
    await execute(go, ['build', '-o', program, ...args], { cwd: join(programs, name), env });
  } catch (error) {
    throw new Missing(`a newer Go than ${stdout.trim()}, or access to its module proxy: ${lastLine(error)}`);
  }
  return { program, version: `Go ${stdout.trim().slice('go'.length)}` };
}

/** Java and the programs for it, compiled. */
export const java = once(async () => {
  const [program, compiler] = [findTool('java'), findTool('javac')];
  if (program === undefined || compiler === undefined)
    throw new Missing('apt-get install openjdk-17-jdk-headless');
  const classes = join(cache, 'java');
  const sources = readdirSync(programs).filter((name) => name.endsWith('.java'));
  await execute(compiler, ['-d', classes, ...sources.map((name) => join(programs, name))]);
  const version = `Java ${versionOf('javac', '-version').split(' ')[1]}`;
  return { program, classes, version };
});

/** The version of a package in `node`'s folder or in the project. */
function nodeVersion(name: string): string {
  const folders = [join(cache, 'node'), fileURLToPath(new URL('../../../', import.meta.url))];
  const file = folders.map((folder) => join(folder, 'node_modules', name, 'package.json')).find(existsSync);
  const { version } = JSON.parse(readFileSync(file ?? '', 'utf8')) as { version: string };
  return `${name} ${version}, Node ${process.version}`;
}

function once<Tool>(prepare: () => Promise<Tool>): () => Promise<Tool> {
  let prepared: Promise<Tool> | undefined;
  return () => (prepared ??= prepare());
}
