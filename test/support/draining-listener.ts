/** A listener that is drained while a test says how time passes. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { drainable, type DrainPlan } from '../../src/server/drain.ts';
import { createListener } from '../../src/server/listener.ts';
import type { Application } from '../../src/server/served.ts';
import { certificate } from './config-certificates.ts';
import { ManualTime } from './coherence/manual-time.ts';
import { eventually } from './eventually.ts';
import { defaultLimits } from './gateway.ts';
import { tempFolder } from './process.ts';
import { RawClient } from './raw-client.ts';
import type { Scope } from './servers.ts';

/** Nothing but a drain closes a connection. */
const limits = { ...defaultLimits, headTimeoutMs: 600_000 };

/** A request that the application got, to be answered by the test. */
export interface Held {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface Client extends RawClient {
  /** Bytes that the listener has read of it. */
  readonly bytesRead: () => number;
  /** The connection broke with this, if it did: a reset has `ECONNRESET`. */
  readonly broken: () => string | undefined;
}

export interface DrainingListener {
  readonly time: ManualTime;
  /** What is to be answered, in the order in which it came. */
  readonly held: Held[];
  readonly upgraded: Socket[];
  readonly connect: () => Promise<Client>;
  /** Starts to drain: resolves with how many connections were cut, and says meanwhile whether it is over. */
  readonly drain: (plan: DrainPlan) => { readonly cut: Promise<number>; readonly over: () => boolean };
}

export interface DrainingListenerOptions {
  /** Answers a request; by default the test does. */
  readonly serve?: RequestListener;
  readonly tls?: boolean;
  /** Called just before a timer of the listener goes off, with how long it has been draining. */
  readonly onTimer?: (drainingMs: number) => unknown;
}

export async function drainingListener(
  t: Scope,
  { serve, tls = false, onTimer }: DrainingListenerOptions = {},
): Promise<DrainingListener> {
  const held: Held[] = [];
  const upgraded: Socket[] = [];
  const application: Application = {
    request: (request) => {
      if (request.upgrade === null)
        return request.serveByNode(serve ?? ((request, response) => void held.push({ request, response })));
      upgraded.push(request.takeConnection().socket);
    },
    rawProblem: () => '',
    addressOf: () => '',
    isTrusted: () => false,
    broke: (error) => {
      throw error;
    },
  };
  const listener = createListener(application, limits, tls ? tlsFiles(t) : null);
  const { server } = listener;
  const peers: Socket[] = [];
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => peers.push(socket));
  const time = new ManualTime();
  let began = 0;
  const { drain } = drainable(listener, {
    after: (ms, task) =>
      time.timers.after(ms, () => {
        onTimer?.(time.now - began);
        task();
      }),
  });
  const { port } = await listener.acceptors.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => {
    listener.acceptors.close(() => undefined);
    for (const peer of peers) peer.destroy();
  });
  return {
    time,
    held,
    upgraded,
    connect: async () => {
      const before = peers.length;
      const socket = tls ? connectTls({ port, host: '127.0.0.1', ca: certificate.a.cert }) : connect(port);
      t.teardown(() => socket.destroy());
      let broken: string | undefined;
      socket.on('error', (error: NodeJS.ErrnoException) => (broken = error.code));
      const opened = once(socket, tls ? 'secureConnect' : 'connect');
      await opened;
      await eventually(() => peers.length > before);
      const bytesRead = (): number => peers[before]?.bytesRead ?? 0;
      return Object.assign(new RawClient(socket), { bytesRead, broken: () => broken });
    },
    drain: (plan) => {
      let over = false;
      began = time.now;
      const cut = drain(plan).finally(() => (over = true));
      return { cut, over: () => over };
    },
  };
}

function tlsFiles(t: Scope) {
  const folder = tempFolder(t);
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, certificate.a.cert);
  writeFileSync(keyFile, certificate.a.key);
  return { certFile, keyFile };
}
