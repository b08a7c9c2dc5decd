/** What a store does with the figures that replicas report. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { ReplicaFigures } from '../../src/ports/replica-figures.ts';

/** Figures of a replica that has nothing to do. */
export const quietFigures: ReplicaFigures = {
  ready: true,
  unready: [],
  requestsPerSecond: 0,
  refusals: [],
  p50Ms: null,
  p99Ms: null,
  openStreams: 0,
  openConnections: 0,
  rssBytes: 100_000_000,
  redis: 'off',
  certificateExpiresMs: null,
};

export async function replicaFigureContract(t: Test, store: Store): Promise<void> {
  const { figures, log, replicaList } = store;
  const shown = async (id: string) => (await replicaList.read()).entries.find((entry) => entry.id === id);

  await t.test('the list shows the newest figures of a replica, with the time of the store', async (t) => {
    await log.register({ id: 'reports', nonce: 'n', leaseMs: 60_000, streamsMs: 0 });
    await log.register({ id: 'reports-nothing', nonce: 'n', leaseMs: 60_000, streamsMs: 0 });
    await figures.report('reports', quietFigures, false);
    const busy: ReplicaFigures = {
      ...quietFigures,
      ready: false,
      unready: ['draining'],
      requestsPerSecond: 12.5,
      refusals: [{ code: 'rate_limited', count: 3 }],
      p50Ms: 1.5,
      p99Ms: 20,
      certificateExpiresMs: 1_800_000_000_000,
    };
    await figures.report('reports', busy, true);
    const entry = await shown('reports');
    t.match(entry?.figures, busy);
    t.ok(Math.abs((entry?.figures?.reportedAt.getTime() ?? 0) - Date.now()) < 60_000);
    t.equal((await shown('reports-nothing'))?.figures, null);
  });

  await t.test('the figures of a replica that ends are deleted, and no others', async (t) => {
    await log.register({ id: 'stays', nonce: 'n', leaseMs: 60_000, streamsMs: 0 });
    await figures.report('stays', quietFigures, false);
    await figures.remove('reports');
    await figures.remove('reports');
    t.equal((await shown('reports'))?.figures, null);
    t.match((await shown('stays'))?.figures, quietFigures);
    for (const id of ['reports', 'reports-nothing', 'stays']) await log.removeReplica(id, 'n');
  });
}
