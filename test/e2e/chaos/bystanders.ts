/** Exchanges that are under way while a fault point fires in another one, and must not notice. */
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.ts';
import { rawClient, requestText, type RawClient } from '../../support/raw-client.ts';
import type { Scope } from '../../support/servers.ts';
import { openWebSocket } from '../../support/websockets.ts';
import { hashOf, part, type ChaosUpstream } from './upstream.ts';

export interface Callers {
  readonly parent: { readonly key: string };
  readonly sub: { readonly key: string };
  /** Calls in the faulty exchange, too. */
  readonly solo: { readonly key: string };
}

/** Ends a bystander; rejects if anything about it is not as it would be alone. */
type End = () => Promise<void>;

/** Begins all of them; resolves when each is under way and waits for its other half. */
export async function beginBystanders(
  t: Scope,
  port: number,
  upstream: ChaosUpstream,
  callers: Callers,
): Promise<Record<string, End>> {
  const { parent, sub, solo } = callers;
  const [download, besides, upload, buffered, socket, kept] = await Promise.all([
    slowDownload(t, port, upstream, parent.key, ''),
    slowDownload(t, port, upstream, solo.key, '/undici'),
    slowUpload(t, port, upstream, sub.key, 40_000),
    slowUpload(t, port, upstream, solo.key, 4_000),
    openSocket(t, port, sub.key),
    keptConnection(t, port, parent.key),
  ]);
  return {
    download,
    'download of the same tenant': besides,
    upload,
    'held upload of the same tenant': buffered,
    socket,
    'kept connection': kept,
  };
}

const request = (key: string, method: string, target: string, headers: [string, string][] = []): string =>
  requestText(method, target, [['Authorization', `Bearer ${key}`], ...headers]);

const expectBody = async (client: RawClient, body: string): Promise<void> => {
  const response = await client.response();
  if (response.status !== 200 || response.body !== body)
    throw new Error(`${response.status} ${response.body.slice(0, 200)}`);
};

async function slowDownload(
  t: Scope,
  port: number,
  upstream: ChaosUpstream,
  key: string,
  path: string,
): Promise<End> {
  const id = randomUUID();
  const client = await rawClient(t, port);
  client.send(request(key, 'GET', `${path}/half?${id}`));
  await client.until(() => client.text.endsWith(part) || /^HTTP\/1\.1 [^2]/.test(client.text));
  if (!client.text.endsWith(part)) throw new Error(client.text);
  return async () => {
    upstream.release(id);
    await expectBody(client, part + part);
  };
}

async function slowUpload(
  t: Scope,
  port: number,
  upstream: ChaosUpstream,
  key: string,
  length: number,
): Promise<End> {
  const id = randomUUID();
  const client = await rawClient(t, port);
  const body = 'y'.repeat(length / 2);
  client.send(request(key, 'PUT', `/upload?${id}`, [['Content-Length', String(length)]]) + body);
  if (length > 16 * 1024) await eventually(() => upstream.bytesOf(id) === body.length, { everyMs: 1 });
  return async () => {
    client.send(body);
    await expectBody(client, hashOf(body + body));
  };
}

async function openSocket(t: Scope, port: number, key: string): Promise<End> {
  const { socket, messages } = await openWebSocket(t, port, '/echo', { authorization: `Bearer ${key}` });
  let closed = false;
  socket.on('error', () => undefined).on('close', () => (closed = true));
  const heard = async (text: string): Promise<void> => {
    socket.send(text);
    await eventually(() => messages.includes(text) || closed, { everyMs: 1 });
    if (!messages.includes(text)) throw new Error('closed');
  };
  await heard('before');
  return async () => {
    await heard('after');
    socket.close();
    await eventually(() => closed, { everyMs: 1 });
  };
}

async function keptConnection(t: Scope, port: number, key: string): Promise<End> {
  const client = await rawClient(t, port);
  const ask = async (): Promise<void> => {
    client.send(request(key, 'GET', '/small'));
    await expectBody(client, 'ok');
  };
  await ask();
  return ask;
}

/** Requests that come behind the fault, several at a time. */
export async function askAfresh(t: Scope, port: number, { parent, sub, solo }: Callers): Promise<void> {
  const targets = ['/small', '/undici/small'];
  await Promise.all(
    [solo, solo, solo, sub, parent].flatMap(({ key }) =>
      targets.map(async (target) => {
        const client = await rawClient(t, port);
        client.send(request(key, 'GET', target));
        await expectBody(client, 'ok');
      }),
    ),
  );
}
