import type { Problem } from '../../domain/problem.ts';
import type { ClientRequest } from '../../http/client-request.ts';

/**
 * Whether a request offers to switch to WebSocket. `Upgrade` is a list (RFC 9110 §7.8). A request that offers only other
 * protocols is served as if it offered none, such as HTTP/2, which Java's HttpClient and `curl --http2` offer with every
 * request.
 */
export function offersWebSocket({ upgrade }: Pick<ClientRequest, 'upgrade'>): boolean {
  return upgrade !== null && webSocketOffer.test(upgrade);
}

const webSocketOffer = /(?:^|,)[\t ]*websocket[\t ]*(?:,|$)/i;

/** Returns the problem to report if an upgrade request is invalid (RFC 6455 §4.2.1); `undefined` if it is valid. */
export function upgradeFault(request: ClientRequest): Problem | undefined {
  if (request.method !== 'GET') return invalid('A WebSocket is opened with GET.');
  if (request.bodyLength !== 0) return invalid('A WebSocket is opened without a body.');
  if (request.header('sec-websocket-version') !== '13') return otherVersion;
  const validKey = keyForm.test(request.header('sec-websocket-key') ?? '');
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
