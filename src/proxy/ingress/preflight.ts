import type { IncomingMessage } from 'node:http';

/** Whether a browser asks what it may send, before it sends anything: a CORS preflight carries no credentials. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined &&
    headers.authorization === undefined
  );
}
