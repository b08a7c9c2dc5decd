import { createHash } from 'node:crypto';
import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Answers with a larger head are not relayed. */
const maxResponseHeadBytes = 64 * 1024;

/**
 * Makes a request for a WebSocket ready on a connection; it goes out with `end()`. Names, values and target go as they
 * are given.
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
 * What keeps an answer from being the upstream's consent to a WebSocket (RFC 6455 §4.1). Bytes after anything else must
 * not go through: they would be no frames, and perhaps somebody else's answer.
 */
export function consentFault({ statusCode, headers }: IncomingMessage, key: string): string | undefined {
  if (statusCode !== 101) return `the upstream upgraded with status ${statusCode}`;
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'the upstream upgraded to something else';
  const options = (headers.connection ?? '').toLowerCase().split(',');
  if (!options.some((option) => option.trim() === 'upgrade'))
    return 'the upstream answered 101 without an upgrade';
  if (headers['transfer-encoding'] !== undefined) return 'the upstream announced a body after 101';
  return headers['sec-websocket-accept'] === acceptOf(key)
    ? undefined
    : 'the upstream answered 101 to another key';
}

/** @param headers flat list of names and values */
export function switchingProtocols(headers: readonly string[]): Buffer {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}
