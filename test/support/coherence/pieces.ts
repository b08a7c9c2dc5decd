/** A directory with everything below it, over scripted ports and in manual time. */
import { CoherentDirectory } from '../../../src/coherence/directory.ts';
import type { CoherenceEvents } from '../../../src/coherence/events.ts';
import { Loader } from '../../../src/coherence/loading/loader.ts';
import { timingFor } from '../../../src/coherence/timing.ts';
import { ProblemError } from '../../../src/domain/problem.ts';
import { decideWithLookups, type Evaluate } from '../../../src/ports/directory.ts';
import type { FactCache, StampedFact } from '../../../src/ports/fact-cache.ts';
import type {
  Asked as AskedFor,
  FactKey,
  FactReading,
  FactSource,
  FactValue,
} from '../../../src/ports/facts.ts';
import { makeLease } from './lease-pieces.ts';
import { everythingThatFollows } from './manual-time.ts';
import { HeldResponses } from './scripted-log.ts';

/** The truth, with responses that can be held back. */
class ScriptedSource extends HeldResponses implements FactSource {
  readonly asked: FactKey[] = [];
  /** How many facts each reading was for. */
  readonly readings: number[] = [];
  readonly facts = new Map<FactKey, FactValue>();
  seq = 5;
  incarnation = 'i';
  failure: Error | undefined;

  async readFacts(asked: AskedFor): Promise<FactReading> {
    this.asked.push(...asked);
    this.readings.push(asked.length);
    const { seq, incarnation } = this;
    const facts = new Map<FactKey, FactValue>();
    for (const key of asked) facts.set(key, this.facts.get(key) ?? null);
    await this.sent();
    if (this.failure !== undefined) throw this.failure;
    return { seq, incarnation, facts };
  }
}

/** What became of a request. */
export interface Asked<T> {
  outcome?: T;
  code?: string;
  error?: unknown;
}

export async function makePieces(
  over: { readonly events?: CoherenceEvents; readonly leaseMs?: number; readonly facts?: number } = {},
) {
  const { events = {}, leaseMs = 1_200, facts: most = 100 } = over;
  const timing = timingFor(leaseMs);
  const { time, log, view, revocations, lease } = makeLease({ events, facts: most, timing });
  const { clock, timers } = time;
  const source = new ScriptedSource({ timers, ms: timing.storeMs });
  const shared = new Map<FactKey, StampedFact>();
  const cache: FactCache = {
    get: async (keys) => new Map([...shared].filter(([key]) => keys.includes(key))),
    set: (facts) => facts.forEach((fact, key) => shared.set(key, fact)),
  };
  const loader = new Loader({ view, cache, source, clock, timers, timing, events });
  const directory = new CoherentDirectory({ view, lease, loader, revocations, clock, timing, events });
  lease.start();
  await everythingThatFollows();

  /** Sends a request. */
  const ask = <T>(evaluate: Evaluate<T>): Asked<T> => {
    const asked: Asked<T> = {};
    const decision = directory.decide(evaluate);
    if (decision !== undefined) asked.outcome = decision;
    else
      decideWithLookups(directory, evaluate).then(
        (loaded) => void (asked.outcome = loaded),
        (error: unknown) => {
          asked.error = error;
          asked.code = error instanceof ProblemError ? error.problem.code : String(error);
        },
      );
    return asked;
  };
  return { time, timing, log, source, shared, view, lease, loader, directory, revocations, ask };
}
