import fc from 'fast-check';
import t from 'tap';
import { clientAddresses, networkOf } from '../../src/http/client-address.ts';

const trusted = ['10.0.0.0/8', 'fd00::/8'];

function addressOf(
  peer: string | undefined,
  forwarded: readonly string[],
  proxies = trusted,
): string | undefined {
  const rawHeaders = ['Host', 'x', ...forwarded.flatMap((value) => ['X-Forwarded-For', value])];
  return clientAddresses(proxies)({ rawHeaders, socket: { remoteAddress: peer } });
}

t.test('the address is that of the peer, or what the first trusted proxy says of its own peer', (t) => {
  const cases: [string | undefined, string[], string | undefined][] = [
    ['198.51.100.7', [], '198.51.100.7'],
    ['198.51.100.7', ['192.0.2.1'], '198.51.100.7'],
    ['::ffff:198.51.100.7', ['192.0.2.1'], '198.51.100.7'],
    ['10.0.0.1', [], '10.0.0.1'],
    ['10.0.0.1', ['192.0.2.1'], '192.0.2.1'],
    ['::ffff:10.0.0.1', ['192.0.2.1'], '192.0.2.1'],
    // What a client put there itself is to the left.
    ['10.0.0.1', ['203.0.113.9, 192.0.2.1'], '192.0.2.1'],
    ['10.0.0.1', ['203.0.113.9', '192.0.2.1'], '192.0.2.1'],
    ['10.0.0.1', ['203.0.113.9, 192.0.2.1, 10.0.0.2,10.0.0.3'], '192.0.2.1'],
    ['10.0.0.1', ['10.0.0.2, 10.0.0.3'], '10.0.0.2'],
    ['fd00::1', ['2001:db8::5'], '2001:db8::5'],
    ['10.0.0.1', ['[2001:db8::5]:443'], '2001:db8::5'],
    ['10.0.0.1', ['192.0.2.1:65000'], '192.0.2.1'],
    ['10.0.0.1', ['192.0.2.1, unknown, 10.0.0.2'], '10.0.0.2'],
    ['10.0.0.1', [''], '10.0.0.1'],
    ['10.0.0.1', ['192.0.2.1", "code":"x'], '10.0.0.1'],
    [undefined, ['192.0.2.1'], undefined],
  ];
  for (const [peer, forwarded, expected] of cases)
    t.equal(addressOf(peer, forwarded), expected, `${peer} says ${forwarded.join(' | ')}`);
  t.end();
});

t.test('no header of a client that no trusted proxy stands for changes its address', (t) => {
  fc.assert(
    fc.property(fc.ipV4(), fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())), (peer, forwarded) => {
      fc.pre(!peer.startsWith('10.'));
      return addressOf(peer, forwarded) === peer && addressOf(peer, forwarded, []) === peer;
    }),
  );
  t.end();
});

t.test('behind a trusted proxy, what a client sends does not change what the proxy says of it', (t) => {
  fc.assert(
    fc.property(fc.ipV4(), fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())), (client, sent) => {
      fc.pre(!client.startsWith('10.'));
      return addressOf('10.0.0.1', [...sent, client]) === client;
    }),
  );
  t.end();
});

t.test('a network is an IPv4 address, or the first half of an IPv6 address', (t) => {
  const cases: readonly (readonly [string | undefined, string])[] = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1:2:3:4%eth0', 'fe80:0:0:0'],
    [undefined, ''],
  ];
  for (const [address, network] of cases) t.equal(networkOf(address), network, address ?? 'none');
  t.end();
});
