// class: app
/** A revocation ends what it is about, whatever state it finds the upgrade in. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import { eventually, standstill, startGateway } from '../../support/gateway.ts';
import { requestText } from '../../support/raw-client.ts';
import { startTcpUpstream } from '../../support/upstreams.ts';
import {
  consent,
  handshake,
  openEnds,
  openWebSocket,
  rawWebSocket,
  startWebSocketUpstream,
} from '../../support/websockets.ts';

t.test('a revocation closes between frames and cuts within one', async (t) => {
  let server: Socket | undefined;
  const upstream = await startTcpUpstream(t, (socket) => {
    server = socket;
    socket.write(consent);
  });
  const { port, parent, directory, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const closeFrame = `\x88\x16\x11\x33access was withdrawn`;
  for (const [name, said, told] of [
    ['after nothing', '', true],
    ['after a message', '\x81\x02hi', true],
    ['between the fragments of a message', '\x01\x02hi', true],
    ['after a ping', '\x89\x00', true],
    ['after half a head', '\x81', false],
    ['after a head', '\x81\x02', false],
    ['within the length', '\x82\x7f\x00\x00\x00\x00', false],
    ['within a message', '\x81\x02h', false],
    ['after a close frame', '\x88\x00', false],
  ] as const) {
    const client = await rawWebSocket(t, port, parent.key);
    const head = client.text;
    server?.write(said, 'latin1');
    await client.until(() => client.text.length === head.length + said.length);
    const before = [parent.keyKey, directory.facts.get(parent.keyKey) ?? null] as const;
    t.equal(directory.revoke(parent.revoked), 1, name);
    server?.write('\x81\x04late', 'latin1');
    await client.end();
    t.equal(client.text.slice(head.length), said + (told ? closeFrame : ''), name);
    await eventually(() => server?.closed === true, 'the end at the upstream');
    directory.facts.set(...before);
  }
  t.ok(finished.every(({ status, code }) => status === 101 && code === 'withdrawn'));
});

t.test('nothing that waits for a slow client is delivered after a revocation', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  const { client, server } = await openEnds(t, upstream, port, parent.key);
  let messages = 0;
  client.on('message', () => (messages += 1));
  client.pause();
  for (let i = 0; i < 256; i++) server.send(Buffer.alloc(64 * 1024));
  await standstill(() => 2 ** 30 - server.bufferedAmount);
  t.equal(directory.revoke(parent.revoked), 1);
  client.resume();
  t.equal(((await once(client, 'close')) as [number])[0], 1006);
  t.ok(messages < 256);
});

t.test('an upgrade that waits for its upstream’s response is rejected when access goes', async (t) => {
  let asked = 0;
  const upstream = await startTcpUpstream(t, () => (asked += 1));
  const { parent, directory, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)));
  await eventually(() => asked === 1, 'the handshake');
  t.equal(directory.revoke(parent.revoked), 1);
  t.equal((await client.response()).status, 503);
  await client.end();
});

t.test('a response in place of a consent is cut when access goes', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome');
  });
  const { parent, directory, finished, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)));
  await client.until(() => client.text.endsWith('some'));
  t.equal(directory.revoke(parent.revoked), 1);
  await client.end();
  t.match(finished, [{ status: 200, code: 'withdrawn' }]);
});

t.test('a WebSocket whose access goes while it connects is never asked for', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  // The decision in the tick that sends the handshake is the second one.
  const decide = directory.decide.bind(directory);
  let decisions = 0;
  directory.decide = (evaluate) => {
    decisions += 1;
    if (decisions === 2) directory.facts.set(...parent.revoked);
    return decide(evaluate);
  };
  await t.rejects(openWebSocket(t, port, '/', { authorization: `Bearer ${parent.key}` }), {
    message: 'status 401',
  });
  t.equal(upstream.handshakes.length, 0);
});
