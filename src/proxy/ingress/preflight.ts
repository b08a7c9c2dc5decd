import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHead } from './framing.ts';

/**
 * Whether the request is a CORS preflight: a request without credentials or a body, in which a browser asks which
 * requests it may send (Fetch standard, 4.8).
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
 * Responds to a preflight in place of the upstream. A preflight cannot be authorised, because browsers send no key with
 * it.
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
