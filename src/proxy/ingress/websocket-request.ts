import type { IncomingMessage } from 'node:http';
import type { Problem } from '../../domain/problem.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** Whether Node took the request for an upgrade; it then has no body, and Node no longer uses the connection. */
    readonly upgrade?: boolean;
  }
}

/** What is wrong with a request for an upgrade; only WebSocket is offered (RFC 6455 §4.2.1). */
export function upgradeFault({ method, httpVersion, headers }: IncomingMessage): Problem | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    return invalid('The only upgrade offered is `websocket`.');
  if (method !== 'GET' || httpVersion !== '1.1')
    return invalid('A WebSocket is opened with GET and HTTP/1.1.');
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
    return invalid('A WebSocket is opened without a body.');
  }
  if (headers['sec-websocket-version'] !== '13') return invalid('Sec-WebSocket-Version must be 13.');
  const validKey = keyForm.test(headers['sec-websocket-key'] ?? '');
  return validKey ? undefined : invalid('Sec-WebSocket-Key is not valid.');
}

const keyForm = /^[+/0-9A-Za-z]{22}==$/;

function invalid(detail: string): Problem {
  return { code: 'invalid_request', detail };
}
