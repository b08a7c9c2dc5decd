/** A real browser, for what only browsers do. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Scope } from './servers.ts';

/** The file of Chromium; `undefined` where there is none. `TEST_CHROMIUM` names another one. */
export const chromium = [process.env['TEST_CHROMIUM'] ?? '', 'chromium', 'chromium-browser', 'google-chrome']
  .filter((program) => program !== '' && spawnSync(program, ['--version']).status === 0)
  .map((program) => spawnSync('sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' }).stdout.trim())
  .at(0);

/** For `{ skip }` of a test that needs it: false where it is here. */
export const withoutChromium =
  chromium === undefined &&
  'NO CHROMIUM ON THIS MACHINE: nothing was tried in a browser. Wanted: apt-get install chromium, or TEST_CHROMIUM=<program>';

/** An origin whose page runs a script. */
export interface Page {
  readonly origin: string;
  /** What the script's promise comes to, as JSON. */
  readonly result: Promise<unknown>;
}

/**
 * Serves a page on an origin of its own.
 *
 * @param script body of an async function that gets `given` and returns what goes into the result
 */
export async function servePage(t: Scope, script: string, given: unknown): Promise<Page> {
  let settle: (result: unknown) => void = () => undefined;
  const result = new Promise((resolve) => (settle = resolve));
  const html = (): string =>
    `<!doctype html><script>(async (given) => {${script}})(${JSON.stringify(given)})` +
    `.catch((error) => String(error))` +
    `.then((result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) }))</script>`;
  const server = createServer((request, response) => {
    if (request.method === 'POST') void json(request).then(settle);
    response.setHeader('content-type', 'text/html').end(request.url === '/' ? html() : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, result };
}

/** Opens a page and waits for its result. The browser ends with it. */
export async function visit(program: string, { origin, result }: Page): Promise<unknown> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const child = spawn(
    program,
    [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
      ...[
        '--disable-background-networking',
        `--user-data-dir=${profile}`,
        '--remote-debugging-port=0',
        origin,
      ],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  child.stdout.resume();
  child.stderr.resume();
  // Its helpers hold these pipes, too, and go on writing to the profile when the browser itself has ended.
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    const early = ended.then(() => {
      throw new Error('the browser ended before its page did');
    });
    return await Promise.race([result, early]);
  } finally {
    child.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
  }
}
