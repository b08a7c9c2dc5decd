// class: app
import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import {
  digestSecret,
  formatSecret,
  secretRandomBytes,
  type KeyDigest,
} from '../../../src/domain/api-key.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import { openLog } from '../../../src/ops/logger.ts';
import { decideWithLookups, MissingFact, type Evaluate, type Facts } from '../../../src/ports/directory.ts';
import { factKey, type FactKey, type FactSource } from '../../../src/ports/facts.ts';
import { startGateway } from '../../../src/wiring/start.ts';
import { configFile, goodConfig } from '../../support/config-files.ts';
import { decidingReplica } from '../../support/deciding-replica.ts';
import { eventually } from '../../support/eventually.ts';
import { connected, openFactCache } from '../../support/fact-cache.ts';
import { httpClient } from '../../support/http-client.ts';
import { freshRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';
import { createKey, createParent, createSub, freshStore, storeAt } from '../../support/store.ts';
import { tcpRelay } from '../../support/tcp-relay.ts';
import { unhurried } from '../../support/unhurried.ts';
import { startUpstream } from '../../support/upstreams.ts';

const callers = 20;
const atOnce = 25;

const { url, store } = await freshStore(t);
const parent = (await createParent(store.tenants)).id;

/** Sub-accounts with an `external_id` and a key each, made before any replica runs. */
const known = await Promise.all(
  Array.from({ length: callers }, async () => {
    const externalId = `name-${randomUUID()}`;
    const { value } = await createSub(store.tenants, parent, { externalId });
    const key = formatSecret('tgw', randomBytes(secretRandomBytes));
    await createKey(store.tenants, value.id, { digest: digestSecret(key) });
    return { id: value.id, externalId, key, digest: digestSecret(key) };
  }),
);
const parentKey = formatSecret('tgw', randomBytes(secretRandomBytes));
await createKey(store.tenants, parent, { digest: digestSecret(parentKey) });

/** A busy machine takes longer for a thousand requests than a lease or a wait for a connection lasts; the test is about look-ups. */
const patience =
  'limits: {max_event_loop_delay_ms: 0}\ncoherence: {lease_ms: 60000}\nroute_defaults: {timeouts: {connect_ms: 60000}}\n';

t.test('under load from cold each replica asks PostgreSQL once for each key and each name', async (t) => {
  const upstream = await startUpstream(t);
  const replicas = await Promise.all(
    [1, 2].map(async () => {
      const target = new URL(url);
      const relay = await tcpRelay(t, Number(target.port));
      target.port = String(relay.port);
      const env = { PORT: '0', INTERNAL_PORT: '0', UPSTREAM_URL: upstream.url, DATABASE_URL: target.href };
      const config = goodConfig({ ...env, CONFIG: configFile(t, patience) });
      const gateway = await startGateway(config, openLog('silent').logger, undefined, null, unhurried);
      t.teardown(() => gateway.stop());
      await gateway.begun;
      const call = httpClient(t, `http://127.0.0.1:${gateway.publicAddress.port}`);
      return { relay, call };
    }),
  );

  const statuses = await Promise.all(
    replicas.flatMap(({ call }) =>
      known.flatMap(({ key, externalId }) =>
        Array.from({ length: atOnce }, async (_, i) =>
          i % 2 === 0
            ? (await call('GET', '/x', { key })).status
            : (
                await call('GET', '/x', {
                  key: parentKey,
                  headers: { 'X-Service-Acting-Tenant': `ext:${externalId}` },
                })
              ).status,
        ),
      ),
    ),
  );
  t.same(new Set(statuses), new Set([200]), `${statuses.length} requests`);
  for (const { relay } of replicas) {
    const asked = known.map(({ digest, externalId }) => [relay.count(digest), relay.count(externalId)]);
    t.same(
      asked,
      known.map(() => [1, 1]),
    );
    t.equal(relay.count(digestSecret(parentKey)), 1);
  }
});

t.test('with Redis warm a replica that starts does not ask PostgreSQL at all', async (t) => {
  const redisUrl = await freshRedis(t);
  const first = await replica(t, redisUrl);
  await first.load();
  t.equal(first.asked.length, new Set(first.asked).size, 'the first one asked for each fact once');
  const once = first.asked.length;
  t.ok(once >= callers && once <= 2 * callers, `${once} times, for what belongs together`);

  const second = await replica(t, redisUrl);
  await second.load();
  t.same(second.asked, []);

  // What Redis holds too long is not believed, and costs one question each.
  await store.tenants.setSubAccountStatus(parent, known[0]?.id as AccountId, 'deactivated');
  const third = await replica(t, redisUrl);
  await third.load();
  t.same(new Set(third.asked), new Set([factKey.account(known[0]?.id as AccountId)]));
  t.equal(third.asked.length, 1);
});

/** What decides in a replica, over the real stores; `asked` is what it asked PostgreSQL for. */
async function replica(t: Scope, redisUrl: string) {
  const cache = openFactCache(t, redisUrl);
  await connected(cache);
  const own = storeAt(t, url, { maxConnections: 10 });
  const asked: FactKey[] = [];
  const readFacts: FactSource['readFacts'] = (keys) => {
    asked.push(...keys);
    return own.facts.readFacts(keys);
  };
  const { coherence } = decidingReplica(t, { log: own.log, facts: { readFacts } }, 3_000, { cache });
  await eventually(() => coherence.ready());

  /** Every caller, many times at once; resolves when all have been decided. */
  async function load(): Promise<void> {
    const settled = known.flatMap(({ digest, externalId }) =>
      Array.from({ length: atOnce }, () => [
        decided((facts) => callerOf(facts, digest)),
        decided((facts) =>
          heldOr(facts.subAccountByExternalId(parent, externalId), factKey.externalId(parent, externalId)),
        ),
      ]),
    );
    await Promise.all(settled.flat());
    // What was read is passed on behind the scenes.
    await eventually(async () => {
      const keys = known.map(({ digest }) => factKey.key(digest));
      return (await cache.get(keys)).size === keys.length;
    });
  }

  function decided(evaluate: Evaluate<true>): Promise<unknown> {
    return decideWithLookups(coherence.directory, evaluate);
  }

  return { asked, load };
}

/** Asks for what a request asks for: the key, its account, the parent, and whether that has active sub-accounts. */
function callerOf(facts: Facts, digest: KeyDigest): true | MissingFact {
  const key = facts.key(digest);
  if (key === undefined || key === null) return new MissingFact(factKey.key(digest));
  if (facts.account(key.accountId) === undefined) return new MissingFact(factKey.account(key.accountId));
  if (facts.account(parent) === undefined) return new MissingFact(factKey.account(parent));
  return heldOr(facts.activeSubAccounts(parent), factKey.activeSubAccounts(parent));
}

function heldOr(value: unknown, key: FactKey): true | MissingFact {
  return value === undefined ? new MissingFact(key) : true;
}
