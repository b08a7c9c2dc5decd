/** An exporter of usage with a real store and a real receiver; time is the test's. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { UsageExportConfig } from '../../src/config.ts';
import { hourMs } from '../../src/domain/usage.ts';
import type { Timers } from '../../src/ports/timers.ts';
import { UsageExporter } from '../../src/usage/export/exporter.ts';
import { openReceiver } from '../../src/usage/export/receiver.ts';
import { ManualTime } from './coherence/manual-time.ts';
import { eventually } from './eventually.ts';
import { createParent, createSub, freshStore, rawSql } from './store.ts';
import { startUsageReceiver, type UsageReceiver } from './usage-receiver.ts';
import { addUsage, usageRow } from './usage-rows.ts';

/** When exports begin, milliseconds since 1970. */
export const may = Date.UTC(2023, 4, 1);
export const secret = 'Bearer om_secret';

/** A store, a receiver, and how to start exporters between them. */
export async function prepare(t: Test, settings: Partial<UsageExportConfig> = {}) {
  const { store, url } = await freshStore(t);
  const receiver = await startUsageReceiver(t);
  const journal = randomUUID();
  /** The only replica has nothing from before `ms` left to add. */
  const through = async (ms: number): Promise<void> => {
    await store.usage.add({ journal, from: 0, to: 0, rows: [], keysPerAccountHour: 200, throughMs: ms });
  };
  await through(may);
  /** Each account sends a request in the hour that begins `after` hours after `may`. The hour is then complete. */
  const used = async (accounts: readonly string[], after = 0): Promise<void> => {
    const atMs = may + after * hourMs;
    await addUsage(
      { store },
      accounts.map((id) => usageRow(id, atMs, { requests: 1 })),
    );
    await through(atMs + hourMs);
  };
  const startOne = () => start(t, store, receiver, settings);
  return { store, sql: rawSql(t, url), receiver, through, used, start: startOne };
}

/** A parent with a sub-account, and one exporter whose first round is over. */
export async function exporting(t: Test, settings: Partial<UsageExportConfig> = {}) {
  const prepared = await prepare(t, settings);
  const accounts = await twoAccounts(prepared.store);
  const started = prepared.start();
  await started.ended();
  return { ...prepared, ...accounts, ...started };
}

/** Starts an exporter; its first round is over when this resolves, unless the receiver keeps it waiting. */
function start(t: Test, store: Store, receiver: UsageReceiver, settings: Partial<UsageExportConfig>) {
  const config = {
    ...{ url: receiver.url, format: 'batch', batchSize: 100, timeoutMs: 10_000 },
    ...{ subject: 'id', delayMs: 0, authorizationFile: null, caFile: null },
    ...settings,
  } as const satisfies UsageExportConfig;
  const time = new ManualTime();
  const told = { exported: { hour: 0, correction: 0 }, rejected: 0, failed: 0, lines: [] as unknown[][] };
  const log = (...line: unknown[]): void => void told.lines.push(line);
  // The exporter itself waits between two rounds only.
  let waiting = false;
  const timers: Timers = {
    after: (ms, task) => {
      waiting = true;
      return time.timers.after(ms, () => {
        waiting = false;
        task();
      });
    },
  };
  const exporter = new UsageExporter({
    ...{ store: store.usageExport, usage: store.usage, config, id: randomUUID(), lostAfterMs: 86_400_000 },
    ...{ clock: time.clock, timers, logger: { info: log, warn: log, error: log } },
    connect: () => openReceiver(config, { authorization: secret, ca: null }, time.timers),
    onExported: (kind, events) => (told.exported[kind] += events),
    onRejected: () => (told.rejected += 1),
    onFailed: () => (told.failed += 1),
  });
  t.teardown(() => exporter.stop());
  exporter.start();
  /** Waits for the end of the round. */
  const ended = (): Promise<void> => eventually(() => waiting);
  return {
    ...{ exporter, time, told, ended },
    /** Has the next round, or whatever is due first, begin. */
    next: async (): Promise<void> => {
      await time.advance(time.nextMs ?? 0);
    },
    round: async (): Promise<void> => {
      await ended();
      await time.advance(time.nextMs ?? 0);
      await ended();
    },
  };
}

/** A parent, and its sub-account with the external_id `ada`. */
export async function twoAccounts(store: Store): Promise<{ parent: string; sub: string }> {
  const { id: parent } = await createParent(store.tenants);
  const { value } = await createSub(store.tenants, parent, { externalId: 'ada' });
  return { parent, sub: value.id };
}
