// @ts-check
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { encoded, packageNamed, pairs, serve } from './lines.mjs';

const { default: WebSocket } = await packageNamed('ws');

await serve(async ([url = '', steps = '', ...headers]) => {
  const socket = new WebSocket(url, { headers: pairs(headers) });
  const opened = await new Promise((resolve, reject) => {
    socket.once('open', () => resolve('open'));
    socket.once(
      'unexpected-response',
      (/** @type {unknown} */ _, /** @type {{ statusCode: number }} */ response) =>
        resolve(response.statusCode),
    );
    socket.once('error', reject);
  });
  if (opened !== 'open') return [opened, '', 0, ''];
  const closed = once(socket, 'close');
  const messages = [];
  for (const step of steps.split(';')) {
    const [kind, value = '', reason = ''] = step.split(':');
    if (kind === 'close') socket.close(Number(value), reason);
    else if (kind === 'text' || kind === 'binary') {
      const data = Buffer.from(value, 'base64');
      socket.send(kind === 'text' ? data.toString() : data);
      const [got, isBinary] = await Promise.race([
        once(socket, 'message'),
        closed.then(() => Promise.reject(new Error('it was closed instead of an echo'))),
      ]);
      messages.push(`${isBinary ? 'binary' : 'text'}:${encoded(got)}`);
    }
  }
  const [code, reason] = await closed;
  return ['open', messages.join(';'), code, encoded(reason)];
});
