/** Kinds of exchanges in which a fault point may fire. */
import { setTimeout as sleep } from 'node:timers/promises';
import { handshake, openWebSocket } from '../../support/websockets.ts';
import { rawClient, requestText, type RawClient } from '../../support/raw-client.ts';
import type { Scope } from '../../support/servers.ts';
import { part, type ChaosUpstream } from './upstream.ts';

export interface Place {
  readonly t: Scope;
  readonly port: number;
  readonly key: string;
  readonly upstream: ChaosUpstream;
  /** Unique to this exchange. */
  readonly id: string;
}

/** Begins an exchange. Resolves with a function that ends it, if it is still under way then. */
export type Begin = (place: Place) => Promise<End | undefined>;
export type End = () => unknown;

const bearer = (key: string): [string, string] => ['Authorization', `Bearer ${key}`];

/** Sends requests on one connection and reads their responses. */
async function send(
  place: Place,
  ...requests: readonly [string, string, [string, string][]?, string?][]
): Promise<RawClient> {
  const client = await rawClient(place.t, place.port);
  const texts = requests.map(([method, target, headers = [], body]) =>
    requestText(method, target, [bearer(place.key), ...headers], body),
  );
  client.send(texts.join(''));
  for (const [method] of requests) await client.response(method);
  return client;
}

/** Sends the beginning of an exchange, and waits until `text` has come in. */
async function beginning(place: Place, head: string, text: string): Promise<RawClient> {
  const client = await rawClient(place.t, place.port);
  client.send(head);
  await client.until(() => client.text.includes(text));
  return client;
}

const get =
  (path: string, headers: [string, string][] = []): Begin =>
  async (place) =>
    void (await send(place, ['GET', path, headers]));
const put =
  (path: string, body: string): Begin =>
  async (place) =>
    void (await send(place, ['PUT', path, [], body]));
const chunked: [string, string] = ['Transfer-Encoding', 'chunked'];
const chunks = `5\r\nhello\r\n${part.length.toString(16)}\r\n${part}\r\n0\r\n\r\n`;

/** A response of which half has come. @param leave the client leaves then */
const half =
  (path: string, leave: boolean): Begin =>
  async (place) => {
    const { key, id, upstream } = place;
    const client = await beginning(place, requestText('GET', `${path}/half?${id}`, [bearer(key)]), 'xxx');
    if (leave) return void client.socket.resetAndDestroy();
    return async () => {
      upstream.release(id);
      await client.response();
    };
  };

/** A request that waits for what `rest` says. */
const waits =
  (method: string, path: string, body: string, headers: [string, string][] = []): Begin =>
  async (place) => {
    const client = await rawClient(place.t, place.port);
    client.send(requestText(method, `${path}?${place.id}`, [bearer(place.key), ...headers]) + body);
    await new Promise((resolve) => setTimeout(resolve, 30));
    return () => void client.socket.destroy();
  };

/** A client that reads nothing until much waits for it. */
const slowReader =
  (path: string): Begin =>
  async ({ t, port, key }) => {
    const client = await rawClient(t, port);
    client.socket.pause();
    client.send(requestText('GET', `${path}/large`, [bearer(key)]));
    await new Promise((resolve) => setTimeout(resolve, 60));
    return async () => {
      client.socket.resume();
      await client.response();
    };
  };

const open =
  (how: 'closes' | 'breaks' | 'floods'): Begin =>
  async ({ t, port, key }) => {
    const { socket } = await openWebSocket(t, port, '/echo', { authorization: `Bearer ${key}` });
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const heard = new Promise((resolve) => socket.once('message', resolve));
    socket.send(how === 'floods' ? part.repeat(100) : 'hello');
    await Promise.race([heard, closed]);
    return () => {
      if (how === 'breaks') socket.terminate();
      else socket.close();
      return closed;
    };
  };

const upgrade =
  (path: string): Begin =>
  async (place) => {
    const client = await beginning(place, requestText('GET', path, handshake(place.key)), '\r\n\r\n');
    return () => void client.socket.resetAndDestroy();
  };

const raw =
  (text: (key: string, id: string) => string): Begin =>
  async ({ t, port, key, id }) => {
    const client = await rawClient(t, port);
    client.send(text(key, id));
    await client.response();
  };

/** By the client that sends them to the upstream. */
const ofClient = (path: string): Record<string, Begin> => ({
  // A connection that closes during an exchange asks more of the gateway than one that closes idle.
  'client leaves': half(path, true),
  GET: get(`${path}/small`),
  HEAD: async (place) => void (await send(place, ['HEAD', `${path}/small`])),
  'short body': put(`${path}/upload`, 'short'),
  'long body': put(`${path}/upload`, part.repeat(10)),
  'chunked body': raw((key) => requestText('PUT', `${path}/upload`, [bearer(key), chunked]) + chunks),
  'long response with trailers': get(`${path}/pieces`),
  'early hints': get(`${path}/hints`),
  'slow reader': slowReader(path),
  'half a response': half(path, false),
  'upstream resets': get(`${path}/reset`),
  'upstream closes': get(`${path}/closed`),
  'response of HTTP/1.0': get(`${path}/old`),
  'response until the close': get(`${path}/endless`),
  'malformed response': get(`${path}/malformed`),
  'bytes behind a response': get(`${path}/more`),
  'response before the body': put(`${path}/early`, part.repeat(200)),
  'no response': waits('GET', `${path}/silent`, ''),
  'half a short body': waits('PUT', `${path}/upload`, 'half', [['Content-Length', '8']]),
  'half a long body': waits('PUT', `${path}/upload`, part, [['Content-Length', String(2 * part.length)]]),
  'half a chunked body': waits('PUT', `${path}/upload`, '5\r\nhello\r\n', [chunked]),
});

export const kinds: Readonly<Record<string, Begin>> = {
  ...ofClient(''),
  ...Object.fromEntries(
    Object.entries(ofClient('/undici')).map(([name, begin]) => [`${name}, undici`, begin]),
  ),
  pipelined: async (place) =>
    void (await send(place, ['PUT', '/upload', [], 'first'], ['GET', '/pieces'], ['GET', '/small'])),
  // A pool closes connections after 4 s without requests.
  'new connection, undici': async (place) => {
    await sleep(4_200);
    await send(place, ['GET', '/undici/small']);
  },
  'upgrade that is ignored': get('/small', [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'h2c'],
  ]),
  'upgrade behind another request': async (place) =>
    void (await send(
      place,
      ['GET', '/small'],
      [
        'GET',
        '/small',
        [
          ['Connection', 'Upgrade'],
          ['Upgrade', 'h2c'],
        ],
      ],
    )),
  'expects to continue': put('/upload', part),
  'expects something else': get('/small', [['Expect', 'something']]),
  preflight: raw(() =>
    requestText('OPTIONS', '/cors/small', [
      ['Origin', 'https://a.test'],
      ['Access-Control-Request-Method', 'GET'],
    ]),
  ),
  'other origin': get('/cors/small', [['Origin', 'https://a.test']]),
  'no key': raw(() => requestText('GET', '/small')),
  'unknown key': raw((_key, id) => requestText('GET', '/small', [bearer(`unknown-${id}`)])),
  'new header name': raw((key, id) => requestText('GET', '/small', [bearer(key), [`X-${id}`, 'new']])),
  'reused connection': async (place) => {
    await send(place, ['GET', '/small']);
    await send(place, ['GET', '/small']);
  },
  'reused connection, undici': async (place) => {
    await send(place, ['GET', '/undici/small']);
    await send(place, ['GET', '/undici/small']);
  },
  'rejected with a body': raw(() => requestText('PUT', '/small', [['Content-Length', '100000']]) + part),
  'odd target': get('/a/%2e%2e/..//small;x?y'),
  'no such method': raw((key) => requestText('FETCH', '/small', [bearer(key)])),
  malformed: raw(() => 'GET / HTTP/1.1\r\nno colon\r\n\r\n'),
  'malformed behind another': raw((key) => `${requestText('GET', '/pieces', [bearer(key)])}GET\r\n\r\n`),
  'ambiguous length': raw((key) =>
    requestText('PUT', '/small', [bearer(key), ['Content-Length', '1'], chunked]),
  ),
  'no upstream': get('/away/small'),
  'no upstream, undici': get('/undici-away/small'),
  'no upstream for a WebSocket': upgrade('/away/echo'),
  'WebSocket that is closed': open('closes'),
  'WebSocket that breaks': open('breaks'),
  'WebSocket with a flood': open('floods'),
  'WebSocket refused': upgrade('/refused'),
  'WebSocket half refused': upgrade('/refused-half'),
  'WebSocket without a response': async (place) => {
    const client = await rawClient(place.t, place.port);
    client.send(requestText('GET', '/silent', handshake(place.key)));
    await new Promise((resolve) => setTimeout(resolve, 30));
    return () => void client.socket.destroy();
  },
  'WebSocket that the upstream closes': upgrade('/nowhere'),
  'malformed WebSocket': raw((key) =>
    requestText('GET', '/echo', [bearer(key), ['Connection', 'Upgrade'], ['Upgrade', 'websocket']]),
  ),
};
