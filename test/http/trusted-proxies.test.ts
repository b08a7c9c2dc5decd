// class: pure
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import t from 'tap';
import { clientAddresses, networkOf, requestIds, trustedPeers } from '../../src/http/trusted-proxies.ts';

t.test('no peer is trusted unless the configuration says so', (t) => {
  t.notOk(trustedPeers([])({ remoteAddress: '127.0.0.1' }));
  t.end();
});

t.test('a peer is trusted by its address alone, in whichever notation the socket reports it', (t) => {
  const isTrusted = trustedPeers(['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '2001:db8::1']);
  const peers: [string | undefined, boolean][] = [
    ['10.1.2.3', true],
    ['::ffff:10.1.2.3', true],
    ['::ffff:0a01:0203', true],
    ['11.0.0.1', false],
    ['::ffff:11.0.0.1', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['fd12::1', true],
    ['fe80::1%eth0', false],
    ['2001:db8::1', true],
    ['2001:DB8:0:0::1', true],
    ['2001:db8::2', false],
    ['::', false],
    ['', false],
    ['10.1.2.3, 10.1.2.4', false],
    [undefined, false],
  ];
  for (const [remoteAddress, expected] of peers) {
    t.equal(isTrusted({ remoteAddress }), expected, remoteAddress ?? 'none');
  }
  t.ok(trustedPeers(['fe80::/10'])({ remoteAddress: 'fe80::1%eth0' }), 'a zone is no part of the address');
  t.ok(trustedPeers(['0.0.0.0/0'])({ remoteAddress: '::ffff:203.0.113.1' }));
  t.end();
});

t.test('what is no CIDR is rejected', (t) => {
  for (const cidr of [
    '',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0/8',
    'fd00::/129',
    'a/b',
    '10.0.0.0/8/8',
    '10.0.0.0/1e1',
  ]) {
    t.throws(() => trustedPeers([cidr]), RangeError, JSON.stringify(cidr));
  }
  t.end();
});

const fromClient = (...ids: string[]) =>
  ({ socket: {}, rawHeaders: ids.flatMap((id) => ['X-Request-ID', id]) }) as unknown as IncomingMessage;

t.test('every request gets an id of its own, 32 hex digits of the randomness it was given', (t) => {
  const id = requestIds(randomBytes, () => false);
  const ids = Array.from({ length: 2000 }, () => id(fromClient()));
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((text) => /^[0-9a-f]{32}$/.test(text)));

  let asked = 0;
  const counted = requestIds(
    (size) => new Uint8Array(size).fill((asked += 1)),
    () => false,
  );
  for (let i = 0; i < 256; i++) t.equal(counted(fromClient()), '01'.repeat(16));
  t.equal(counted(fromClient()), '02'.repeat(16), 'no byte is used twice');
  t.end();
});

t.test("a client's id counts from a trusted proxy alone", (t) => {
  t.equal(requestIds(randomBytes, () => true)(fromClient('abc-123')), 'abc-123');
  t.match(requestIds(randomBytes, () => false)(fromClient('abc-123')), /^[0-9a-f]{32}$/);
  t.end();
});

t.test('even a trusted proxy cannot make an id that breaks a log line or a header', (t) => {
  const id = requestIds(randomBytes, () => true);
  t.equal(
    id(fromClient('Root=1-67891233-abcdef012345678912345678')),
    'Root=1-67891233-abcdef012345678912345678',
  );
  t.equal(id(fromClient('a'.repeat(128))), 'a'.repeat(128));
  for (const bad of [
    '',
    ' ',
    'a b',
    'a\tb',
    'a"b',
    'a,b',
    'a\nb',
    'é',
    '<a>',
    '{}',
    'a'.repeat(129),
    'a\n',
  ]) {
    t.match(id(fromClient(bad)), /^[0-9a-f]{32}$/, JSON.stringify(bad));
  }
  t.match(id(fromClient('one', 'two')), /^[0-9a-f]{32}$/, 'sent twice');
  t.end();
});

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
