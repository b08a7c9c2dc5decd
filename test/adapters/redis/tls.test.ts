// class: real
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { encodeFact } from '../../../src/adapters/redis/stamped-json.ts';
import type { StampedFact } from '../../../src/ports/fact-cache.ts';
import type { FactKey } from '../../../src/ports/facts.ts';
import { certificate } from '../../support/config-certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { openFactCache } from '../../support/fact-cache.ts';
import { redisClient, startRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';
import { tcpRelay } from '../../support/tcp-relay.ts';
import { unusedPort } from '../../servers/unused-port.mjs';

const fact: StampedFact = { value: 3, seq: 5, incarnation: 'i' };
const folder = t.testdir({
  'a.crt': certificate.a.cert,
  'a.key': certificate.a.key,
  'b.crt': certificate.b.cert,
  'b.key': certificate.b.key,
});
const file = (name: string): string => join(folder, name);

/** A Redis that shows certificate `a` (`localhost`, `127.0.0.1`) and holds a fact. */
async function tlsRedis(t: Scope, settings: Record<string, string> = {}) {
  const tlsPort = await unusedPort();
  const server = await startRedis(t, {
    'tls-port': String(tlsPort),
    'tls-cert-file': file('a.crt'),
    'tls-key-file': file('a.key'),
    'tls-ca-cert-file': file('a.crt'),
    'tls-auth-clients': 'no',
    ...settings,
  });
  // The way around TLS.
  const plain = redisClient(t, server.url);
  await plain.set('tg:2:p:n:parent', encodeFact(fact));
  const { port, connections } = await tcpRelay(t, tlsPort);
  return { port, tlsPort, plain, connections };
}

function open(t: Scope, url: string) {
  const cache = openFactCache(t, url);
  return { cache, has: async (): Promise<boolean> => (await cache.get(['n:parent'])).has('n:parent') };
}

t.test('by the right authority Redis is used over TLS', async (t) => {
  const { port, plain } = await tlsRedis(t);
  for (const host of ['localhost', '127.0.0.1']) {
    const { cache, has } = open(t, `rediss://${host}:${port}?cacert=${file('a.crt')}`);
    await eventually(has);
    cache.set(new Map<FactKey, StampedFact>([[`n:${host}`, fact]]));
    await eventually(async () => (await plain.exists(`tg:2:p:n:${host}`)) === 1);
  }
  t.match(await plain.client('LIST'), /laddr=127\.0\.0\.1:\d+ .*name=tenancy-gateway/);
});

t.test(
  'a Redis that cannot prove who it is counts as away: nothing is read from it or told to it',
  async (t) => {
    const { port, plain, connections } = await tlsRedis(t);
    await rejected(t, `rediss://localhost:${port}?cacert=${file('b.crt')}`, connections);
    await rejected(t, `rediss://localhost:${port}`, connections);
    t.same(await plain.keys('*'), ['tg:2:p:n:parent']);
  },
);

const notLinux = process.platform !== 'linux' && 'only Linux listens on all of 127/8';

t.test('a certificate for another name proves nothing', { skip: notLinux }, async (t) => {
  const { tlsPort, plain } = await tlsRedis(t);
  const { port, connections } = await tcpRelay(t, tlsPort, '127.0.0.2');
  await rejected(t, `rediss://127.0.0.2:${port}?cacert=${file('a.crt')}`, connections);
  t.same(await plain.keys('*'), ['tg:2:p:n:parent']);
});

t.test('a Redis that asks for a certificate is shown one', async (t) => {
  const { port, connections } = await tlsRedis(t, { 'tls-auth-clients': 'yes' });
  const url = `rediss://localhost:${port}?cacert=${file('a.crt')}`;
  const shown = open(t, `${url}&cert=${file('a.crt')}&key=${file('a.key')}`);
  await eventually(shown.has);
  await rejected(t, url, connections);
});

/** Looks on while it connects again and again, and is never believed. */
async function rejected(t: Test, url: string, connections: () => number): Promise<void> {
  const { cache, has } = open(t, url);
  const before = connections();
  let believed = false;
  await eventually(async () => {
    believed ||= await has();
    cache.set(new Map<FactKey, StampedFact>([['n:told', fact]]));
    return believed || connections() >= before + 3;
  });
  t.notOk(believed, url.replaceAll(folder, ''));
}
