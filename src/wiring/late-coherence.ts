import type { Coherence, CoherenceSnapshot } from '../coherence/coherence.ts';
import { unavailable } from '../coherence/unavailable.ts';
import type { Barrier } from '../ports/barrier.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory, Lookup } from '../ports/directory.ts';

/** Stands in for coherence until the store is reached, because the store's tables may not exist before then. */
export interface LateCoherence {
  /** Rejects look-ups with `unavailable` until {@link begin} is called. */
  readonly directory: Directory;
  readonly barrier: Barrier;
  /** The store's clock, or this machine's clock until the store's clock is known. */
  readonly clock: Clock;
  ready(): boolean;
  snapshot(): CoherenceSnapshot | null;
  /** Passes all calls on to `coherence` from now on. */
  begin(coherence: Coherence): void;
  leave(): void;
  stop(): Promise<void>;
}

/** The look-up used for every request until the store is reached. It fails immediately. */
const noLookup: Lookup = {
  decide: () => undefined,
  load: () => Promise.reject(unavailable()),
};

/**
 * Lets the gateway listen, and respond with 503, before its store can be reached.
 *
 * @param own this machine's clocks
 */
export function lateCoherence(own: Clock): LateCoherence {
  let coherence: Coherence | undefined;
  /** Listeners to register once coherence has started. */
  const early = new Set<(directory: Directory) => void>();

  const directory: Directory = {
    decide: (evaluate) => coherence?.directory.decide(evaluate),
    factsVersion: () => coherence?.directory.factsVersion() ?? 0,
    mayAct: () => coherence?.directory.mayAct() ?? false,
    mayPass: () => coherence?.directory.mayPass() ?? false,
    lookUp: (from) => coherence?.directory.lookUp(from) ?? noLookup,
    onRevoked: (listener) => later((directory) => directory.onRevoked(listener)),
    onKeysChanged: (listener) => later((directory) => directory.onKeysChanged(listener)),
    onEnded: (listener) => later((directory) => directory.onEnded(listener)),
  };

  function later(listen: (directory: Directory) => () => void): () => void {
    if (coherence !== undefined) return listen(coherence.directory);
    let stop = (): void => void early.delete(begin);
    const begin = (directory: Directory): void => {
      stop = listen(directory);
    };
    early.add(begin);
    return () => stop();
  }

  return {
    directory,
    barrier: {
      enforced: (seq, incarnation) =>
        coherence?.barrier.enforced(seq, incarnation) ?? Promise.reject(unavailable()),
    },
    clock: { monotonicMs: () => own.monotonicMs(), wallMs: () => coherence?.clock.wallMs() ?? own.wallMs() },
    ready: () => coherence?.ready() ?? false,
    snapshot: () => coherence?.snapshot() ?? null,
    begin: (started) => {
      coherence = started;
      for (const listen of early) listen(started.directory);
      early.clear();
    },
    leave: () => coherence?.leave(),
    stop: async () => coherence?.stop(),
  };
}
