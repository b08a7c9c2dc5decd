// class: pure
import t, { type Test } from 'tap';
import { Tunnel } from '../../../src/proxy/websocket/tunnel.ts';
import { everythingThatFollows } from '../../support/coherence/manual-time.ts';
import { eventually } from '../../support/eventually.ts';
import { pair } from '../../support/socket-pair.ts';

/** A tunnel, its ends, and the ends of its peers. */
async function tunnelled(t: Test, onClosed = (): void => undefined) {
  const [client, clientEnd] = await pair(t);
  const [upstream, upstreamEnd] = await pair(t);
  const tunnel = new Tunnel(client, upstream, 10_000, {
    countHeld: () => undefined,
    mayPass: () => true,
    onClosed,
    network: '',
    broke: (error) => t.error(error),
  });
  return { tunnel, client, clientEnd, upstream, upstreamEnd };
}

t.test('what waits to be sent is not sent after the end, nor is a close frame behind it', async (t) => {
  let over = 0;
  const { tunnel, client, clientEnd, upstreamEnd } = await tunnelled(t, () => void (over += 1));
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
  const { tunnel, client, clientEnd, upstream, upstreamEnd } = await tunnelled(t);
  upstreamEnd.resume();
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

t.test('of frames that nobody reads, 64 KiB and a read of the socket wait each way', async (t) => {
  const { tunnel, client, clientEnd, upstream, upstreamEnd } = await tunnelled(t);
  tunnel.open(Buffer.alloc(0), Buffer.alloc(0));
  const frame = Buffer.concat([
    Buffer.from([0x82, 127, 0, 0, 0, 0, 0x7f, 0, 0, 0]),
    Buffer.alloc(30_000_000),
  ]);
  for (const end of [clientEnd, upstreamEnd]) end.write(frame);
  const waiting = (): number[] => [client, upstream].map(({ writableLength }) => writableLength);
  await eventually(() => Math.min(...waiting()) >= 64 * 1024);
  for (let turn = 0; turn < 100; turn++) await everythingThatFollows();
  t.ok(Math.max(...waiting()) <= 128 * 1024, `${waiting().join()} bytes`);
});
