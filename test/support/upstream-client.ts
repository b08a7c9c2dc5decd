/** Pool to an upstream without the gateway around them. */
import { connector } from '../../src/proxy/upstream/connect.ts';
import type { ResponseHandler, InFlightRequest } from '../../src/proxy/upstream/connection.ts';
import { Pool } from '../../src/proxy/upstream/pool.ts';
import type { OutgoingRequest } from '../../src/proxy/upstream/request-head.ts';
import { certificate } from './config-certificates.ts';
import type { Scope } from './servers.ts';

const tls = {
  rejectUnauthorized: true,
  servername: 'localhost',
  ca: Buffer.from(certificate.a.cert),
} as const;

/** Pool to `url`, on a clock of their own; they end with the test. */
export function openConnections(t: Scope, url: string, { most = 4, connectMs = 5_000 } = {}) {
  const clock = { nowMs: 0, wallMs: () => 0, monotonicMs: () => clock.nowMs };
  const origin = new URL(url);
  const connect = connector({ origin, socketPath: null, tls });
  const connections = new Pool({ connect, host: origin.host, most, connectMs, clock });
  t.teardown(() => connections.close());
  return { connections, clock };
}

/** Sends one request and takes its whole response, as Latin-1. @param hears what else is to happen on the way */
export function ask(
  to: Pool,
  target = '/',
  body: OutgoingRequest['body'] = null,
  hears: Partial<ResponseHandler> & { onInFlight?: (inFlight: InFlightRequest) => void } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const method = body === null ? 'GET' : 'POST';
    to.send(
      { method, target, headers: [], body },
      {
        onSending: (inFlight) => {
          hears.onInFlight?.(inFlight);
          return true;
        },
        onHead: () => undefined,
        onBody: (chunk) => chunks.push(chunk) > 0,
        onEnd: () => resolve(Buffer.concat(chunks).toString('latin1')),
        onFailure: reject,
        ...hears,
      },
    );
  });
}

/** A response with a length. @param extra header lines, each with its end */
export function rawResponse(body: string, extra = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${extra}\r\n${body}`;
}
