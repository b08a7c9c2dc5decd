import type { IncomingMessage } from 'node:http';
import type { RequestHead } from './framing.ts';

/** Whether this is a CORS preflight: a browser asks, without credentials, which request it may send. */
export function isPreflight({ method, headers }: IncomingMessage, head: RequestHead): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined &&
    head.authorization.length === 0 &&
    head.apiKeys.length === 0
  );
}
