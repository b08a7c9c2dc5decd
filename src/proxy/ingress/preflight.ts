import type { IncomingMessage } from 'node:http';

/** Whether this is a CORS preflight: a browser asks, without credentials, which request it may send. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined &&
    headers.authorization === undefined
  );
}
