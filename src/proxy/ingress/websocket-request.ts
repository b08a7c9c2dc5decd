import type { IncomingMessage } from 'node:http';
import type { Problem } from '../../domain/problem.ts';
import type { RequestHead } from './framing.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /**
     * Whether Node treats the request as an upgrade. If so, the request has no body, and Node leaves the connection to
     * the gateway.
     */
    readonly upgrade?: boolean;
  }
}

/**
 * Whether a request offers to switch to WebSocket. `Upgrade` is a list (RFC 9110 §7.8), and is ignored in HTTP/1.0. A
 * request that offers only other protocols is served as if it offered none.
 */
export function offersWebSocket({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && webSocketOffer.test(headers.upgrade ?? '');
}

const webSocketOffer = /(?:^|,)[\t ]*websocket[\t ]*(?:,|$)/i;

/** Returns the problem to report if an upgrade request is invalid (RFC 6455 §4.2.1); `undefined` if it is valid. */
export function upgradeFault({ method, headers }: IncomingMessage, head: RequestHead): Problem | undefined {
  if (method !== 'GET') return invalid('A WebSocket is opened with GET.');
  if (head.bodyLength !== 0) return invalid('A WebSocket is opened without a body.');
  if (headers['sec-websocket-version'] !== '13') return otherVersion;
  const validKey = keyForm.test(headers['sec-websocket-key'] ?? '');
  return validKey ? undefined : invalid('Sec-WebSocket-Key is not valid.');
}

const keyForm = /^[+/0-9A-Za-z]{22}==$/;

/**
 * Problem for an upgrade request with a WebSocket version other than 13. The response tells the client to use 13 (RFC
 * 6455 §4.4).
 */
const otherVersion: Problem = {
  code: 'upgrade_required',
  detail: 'Sec-WebSocket-Version must be 13.',
};

function invalid(detail: string): Problem {
  return { code: 'invalid_request', detail };
}
