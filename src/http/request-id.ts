import type { IncomingMessage } from 'node:http';
import { headerValues } from './raw-headers.ts';
import type { TrustedPeers } from './trusted-peers.ts';

const idBytes = 16;
const poolBytes = idBytes * 256;
/** What trusted proxies send: UUIDs, trace ids, `Root=1-…`. Nothing that could break a log line, a header or a quote. */
const acceptable = /^[A-Za-z0-9_.:=+/-]{1,128}$/;

/**
 * Makes the id of each request: 32 hex digits, the form of a W3C trace id. An `X-Request-Id` that the client sent
 * counts only where the peer is one of our own proxies, it is sent once, and it is short and plain.
 *
 * @param randomBytes cryptographic, since ids appear in responses and must not tell how busy the process is
 * @returns a function for Fastify's `genReqId`
 */
export function requestIds(
  randomBytes: (size: number) => Uint8Array,
  isTrusted: TrustedPeers,
): (request: IncomingMessage) => string {
  const fresh = freshIds(randomBytes);
  return (request) => (isTrusted(request.socket) ? acceptedId(request.rawHeaders) : undefined) ?? fresh();
}

function acceptedId(rawHeaders: readonly string[]): string | undefined {
  const values = headerValues(rawHeaders, 'x-request-id');
  const value = values[0];
  return values.length === 1 && value !== undefined && acceptable.test(value) ? value : undefined;
}

/** Asking the source for many ids' worth at a time is ten times as fast as asking for each. */
function freshIds(randomBytes: (size: number) => Uint8Array): () => string {
  let pool: Buffer = Buffer.alloc(0);
  let next = 0;
  return () => {
    if (next === pool.length) {
      const bytes = randomBytes(poolBytes);
      pool = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      next = 0;
    }
    next += idBytes;
    return pool.toString('hex', next - idBytes, next);
  };
}
