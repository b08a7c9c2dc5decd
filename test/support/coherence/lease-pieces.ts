/** A lease over a scripted log and in manual time. */
import type { CoherenceEvents } from '../../../src/coherence/events.ts';
import { Lease } from '../../../src/coherence/lease.ts';
import { timingFor, type Timing } from '../../../src/coherence/timing.ts';
import { StoreClock } from '../../../src/coherence/store-clock.ts';
import { View } from '../../../src/coherence/memory/view.ts';
import { Revocations } from '../../../src/coherence/revocations.ts';
import { ProblemError } from '../../../src/domain/problem.ts';
import { everythingThatFollows, ManualTime } from './manual-time.ts';
import { ScriptedLog } from './scripted-log.ts';

/** T. */
export const leaseMs = 1_200;
export const timing = timingFor(leaseMs);

interface LeaseOptions {
  readonly events?: CoherenceEvents;
  readonly paceMs?: number;
  /** How many facts memory holds. */
  readonly facts?: number;
  readonly timing?: Timing;
}

export function makeLease(over: LeaseOptions = {}) {
  const { timing: own = timing, facts = 10 } = over;
  const time = new ManualTime();
  const log = new ScriptedLog({ timers: time.timers, ms: own.storeMs });
  const view = new View({ facts, unknownKeys: 10 });
  const revocations = new Revocations();
  let ids = 0;
  const lease = new Lease({
    log,
    view,
    revocations,
    clock: time.clock,
    storeClock: new StoreClock(time.clock),
    timers: time.timers,
    timing: own,
    paceMs: () => over.paceMs ?? 0,
    events: over.events ?? {},
    randomId: () => `r${++ids}`,
    onHealth: () => undefined,
  });
  log.onHint(() => lease.hint());
  return { time, log, view, revocations, lease };
}

/** One that holds, with nothing noted yet of what it asks for. */
export async function startedLease(over: LeaseOptions = {}) {
  const made = makeLease(over);
  made.lease.start();
  await everythingThatFollows();
  made.log.asked.length = 0;
  return made;
}

/** Why a request that waits for the lease is rejected: a problem, where it is one. */
export async function rejection(lease: Lease): Promise<unknown> {
  const error = await lease.renewed().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ProblemError ? error.problem : error;
}
