import { randomUUID } from 'node:crypto';
import { TailCollector } from '../ops/live/tail-collector.ts';
import { liveTails } from '../ops/live/tails.ts';
import { systemClock } from '../ports/clock.ts';
import type { LiveTails } from '../ports/live-tails.ts';
import type { Timers } from '../ports/timers.ts';
import type { Engine } from './engine.ts';
import type { Store } from './store.ts';

/** Makes the part that collects requests for open tails, and the part that opens tails for clients of this process. */
export function makeTails(
  { tails: store }: Pick<Store, 'tails'>,
  engine: Pick<Engine, 'replicaId' | 'unready'>,
  timers: Timers,
): { readonly collector: TailCollector; readonly liveTails: LiveTails } {
  const parts = { store, replicaId: () => engine.replicaId(), clock: systemClock, timers };
  const collector = new TailCollector(parts);
  const isLeaving = (): boolean => engine.unready().some(({ reason }) => reason === 'draining');
  return { collector, liveTails: liveTails({ ...parts, collector, isLeaving, randomId: randomUUID }) };
}
