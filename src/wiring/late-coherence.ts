import type { Coherence, CoherenceSnapshot } from '../coherence/coherence.ts';
import { unavailable } from '../coherence/unavailable.ts';
import type { Barrier } from '../ports/barrier.ts';
import type { Directory } from '../ports/directory.ts';

type WithdrawnListener = Parameters<Directory['onWithdrawn']>[0];

/** Coherence before there is any: the listeners are up, and the store's tables may not even exist. */
export interface LateCoherence {
  /** Refuses with `unavailable` until {@link begin}. */
  readonly directory: Directory;
  readonly barrier: Barrier;
  ready(): boolean;
  snapshot(): CoherenceSnapshot | null;
  /** Hands everything over to `coherence`. */
  begin(coherence: Coherence): void;
  stop(): Promise<void>;
}

/** Lets the gateway listen, and answer 503, while its store cannot be reached yet. */
export function lateCoherence(): LateCoherence {
  let coherence: Coherence | undefined;
  const early = new Map<WithdrawnListener, () => void>();

  const directory: Directory = {
    settle: (attempt, done, failed) => {
      if (coherence === undefined) failed(unavailable());
      else coherence.directory.settle(attempt, done, failed);
    },
    onWithdrawn: (listener) => {
      if (coherence !== undefined) return coherence.directory.onWithdrawn(listener);
      early.set(listener, () => early.delete(listener));
      return () => early.get(listener)?.();
    },
  };

  return {
    directory,
    barrier: { enforced: (seq) => coherence?.barrier.enforced(seq) ?? Promise.reject(unavailable()) },
    ready: () => coherence?.ready() ?? false,
    snapshot: () => coherence?.snapshot() ?? null,
    begin: (started) => {
      coherence = started;
      for (const listener of early.keys()) early.set(listener, started.directory.onWithdrawn(listener));
    },
    stop: async () => coherence?.stop(),
  };
}
