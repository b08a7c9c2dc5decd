import type { ClientRequest } from '../../http/client-request.ts';
import type { RequestHead } from './framing.ts';

/**
 * Whether the request is a CORS preflight: a request without credentials or a body, in which a browser asks which
 * requests it may send (Fetch standard, 4.8).
 */
export function isPreflight(request: ClientRequest, head: RequestHead): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.bodyLength === 0 &&
    request.header('origin') !== undefined &&
    request.header('access-control-request-method') !== undefined &&
    head.authorization.length === 0 &&
    head.apiKeys.length === 0
  );
}
