/** The gateway on a real socket, over a directory in memory, for tests of the gateway alone. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import type { LimitsConfig, RouteConfig } from '../../src/config.ts';
import { headerNames } from '../../src/domain/header-names.ts';
import type { RequestRecord } from '../../src/ports/request-record.ts';
import { frontDoor } from '../../src/proxy/ingress/ingress.ts';
import { gateway } from '../../src/proxy/proxy.ts';
import { nodeServerOptions, serverOptions } from '../../src/http/server-options.ts';
import type { Streams } from '../../src/proxy/active-exchanges.ts';
import { installErrorReplies, replyToError } from '../../src/http/errors.ts';
import { requestIds } from '../../src/http/request-id.ts';
import { trustedPeers } from '../../src/http/trusted-peers.ts';
import { systemClock, type Clock } from '../../src/ports/clock.ts';
import type { UsageEvent } from '../../src/ports/usage.ts';
import { MemoryDirectory, type Holder } from './memory-directory.ts';
import { rawRequest, requestText, type RawResponse } from './raw-client.ts';
import type { Scope } from './servers.ts';

export interface GatewayOptions {
  /** Routes by prefix; each is an upstream's URL, or more about the route. */
  readonly routes: Readonly<Record<string, string | (Partial<RouteConfig> & Pick<RouteConfig, 'upstream'>)>>;
  readonly limits?: Partial<LimitsConfig>;
  readonly prefix?: string;
  readonly trustedProxies?: readonly string[];
  readonly clock?: Clock;
  readonly streams?: Streams;
  /** Certificate and key of a listener that speaks TLS, both PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface TestGateway {
  readonly app: FastifyInstance;
  readonly port: number;
  readonly directory: MemoryDirectory;
  readonly finished: RequestRecord[];
  readonly usage: UsageEvent[];
  /** Everything that was logged. */
  readonly log: { text: string };
  /** A parent account without sub-accounts. */
  readonly parent: Holder;
  /** Sends a request with the parent's key, or with `key`, or with none; on a connection of its own. */
  readonly call: (
    method: string,
    target: string,
    options?: {
      readonly key?: string | null;
      readonly headers?: readonly (readonly [string, string])[];
      readonly body?: string;
    },
  ) => Promise<RawResponse>;
}

/** Starts it; everything ends with the test. Beside the routes there is a stand-in for management. */
export async function startGateway(t: Scope, options: GatewayOptions): Promise<TestGateway> {
  const directory = new MemoryDirectory();
  const parent = directory.addParent(['tracking:read', 'tracking:write']);
  const finished: RequestRecord[] = [];
  const usage: UsageEvent[] = [];
  const log = { text: '' };
  const config = {
    headers: headerNames(options.prefix),
    limits: { ...defaultLimits, ...options.limits },
    trustedProxies: options.trustedProxies ?? [],
    routes: Object.entries(options.routes).map(([prefix, route]): RouteConfig => {
      return { ...defaultRoute, prefix, ...(typeof route === 'string' ? { upstream: route } : route) };
    }),
  };
  const door = frontDoor(config);
  const newRequestId = requestIds(randomBytes, trustedPeers(config.trustedProxies));
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.text += chunk.toString();
      done();
    },
  });
  const app = Fastify({
    ...serverOptions(config.limits, () => 'no-request'),
    ...(options.tls === undefined ? {} : { https: { ...nodeServerOptions(config.limits), ...options.tls } }),
    rewriteUrl: door.rewriteUrl,
    genReqId: newRequestId,
    frameworkErrors: replyToError,
    logger: { level: 'trace', stream },
  });
  installErrorReplies(app);
  door.install(app);
  app.all('/v1/sub-accounts', async () => ({ management: true }));
  app.all('/v1/sub-accounts/*', async () => ({ management: true }));
  await app.register(gateway, {
    checks: { routeOf: door.routeOf, shedding: () => false, newRequestId },
    config,
    directory,
    usage: { record: (event) => usage.push(event), touch: () => undefined },
    clock: options.clock ?? systemClock,
    onFinished: (exchange) => finished.push(exchange),
    ...(options.streams === undefined ? {} : { streams: options.streams }),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const { port } = app.server.address() as AddressInfo;

  return {
    app,
    port,
    directory,
    finished,
    usage,
    log,
    parent,
    call(method, target, { key = parent.key, headers = [], body = '' } = {}) {
      const authorization = key === null ? [] : [['Authorization', `Bearer ${key}`] as const];
      return rawRequest(t, port, requestText(method, target, [...authorization, ...headers], body));
    },
  };
}

/** Waits until something that other parts of the process do has happened. */
export async function eventually(condition: () => boolean, what = 'the condition'): Promise<void> {
  const giveUp = Date.now() + 120_000;
  while (!condition()) {
    if (Date.now() > giveUp) throw new Error(`${what} did not come about in 120 s`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until something has begun to move and moves no more: then everything between the two ends is full. */
export async function standstill(progress: () => number): Promise<void> {
  let last = 0;
  for (let still = 0; still < 10; still += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (progress() !== last || last === 0) still = 0;
    last = progress();
  }
}

const defaultRoute: Omit<RouteConfig, 'prefix' | 'upstream'> = {
  host: 'preserve',
  passAuthorization: false,
  preflight: 'authenticate',
  scopes: { read: null, write: null },
  timeouts: { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000 },
  connections: 32,
  tls: { caFile: null, certFile: null, keyFile: null, serverName: null },
};

const defaultLimits: LimitsConfig = {
  maxHeaders: 100,
  maxHeaderBytes: 16_384,
  headTimeoutMs: 10_000,
  bodyIdleMs: 10_000,
  keepAliveMs: 60_000,
  managementBodyBytes: 65_536,
  maxConnections: 1_000,
  inFlightPerTenant: 1_000,
  subAccountsPerParent: 10_000,
  keysPerAccount: 100,
  maxEventLoopDelayMs: 0,
  maxHeapBytes: 0,
};
