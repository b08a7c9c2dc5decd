/**
 * The container engine of this machine, by Docker's command line: Docker, or Podman behind its socket. What it is asked to do goes
 * into the test as comments, line by line, so that a slow build is not taken for a test that hangs.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const [server, compose] = [
  said(['version', '--format', '{{.Server.Version}}']),
  said(['compose', 'version', '--short']),
];

/** What runs the containers, for a comment; `undefined` where no engine answers, or there is no Compose. */
export const engine =
  server === undefined || compose === undefined ? undefined : `engine ${server}, Compose ${compose}`;

const withoutEngine =
  'NO CONTAINER ENGINE ON THIS MACHINE: neither examples/compose nor .devcontainer was run. Wanted: Docker with its ' +
  'Compose plugin, or what root on Debian makes by itself: test/e2e/containers/own-engine.sh';

/** The network that images are built in; `own-engine.sh` has none but the machine's. */
export const buildNetwork = process.env['TEST_BUILD_NETWORK'] ?? 'default';

/**
 * For `{ skip }` of a test that needs an engine and these images: false where they are here. What is not here is fetched,
 * where a registry can be reached.
 */
export async function withoutImages(
  t: Pick<Test, 'comment'>,
  images: readonly string[],
): Promise<string | false> {
  if (engine === undefined) return withoutEngine;
  for (const image of images) {
    if (said(['image', 'inspect', image]) !== undefined) continue;
    try {
      await run(t, `docker pull --quiet ${image}`);
    } catch {
      return `${image} IS NOT HERE, AND NO REGISTRY IS REACHED: test/e2e/containers/images.sh makes it, as root on Debian`;
    }
  }
  return false;
}

/**
 * Runs a command of the shell in the project's folder.
 *
 * @returns its standard output
 * @throws with all its output where it fails
 */
export async function run(
  t: Pick<Test, 'comment'>,
  command: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn('sh', ['-c', command], {
    cwd: root,
    env: { ...process.env, BUILDKIT_PROGRESS: 'plain', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const lines: string[] = [];
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      t.comment(line.replace(/[^ -~]/g, '?'));
    });
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${lines.slice(-40).join('\n')}`);
  return stdout;
}

function said(args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('docker', args, { encoding: 'utf8', timeout: 30_000 });
  return status === 0 ? stdout.trim() : undefined;
}
