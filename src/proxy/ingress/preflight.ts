import type { IncomingMessage } from 'node:http';
import type { RequestHead } from './framing.ts';

/**
 * Whether this is a CORS preflight: a browser asks, without credentials and without a body, which request it may send
 * (Fetch, 4.8).
 */
export function isPreflight({ method, headers }: IncomingMessage, head: RequestHead): boolean {
  return (
    method === 'OPTIONS' &&
    head.bodyLength === 0 &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined &&
    head.authorization.length === 0 &&
    head.apiKeys.length === 0
  );
}
