/** Requests that say which they are, and an upstream that keeps which it got. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/** Units that the response to a request states: as if drawn by chance, and nothing for every sixteenth. */
export function unitsOf(number: number): number {
  const drawn = Math.imul(number ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  return drawn % 16 === 0 ? 0 : drawn % 1_000_003;
}

/** Values of `X-Units` that cannot be read: every thousandth response has one of them, and counts as 0. */
const malformed = ['-1', '1.5', '9007199254740992', '1e3', '', '5, 7', 'ten'];

/** What was received of one tenant with one key. */
export type Counts = Map<string, number>;

/** An upstream that counts what it gets, by tenant and key. */
export class CountingUpstream {
  readonly counts: Counts = new Map();
  /** Numbers of the requests that it got. */
  readonly received = new Set<number>();
  /** Numbers that came more than once. */
  readonly repeated: number[] = [];
  readonly #server: Server = createServer((request, response) => {
    const { headers, url = '' } = request;
    const number = Number(url.slice(url.lastIndexOf('/') + 1));
    if (this.received.has(number)) this.repeated.push(number);
    this.received.add(number);
    const of = `${String(headers['x-service-resolved-tenant'])} ${String(headers['x-service-caller-key'])}`;
    this.counts.set(of, (this.counts.get(of) ?? 0) + 1);
    const units =
      number % 1_000 === 999 ? (malformed[number % malformed.length] ?? '') : String(unitsOf(number));
    request.resume().on('end', () => response.writeHead(200, { 'X-Units': units }).end('ok'));
  });

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** What became of the requests of a load. */
export interface Sent {
  sent: number;
  /** Units of the responses that arrived, by the key that was sent. */
  readonly units: number[];
  /** Numbers of those that got no response: their connection broke while they were on it. */
  readonly broken: number[];
  readonly statuses: Map<number, number>;
  stop(): Promise<void>;
}

const tickMs = 5;

/** Sends `perSecond` requests a second, each with the next of `keys`, over 64 connections. */
export function startNumberedLoad(url: string, keys: readonly string[], perSecond: number): Sent {
  const pool = new Pool(url, { connections: 64, pipelining: 1, headersTimeout: 30_000 });
  const underWay = new Set<Promise<void>>();
  const began = performance.now();
  const load: Sent = {
    sent: 0,
    units: keys.map(() => 0),
    broken: [],
    statuses: new Map(),
    stop: async () => {
      clearInterval(ticking);
      await Promise.all(underWay);
      if (!pool.closed) await pool.close();
    },
  };
  const send = async (number: number): Promise<void> => {
    try {
      const { statusCode, body } = await pool.request({
        path: `/n/${number}`,
        method: number % 2 === 0 ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${keys[number % keys.length]}` },
        body: number % 2 === 0 ? null : 'payload',
      });
      await body.dump();
      if (statusCode === 200 && number % 1_000 !== 999)
        load.units[number % keys.length] = (load.units[number % keys.length] ?? 0) + unitsOf(number);
      load.statuses.set(statusCode, (load.statuses.get(statusCode) ?? 0) + 1);
    } catch (error) {
      // Where there was no connection, no gateway has counted it.
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') load.broken.push(number);
    }
  };
  const ticking = setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
    // What is late stays away: the gateway is down now and then, and what waits for it would come all at once.
    if (underWay.size > 256) load.sent = Math.max(load.sent, due);
    while (load.sent < due) {
      const one = send(load.sent++).finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }, tickMs);
  return load;
}
