/** Listeners that a client without a key reaches, each with its log, so that a search finds the head that costs one most. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import pino from 'pino';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { accessLog } from '../../src/ops/access-log.ts';
import type { RequestObserver } from '../../src/ports/request-record.ts';
import { startApis } from './apis.ts';
import type { HostileHead } from './hostile-heads.ts';
import type { Scope } from './servers.ts';

/** A listener, or a part of one. */
export interface HeadListener {
  readonly name: string;
  /** Beginnings of its targets. */
  readonly starts: readonly string[];
  /** Sends a head. Resolves when its response is there and its line is in the log. */
  readonly ask: (head: HostileHead) => Promise<void>;
}

/** Nothing of a store is there but the keys of the portal. */
const nothing = new Proxy({}, { get: () => () => Promise.reject(new Error('there is no store')) });
const portalSessions = { keys: () => Promise.resolve([randomBytes(32)]) };
const store = new Proxy({ portalSessions } as unknown as Store, {
  get: (parts, name) => (Reflect.get(parts, name) as object | undefined) ?? nothing,
});

/** Starts them, without a store. */
export async function startHeadListeners(t: Scope): Promise<readonly HeadListener[]> {
  const write = accessLog(pino({ level: 'info' }, { write: () => undefined })) as RequestObserver;
  let logged = (): void => undefined;
  const observe: RequestObserver = (record) => {
    write(record);
    logged();
  };
  const { origin, portalOrigin } = await startApis(t, {
    store,
    portal: {},
    deps: { observe, observePortal: observe },
  });
  const asker =
    (url: string) =>
    ({ target, rawHeaders }: HostileHead): Promise<void> => {
      const lines = rawHeaders.flatMap((text, i) => (i % 2 === 0 ? [text, ': '] : [text, '\r\n']));
      const bytes = Buffer.from(
        `GET ${target} HTTP/1.1\r\nHost: gateway.test\r\n${lines.join('')}\r\n`,
        'latin1',
      );
      return new Promise((resolve) => {
        // A head that cannot be read has no line in the log, and the connection ends.
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
          .on('error', () => undefined)
          .on('close', () => resolve())
          // Fastify answers some targets outside of its hooks, so these have no line either.
          .once('data', () => void setTimeout(() => socket.destroy(), 50))
          .resume();
        logged = () => socket.destroy();
        socket.write(bytes);
      });
    };
  return [
    { name: 'a path', starts: ['/'], ask: asker(origin) },
    {
      name: 'the reference',
      starts: ['docs', 'docs?', 'openapi.json', 'openapi.json?', ''].map((end) => `/v1/sub-accounts/${end}`),
      ask: asker(origin),
    },
    {
      name: 'the portal',
      starts: ['/', '/?', '/logo?', '/brand.css?', '/api/session', '/api/sub-accounts/'],
      ask: asker(portalOrigin ?? ''),
    },
  ];
}
