/** Chromium by its DevTools protocol, for what has to be seen from outside of a page. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import type { Scope } from './servers.ts';

/** What came by the protocol. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A tab. */
export interface Tab {
  /** Sends a command of the protocol. */
  readonly send: (method: string, params?: object) => Promise<unknown>;
  /** Runs an expression in the page; what its promise comes to. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Every event so far. */
  readonly events: readonly { readonly method: string; readonly params: unknown }[];
  /** Opens an address and waits until it is loaded. */
  readonly open: (url: string, width: number) => Promise<void>;
}

/** Starts a browser with one tab; it ends with the test. */
export async function openTab(t: Scope, program: string): Promise<Tab> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const child = spawn(
    program,
    [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
      ...['--disable-background-networking', `--user-data-dir=${profile}`, '--remote-debugging-port=0'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const [, url] = /^DevTools listening on (ws:\S+)/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error('the browser ended before it could be asked anything')));
  });
  const socket = new WebSocket(address);
  t.teardown(async () => {
    socket.close();
    child.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
  });
  await new Promise((resolve) => socket.once('open', resolve));
  return tabOver(socket);
}

async function tabOver(socket: WebSocket): Promise<Tab> {
  const events: { method: string; params: unknown }[] = [];
  const replies = new Map<number, (message: Message) => void>();
  const listeners = new Set<(method: string) => void>();
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    if (message.id !== undefined) replies.get(message.id)?.(message);
    if (message.method === undefined) return;
    events.push({ method: message.method, params: message.params });
    for (const listener of listeners) listener(message.method);
  });
  let last = 0;
  const send = (method: string, params: object = {}, sessionId?: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      last += 1;
      replies.set(last, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  const { targetId } = (await send('Target.createTarget', { url: 'about:blank' })) as { targetId: string };
  const attached = await send('Target.attachToTarget', { targetId, flatten: true });
  const { sessionId } = attached as { sessionId: string };
  const tell: Tab['send'] = (method, params) => send(method, params, sessionId);
  for (const domain of ['Page', 'Network', 'Log', 'Runtime', 'Audits']) await tell(`${domain}.enable`);
  return {
    events,
    send: tell,
    evaluate: async (expression) => {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = (await tell('Runtime.evaluate', options)) as {
        result: { value: unknown };
        exceptionDetails?: object;
      };
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return result.value;
    },
    open: async (url, width) => {
      const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
      await tell('Emulation.setDeviceMetricsOverride', metrics);
      const loaded = new Promise<void>((resolve) => {
        const listener = (method: string): void => {
          if (method !== 'Page.loadEventFired') return;
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
      });
      await tell('Page.navigate', { url });
      await loaded;
    },
  };
}
