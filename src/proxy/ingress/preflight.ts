import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHead } from './framing.ts';

/**
 * Whether the request is a CORS preflight, by which a browser asks, without credentials and without a body, which
 * request it may send (Fetch standard, 4.8).
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

/**
 * Responds to a preflight itself, because a browser sends no key with it and so it cannot be authorised.
 *
 * @param headers flat list of names and values
 */
export function respondToPreflight(
  response: ServerResponse,
  headers: readonly string[],
  requestId: string,
): void {
  response.writeHead(204, [...headers, 'x-request-id', requestId]).end();
}
