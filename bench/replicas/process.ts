/** Some replicas in one process, for `main.ts`: `process.ts URL NUMBER`. */
import { randomUUID } from 'node:crypto';
import { openPostgres } from '../../src/adapters/postgres/store.ts';
import { startCoherence } from '../../src/coherence/coherence.ts';
import { noFactCache } from '../../src/coherence/no-fact-cache.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { KeyToRevoke } from './keys.ts';

/** A revoke by one of the replicas in turn; or what to do with all of them. */
export type Task = (KeyToRevoke & { readonly number: number }) | 'counts' | 'end';

/** How a revoke went. */
export interface Revoked {
  readonly number: number;
  /** Replicas whose lease had to run out. */
  readonly timedOut: number;
  readonly error?: string;
}

/** What went wrong with leases. */
export interface Counts {
  lapsed: number;
  failed: number;
}

/** T of every replica, as it is by default. */
const leaseMs = 3_000;

const [url = '', count = '1'] = process.argv.slice(2);
const counts: Counts = { lapsed: 0, failed: 0 };
const replicas = Array.from({ length: Number(count) }, () => {
  const store = openPostgres({ url, maxConnections: 4 });
  const coherence = startCoherence({
    ...{ log: store.log, source: store.facts, cache: noFactCache, clock: systemClock, timers: systemTimers },
    config: { leaseMs, streamsMs: 0, maxFacts: 1_000 },
    logger: { info: () => undefined, warn: () => undefined },
    randomId: randomUUID,
    events: { leaseLapsed: () => counts.lapsed++, leaseRenewalFailed: () => counts.failed++ },
  });
  return { store, coherence };
});
await eventually(() => replicas.every(({ coherence }) => coherence.ready()));
Object.assign(counts, { lapsed: 0, failed: 0 });

process.on('message', (task: Task) => void perform(task));
process.send?.('ready');

async function perform(task: Task): Promise<void> {
  if (task === 'counts') {
    process.send?.({ ...counts } satisfies Counts);
    Object.assign(counts, { lapsed: 0, failed: 0 });
  } else if (task === 'end') {
    await Promise.all(replicas.map(({ coherence }) => coherence.stop()));
    await Promise.all(replicas.map(({ store }) => store.close()));
    process.exit();
  } else {
    process.send?.({ number: task.number, ...(await revoke(task)) } satisfies Revoked);
  }
}

async function revoke({ number, account, key }: KeyToRevoke & { readonly number: number }) {
  const replica = replicas[number % replicas.length];
  try {
    const made = await replica?.store.tenants.revokeKey(account, key);
    const receipt = await replica?.coherence.barrier.enforced(made?.seq ?? NaN, made?.incarnation ?? '');
    return { timedOut: receipt?.timedOut ?? 0 };
  } catch (error) {
    return { timedOut: 0, error: `${String(error)} ${String((error as Error).cause)}` };
  }
}
