// class: pure
import t from 'tap';
import { Tunnel } from '../../../src/proxy/websocket/tunnel.ts';
import { eventually } from '../../support/eventually.ts';
import { pair } from '../../support/socket-pair.ts';

t.test('what waits to be sent is not sent after the end, nor is a close frame behind it', async (t) => {
  const [client, clientEnd] = await pair(t);
  const [upstream, upstreamEnd] = await pair(t);
  let over = 0;
  const tunnel = new Tunnel(client, upstream, 10_000, {
    onHeld: () => undefined,
    mayPass: () => true,
    onClosed: () => (over += 1),
    network: '',
    broke: (error) => t.error(error),
  });
  let received = '';
  clientEnd.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  tunnel.open(Buffer.alloc(0), Buffer.from('\x81\x03all', 'latin1'));
  await eventually(() => received.length === 5);

  client.cork();
  upstreamEnd.write('\x81\x04more', 'latin1');
  await eventually(() => client.writableLength > 0);
  tunnel.end(4403, 'access was withdrawn');
  await eventually(() => over === 1 && clientEnd.destroyed);
  t.equal(received, '\x81\x03all');
});

t.test('only ends that have sent are held', async (t) => {
  const [client, clientEnd] = await pair(t);
  const [upstream, upstreamEnd] = await pair(t);
  upstreamEnd.resume();
  const tunnel = new Tunnel(client, upstream, 10_000, {
    onHeld: () => undefined,
    mayPass: () => true,
    onClosed: () => undefined,
    network: '',
    broke: (error) => t.error(error),
  });
  tunnel.open(Buffer.alloc(0), Buffer.alloc(0));
  tunnel.hold(true);
  t.notOk(client.isPaused() || upstream.isPaused(), 'none has sent');
  clientEnd.write(Buffer.from([0x82, 0x80, 1, 2, 3, 4]));
  await eventually(() => tunnel.work > 0);
  tunnel.hold(true);
  t.ok(client.isPaused() && !upstream.isPaused(), 'the client has sent');
  tunnel.hold(true);
  t.ok(client.isPaused(), 'it waits until the share has room');
  tunnel.hold(false);
  t.notOk(client.isPaused());
});
