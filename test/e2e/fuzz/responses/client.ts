import { connect, type Socket } from 'node:net';
import { slowdown } from '../../../runner/slowdown.mjs';
import { valuesOf } from '../strict-head.ts';
import { readResponse } from '../strict.ts';
import type { RequestBody } from './plan.ts';
import type { Got } from './oracle.ts';
import type { Exchange } from './upstream.ts';

/** Longer than any response takes on a machine that does nothing else: one that comes later never comes. */
const mostMs = 60_000;

/**
 * Sends requests on one connection, all at once or each after the response to the one before, and gives back what came
 * for each of them.
 */
export function ask(
  port: number,
  key: string,
  exchanges: readonly Exchange[],
  atOnce: boolean,
): Promise<Got[]> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const got: Got[] = [];
    let text = '';
    let over = false;
    const timer = setTimeout(() => finish(true), mostMs * slowdown());

    const finish = (late = false): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      take(true);
      while (got.length < exchanges.length) got.push({ ...nothing, late });
      socket.destroy();
      resolve(got);
    };
    const take = (closed: boolean): void => {
      while (got.length < exchanges.length) {
        const method = exchanges[got.length]?.plan.method ?? '';
        const response = readResponse(text, method);
        const whole = response.state === 'whole' || (response.state === 'until-close' && closed);
        if (!whole && !(closed && text !== '')) return;
        timer.refresh();
        got.push({ bytes: text.slice(0, whole ? response.end : undefined), response, closed, late: false });
        text = whole ? text.slice(response.end) : '';
        if (!whole || valuesOf(response.fields, 'connection').includes('close'))
          return void setImmediate(() => finish());
        if (!atOnce && got.length < exchanges.length) send(socket, key, exchanges[got.length] as Exchange);
      }
      // All requests have their responses.
      if (text !== '') got[got.length - 1] = { ...(got.at(-1) as Got), bytes: `${got.at(-1)?.bytes}${text}` };
      if (got.length === exchanges.length) setImmediate(() => finish());
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!over) take(false);
    });
    socket.on('error', () => undefined).on('close', () => finish());
    for (const exchange of atOnce ? exchanges : exchanges.slice(0, 1)) send(socket, key, exchange);
  });
}

const nothing: Got = {
  bytes: '',
  closed: true,
  late: false,
  response: { status: 0, fields: [], trailers: [], body: '', state: 'partial', interim: 0, end: 0 },
};

const offer = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

function send(socket: Socket, key: string, { token, plan, route, offers = false }: Exchange): void {
  const { lines, body } = framed(plan.requestBody);
  const head = [
    `${plan.method} ${route}/${token} HTTP/1.1`,
    'Host: gateway.test',
    `Authorization: Bearer ${key}`,
    ...lines,
    ...(offers ? offer : []),
  ];
  if (plan.method !== 'GET' && plan.method !== 'HEAD') head.push('X-Service-Acting-Tenant: self');
  socket.write(Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1'));
}

/** Short bodies are taken in whole by the gateway, long ones streamed. */
function framed(kind: RequestBody): { readonly lines: readonly string[]; readonly body: string } {
  switch (kind) {
    case 'none':
      return { lines: [], body: '' };
    case 'short':
      return { lines: ['Content-Length: 5'], body: 'short' };
    case 'long':
      return { lines: ['Content-Length: 40000'], body: 'long '.repeat(8000) };
    case 'chunked':
      return { lines: ['Transfer-Encoding: chunked'], body: '7\r\nchunked\r\n0\r\n\r\n' };
  }
}
