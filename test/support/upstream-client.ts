/** Pool to an upstream without the gateway around them. */
import type { AccountId } from '../../src/domain/ids.ts';
import { Shares } from '../../src/limits/shares.ts';
import { HandOvers } from '../../src/proxy/upstream/hand-overs.ts';
import { noCounting } from './usage-sinks.ts';
import { connector } from '../../src/proxy/upstream/connect.ts';
import type {
  ResponseHandler,
  InFlightRequest,
  UpstreamClient,
} from '../../src/proxy/upstream/upstream-client.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { openForwarder } from '../../src/proxy/undici/forwarder.ts';
import { Pool } from '../../src/proxy/upstream/pool.ts';
import { ReadBuffers } from '../../src/proxy/upstream/read-buffers.ts';
import type { AdmittedAs, OutgoingRequest } from '../../src/proxy/upstream/message-head.ts';
import { certificate } from './config-certificates.ts';
import { lookupWith } from './names.ts';
import type { Scope } from './servers.ts';

const tls = {
  rejectUnauthorized: true,
  servername: 'localhost',
  ca: Buffer.from(certificate.a.cert),
} as const;

/** Pool to `url`, on a clock of their own; they end with the test. */
export function openConnections(
  t: Scope,
  url: string,
  { most = 8, connectMs = 5_000, ageMs = 1e9, shares = new Shares(), lookup = lookupWith() } = {},
) {
  const clock = { nowMs: 0, wallMs: () => 0, monotonicMs: () => clock.nowMs };
  const origin = new URL(url);
  const report = (error: unknown): void => {
    throw error;
  };
  const connect = connector({ origin, socketPath: null, tls, lookup }, connectMs, {
    handOvers: new HandOvers(noCounting, report),
    report,
    buffers: new ReadBuffers(),
  });
  const connections = new Pool({ connect, most, shares, connectMs, ageMs, clock, report });
  t.teardown(() => connections.close());
  return { connections, clock };
}

/** Client of `client: undici` to `url`, until the test ends. */
export async function openUndici(t: Scope, url: string, most = 8): Promise<UpstreamClient> {
  const report = (error: unknown): void => {
    throw error;
  };
  const client = await openForwarder(
    { origin: new URL(url), socketPath: null, tls, lookup: lookupWith() },
    { most, shares: new Shares(), connectMs: 5_000, ageMs: 1e9, clock: systemClock },
    { usage: noCounting, report },
  );
  t.teardown(() => client.close());
  return client;
}

const withoutKey: AdmittedAs = { caller: null, permit: { resolvedTenant: '192.0.2.1', parentTenant: null } };

/** Sends one request and takes its whole response, as Latin-1. @param hears what else is to happen on the way */
export function ask(
  to: Pick<UpstreamClient, 'send'>,
  target = '/',
  body: OutgoingRequest['body'] = null,
  hears: Partial<ResponseHandler> & {
    readonly onInFlight?: (inFlight: InFlightRequest) => void;
    /** Whom it is for; `a` by default, `null` for a request without a key. */
    readonly tenant?: string | null;
    /** The tenant's parent; the tenant itself by default. */
    readonly parent?: string;
    /** Whose key it comes with; the tenant's own by default. */
    readonly caller?: string;
  } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const method = body === null ? 'GET' : 'POST';
    const { tenant = 'a', parent = tenant, caller = tenant } = hears;
    const admittedAs = tenant === null ? withoutKey : admitted(tenant, parent ?? tenant, caller ?? tenant);
    to.send(
      { method, target, headers: [], body, admittedAs },
      {
        leaveQueue: null,
        network: '',
        onReserved: () => undefined,
        mayStillSend: () => true,
        sending: (inFlight) => {
          hears.onInFlight?.(inFlight);
          return true;
        },
        onEarlyHints: () => undefined,
        onHead: () => undefined,
        onBody: (chunk) => chunks.push(Buffer.from(chunk)) > 0,
        onEnd: () => resolve(Buffer.concat(chunks).toString('latin1')),
        onFailure: reject,
        onUnanswered: () => false,
        onRefused: reject,
        ...hears,
      },
    );
  });
}

/** The accounts that a request is for. */
function admitted(tenant: string, parent: string, caller: string): AdmittedAs {
  const permit = { resolvedTenant: tenant as AccountId, parentTenant: parent as AccountId };
  return { permit, caller: { accountId: caller as AccountId } };
}

/** A response with a length. @param extra header lines, each with its end */
export function rawResponse(body: string, extra = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${extra}\r\n${body}`;
}
