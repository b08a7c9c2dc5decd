/** A replica in this process that holds a lease and decides about keys, over any store. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { startCoherence, type Coherence } from '../../src/coherence/coherence.ts';
import type { CoherenceEvents } from '../../src/coherence/events.ts';
import { noFactCache } from '../../src/coherence/no-fact-cache.ts';
import type { KeyDigest } from '../../src/domain/api-key.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { decideWithLookups, MissingFact } from '../../src/ports/directory.ts';
import type { FactCache } from '../../src/ports/fact-cache.ts';
import { factKey, type KeyFact } from '../../src/ports/facts.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import type { Scope } from './servers.ts';

export interface DecidingReplica {
  readonly coherence: Coherence;
  /** What a request with this key is decided by. */
  readonly key: (digest: KeyDigest) => Promise<KeyFact | null>;
}

/** Stopped when the test ends. */
export function decidingReplica(
  t: Scope,
  store: Pick<Store, 'log' | 'facts'>,
  leaseMs: number,
  {
    cache = noFactCache,
    events = {},
  }: { readonly cache?: FactCache; readonly events?: CoherenceEvents } = {},
): DecidingReplica {
  const coherence = startCoherence({
    log: store.log,
    source: store.facts,
    cache,
    events,
    clock: systemClock,
    timers: systemTimers,
    config: { leaseMs, streamsMs: 0, maxFacts: 1_000 },
    logger: { info: () => undefined, warn: () => undefined },
    randomId: randomUUID,
  });
  t.teardown(() => coherence.stop());
  return {
    coherence,
    key: (digest) =>
      decideWithLookups(coherence.directory, (facts) => {
        const fact = facts.key(digest);
        return fact === undefined ? new MissingFact(factKey.key(digest)) : { fact };
      }).then(({ fact }) => fact),
  };
}
