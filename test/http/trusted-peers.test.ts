import t from 'tap';
import { trustedPeers } from '../../src/http/trusted-peers.ts';

t.test('no peer is trusted unless the configuration says so', (t) => {
  t.notOk(trustedPeers([])({ remoteAddress: '127.0.0.1' }));
  t.end();
});

t.test('a peer is trusted by its address alone, in whichever notation the socket reports it', (t) => {
  const trusted = trustedPeers(['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '2001:db8::1']);
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
    t.equal(trusted({ remoteAddress }), expected, remoteAddress ?? 'none');
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
