// class: app
/**
 * Attack: a key is revoked while its replica is cut off from the database, or stopped. Changes wait for such a replica
 * only for so long: after that nothing may pass either way for a request that was admitted before.
 */
import type { Socket } from 'node:net';
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';
import { consent, handshake } from '../support/websockets.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n\r\n';

interface Kind {
  readonly what: string;
  /** What the client sends of its body, in chunks. */
  readonly sent?: string;
  readonly upgrade?: true;
  /** What the service answers at first, and what the client gets of it. */
  readonly answered?: readonly [bytes: string, passed: string];
  /** What comes once nothing may pass any longer, and from whom. */
  readonly late: readonly [from: 'client' | 'service', bytes: string];
  /** The client is told that the outcome is unknown. */
  readonly told?: true;
  /** The service has said all that it had to say. */
  readonly said?: true;
}

const uploads = { sent: '4\r\nsome\r\n', late: ['client', '4\r\nlate\r\n'] } as const;
const kinds: readonly Kind[] = [
  { what: 'a chunk', answered: [`${ok}${chunked}4\r\nsome\r\n`, 'some'], late: ['service', '4\r\nlate\r\n'] },
  {
    what: 'a part of a download',
    answered: [`${ok}Content-Length: 99999\r\n\r\nsome`, 'some'],
    late: ['service', 'late'],
  },
  {
    what: 'the end of a response',
    answered: [`${ok}${chunked}4\r\nsome\r\n`, 'some'],
    late: ['service', '0\r\n\r\n'],
    said: true,
  },
  {
    what: 'a whole response',
    late: ['service', `${ok}Content-Length: 4\r\n\r\nlate`],
    told: true,
    said: true,
  },
  { what: 'the head of a stream', late: ['service', `${ok}X-Late: late\r\n${chunked}`], told: true },
  { what: 'a part of an upload', ...uploads, told: true },
  {
    what: 'a part of an upload whose response has begun',
    answered: [`${ok}${chunked}4\r\nsome\r\n`, 'some'],
    ...uploads,
  },
  { what: 'a consent to a WebSocket', upgrade: true, late: ['service', `${consent}late`], told: true },
  {
    what: 'a frame from the service',
    upgrade: true,
    answered: [consent, '101'],
    late: ['service', '\x81\x04late'],
  },
  {
    what: 'a frame from the client',
    upgrade: true,
    answered: [consent, '101'],
    late: ['client', '\x81\x84\0\0\0\0late'],
  },
];

for (const { what, sent, upgrade, answered, late, told, said } of kinds) {
  for (const how of ['looked at before the write', 'ended by the lease'] as const) {
    t.test(`${what}, ${how}: it reaches nobody, and both connections are reset`, async (t) => {
      let service: Socket | undefined;
      let got = '';
      const ends: Record<'client' | 'service', unknown> = { client: null, service: null };
      const upstream = await startTcpUpstream(t, (socket, head, rest) => {
        service = socket;
        got = head + rest;
        socket.on('data', (chunk) => (got += chunk.toString('latin1')));
        socket.on('error', (error) => (ends.service = error));
        if (answered !== undefined) socket.write(answered[0], 'latin1');
      });
      const { parent, directory, finished, dial } = await startGateway(t, { routes: { '/': upstream.url } });
      const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
      const headers = upgrade ? handshake(parent.key) : [authorization];
      const client = await dial(
        sent === undefined
          ? requestText('GET', '/', headers)
          : requestText('POST', '/', [...headers, ['Transfer-Encoding', 'chunked']]) + sent,
      );
      client.socket.on('error', (error) => (ends.client = error));
      await eventually(() => service !== undefined && (sent === undefined || got.includes('some')));
      if (answered !== undefined) await client.until(() => client.text.includes(answered[1]));
      const before = { client: client.text.length, service: got.length };

      directory.passes = false;
      const [from, bytes] = late;
      if (how === 'ended by the lease') directory.forget();
      (from === 'client' ? client.socket : service)?.write(bytes, 'latin1');
      if (told) t.match(await client.response(), { status: 503, code: 'unavailable' });
      else await client.end();
      const over = how === 'ended by the lease' || said === undefined;
      if (over) await eventually(() => service?.closed === true, 'the end at the service');
      t.notMatch(client.text.slice(before.client), 'late');
      if (!told) t.equal(client.text.length, before.client);
      t.equal(got.length, before.service);
      if (!told) t.match(ends.client, { code: 'ECONNRESET' });
      if (over) t.match(ends.service, { code: 'ECONNRESET' });
      t.match(finished, [{ code: told ? 'unavailable' : 'withdrawn' }]);
    });
  }
}

t.test('an open route goes on, since it hangs on no key', async (t) => {
  let service: Socket | undefined;
  const upstream = await startTcpUpstream(t, (socket) => {
    service = socket;
    socket.write(`${ok}${chunked}4\r\nsome\r\n`);
  });
  const { directory, dial } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, open: { perSecond: 10 } } },
  });
  const client = await dial(requestText('GET', '/', []));
  await client.until(() => client.text.includes('some'));
  directory.passes = false;
  directory.forget();
  service?.write('5\r\nlater\r\n');
  await client.until(() => client.text.includes('later'));
});
