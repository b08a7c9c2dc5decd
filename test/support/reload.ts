/** A gateway whose configuration is exchanged while it runs, and upstreams to tell which one it has. */
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { request, type Agent, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { makeParents, operatorClient, operatorToken, type Parent } from './apis.ts';
import { configFile, goodConfig } from './config-files.ts';
import { httpClient } from './http-client.ts';
import { startInProcess } from './replicas.ts';
import { freshDatabase } from './postgres.ts';
import type { Scope } from './servers.ts';
import { migrated } from './store.ts';
import { startRawUpstream } from './upstreams.ts';

/** A gateway in this process, on a database of its own, with `yaml` for its file; everything ends with the test. */
export async function start(t: Scope, yaml: string, { callers = true } = {}) {
  const databaseUrl = await freshDatabase(t, migrated);
  const settings = (content: string) => ({
    PORT: '0',
    INTERNAL_PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_TOKEN: operatorToken,
    // A machine that stands still for seconds ends a shorter lease, and requests are judged again.
    COHERENCE_LEASE_MS: '60000',
    CONFIG: configFile(t, content),
  });
  const { gateway, origin, internalOrigin } = await startInProcess(t, goodConfig(settings(yaml)));
  const { port } = gateway.publicAddress;
  const { key } = callers ? await parentOf(t, origin, internalOrigin) : { key: '' };
  return { gateway, key, settings, origin, port, internal: httpClient(t, internalOrigin), databaseUrl };
}

/** Makes a parent account with a key. */
export function parentOf(t: Scope, origin: string, internalOrigin: string): Promise<Parent> {
  return makeParents(httpClient(t, origin), operatorClient(t, internalOrigin))();
}

/** An upstream that responds with its name, and may hold its responses back. */
export async function named(t: Scope, name: string, holds = false) {
  const held: (() => void)[] = [];
  let open = 0;
  const upstream = await startRawUpstream(t, () => (incoming, response) => {
    incoming.resume();
    const { socket } = incoming;
    if (socket.listenerCount('close', gone) === 0) {
      open += 1;
      socket.on('close', gone);
    }
    if (holds) held.push(() => response.end(name));
    else incoming.on('end', () => response.end(name));
  });
  function gone(): void {
    open -= 1;
  }
  return {
    url: upstream.url,
    open: () => open,
    holding: () => held.length,
    release: () => held.forEach((respond) => respond()),
  };
}

/** Sends a GET, or a POST with a body; `localPort` tells connections apart. */
export async function get(
  agent: Agent,
  url: string,
  key: string,
  headers: Record<string, string> = {},
  body = '',
) {
  const method = body === '' ? 'GET' : 'POST';
  const sent = request(url, { agent, method, headers: { authorization: `Bearer ${key}`, ...headers } });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { localPort } = response.socket;
  return { status: response.statusCode, body: await text(response), localPort };
}

/** Exchanges a file in one step: the process may be reading it. */
export function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

/** Sends `bytes` on a connection of its own, and reads until the other end closes it. */
export async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}
