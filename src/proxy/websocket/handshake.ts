import { createHash } from 'node:crypto';
import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Responses with a larger head are rejected. */
const maxResponseHeadBytes = 64 * 1024;

/**
 * Prepares a request for a WebSocket on a connection; `end()` sends it. Names, values and target stay as given.
 *
 * @param headers flat list of names and values, without those of the connection
 */
export function prepareHandshake(
  connection: Socket,
  target: string,
  headers: readonly string[],
): ClientRequest {
  return sendRequest({
    createConnection: () => connection,
    method: 'GET',
    path: target,
    headers: [...headers, 'connection', 'Upgrade', 'upgrade', 'websocket'],
    maxHeaderSize: maxResponseHeadBytes,
    insecureHTTPParser: false,
  });
}

/**
 * Returns the reason why a response is not the upstream's consent to a WebSocket (RFC 6455 §4.1); `undefined` if it is.
 * Without consent no bytes may pass: they would not be frames, and could be the response to another client's request.
 */
export function consentFault({ statusCode, headers }: IncomingMessage, key: string): string | undefined {
  if (statusCode !== 101) return `the upstream upgraded with status ${statusCode}`;
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'the upstream upgraded to something else';
  const options = (headers.connection ?? '').toLowerCase().split(',');
  if (!options.some((option) => option.trim() === 'upgrade'))
    return 'the upstream sent 101 without an upgrade';
  if (headers['transfer-encoding'] !== undefined) return 'the upstream announced a body after 101';
  return headers['sec-websocket-accept'] === acceptOf(key)
    ? undefined
    : 'the upstream sent 101 for another key';
}

/** HTAB, SP, VCHAR and obs-text in Latin-1 (RFC 9112 §4). */
const reasonPhrase = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the fault of a response that rejects a WebSocket; `undefined` if it has none. Node's parser accepts any three
 * digits as a status and any reason phrase, but writing some of them throws.
 */
export function rejectionFault(response: IncomingMessage): string | undefined {
  const { httpVersionMajor, statusCode = 0, statusMessage = '' } = response;
  if (httpVersionMajor !== 1) return `the upstream responded with HTTP/${httpVersionMajor}`;
  if (statusCode === 101) return 'the upstream sent 101 without an upgrade';
  if (statusCode < 200) return `the upstream sent status ${statusCode}`;
  return reasonPhrase.test(statusMessage)
    ? undefined
    : 'the upstream sent a control character in its reason phrase';
}

/** Returns the head of the 101 response for the client. @param headers flat list of names and values */
export function switchingProtocols(headers: readonly string[]): Buffer {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}
