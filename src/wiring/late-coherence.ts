import type { Coherence, CoherenceSnapshot } from '../coherence/coherence.ts';
import { unavailable } from '../coherence/unavailable.ts';
import type { Barrier } from '../ports/barrier.ts';
import type { Directory, Lookup } from '../ports/directory.ts';

/** Coherence before there is any: the listeners are up, and the store's tables may not even exist. */
export interface LateCoherence {
  /** Rejects with `unavailable` until {@link begin}. */
  readonly directory: Directory;
  readonly barrier: Barrier;
  ready(): boolean;
  snapshot(): CoherenceSnapshot | null;
  /** Hands everything over to `coherence`. */
  begin(coherence: Coherence): void;
  leave(): void;
  stop(): Promise<void>;
}

/** A request that comes before there is a store: it cannot be decided, and does not wait. */
const noLookup: Lookup = {
  decide: () => undefined,
  load: () => Promise.reject(unavailable()),
};

/** Lets the gateway listen, and answer 503, while its store cannot be reached yet. */
export function lateCoherence(): LateCoherence {
  let coherence: Coherence | undefined;
  /** What listeners wait for, until there is something to listen to. */
  const early = new Set<(directory: Directory) => void>();

  const directory: Directory = {
    decide: (evaluate) => coherence?.directory.decide(evaluate),
    factsVersion: () => coherence?.directory.factsVersion() ?? 0,
    mayAct: () => coherence?.directory.mayAct() ?? false,
    lookUp: (from) => coherence?.directory.lookUp(from) ?? noLookup,
    onRevoked: (listener) => later((directory) => directory.onRevoked(listener)),
    onKeysChanged: (listener) => later((directory) => directory.onKeysChanged(listener)),
    onForgotten: (listener) => later((directory) => directory.onForgotten(listener)),
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
