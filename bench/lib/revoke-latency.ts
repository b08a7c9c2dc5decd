import { startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import { Random } from '../../test/support/coherence/random.ts';
import { Replica } from '../../test/e2e/faults/support/replica.ts';
import { Tenants } from '../../test/e2e/faults/support/tenants.ts';
import { startUpstream } from '../../test/e2e/faults/support/upstream.ts';

/**
 * Real gateways over a PostgreSQL that writes through to the disk: how long a revoke takes from the client's side,
 * one at a time, with one, two and three replicas, and with one of them hanging.
 */
export async function revokeLatency(revokes: number, say: (line: string) => void): Promise<void> {
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
  try {
    const [postgres, redis, upstreamUrl] = await Promise.all([
      startPostgres(scope, { fsync: 'on' }),
      startRedis(scope),
      startUpstream(scope),
    ]);
    const surroundings = { postgresUrl: postgres.url, redisUrl: redis.url, upstreamUrl, leaseMs: 3_000 };
    const replicas: Replica[] = [];
    for (const count of [1, 2, 3]) {
      const replica = await Replica.make(scope, `replica ${count}`, surroundings);
      await replica.ready();
      replicas.push(replica);
      say(`${count} replicas: ${await measure(replica, revokes)}`);
    }
    const [hanging, other] = replicas as [Replica, Replica];
    say(`3 replicas, one hanging, the first revoke: ${await measure(other, 1, () => hanging.pause())}`);
    hanging.resume();
  } finally {
    for (const end of ends) await end();
  }
}

/** Fewer than `limits.changes_per_second` lets one parent make at once. */
const revokesOfParent = 100;

/** Mints keys, then revokes them through one replica. @param before called between the two */
async function measure(
  replica: Replica,
  revokes: number,
  before: () => void = () => undefined,
): Promise<string> {
  const tenants = new Tenants([replica], new Random(1), () => false);
  const keys: { readonly path: string; readonly parentKey: string }[] = [];
  while (keys.length < revokes) {
    const parent = await tenants.createParent();
    const sub = await tenants.createSubAccount(parent);
    for (let i = 0; i < revokesOfParent && keys.length < revokes; i++) {
      const { id } = await tenants.mint(parent, sub);
      keys.push({ path: `/v1/sub-accounts/${sub}/api-keys/${id}/revoke`, parentKey: parent.key });
    }
  }
  before();
  const took: number[] = [];
  for (const { path, parentKey } of keys) {
    const began = performance.now();
    await tenants.insist('POST', path, { key: parentKey });
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  const at = (share: number): string => `${(took[Math.floor(took.length * share)] ?? NaN).toFixed(1)} ms`;
  return revokes === 1 ? at(0) : `p50 ${at(0.5)}, p99 ${at(0.99)} of ${revokes} revokes`;
}
