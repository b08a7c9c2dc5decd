import { MissingFact, type Directory, type Facts, type Lookup } from '../../src/ports/directory.ts';
import {
  factKey,
  type AccountFact,
  type FactKey,
  type FactSource,
  type FactValue,
  type KeyFact,
  type PlanFact,
} from '../../src/ports/facts.ts';
import type { AccountId } from '../../src/domain/ids.ts';

/** A directory that remembers nothing: each decision reads what it needs. For tests of what is decided, not of how fast. */
export class DirectDirectory implements Directory {
  readonly #source: FactSource;

  constructor(source: FactSource) {
    this.#source = source;
  }

  /** Nothing is in memory, so nothing can be decided without a look-up. */
  decide(): undefined {
    return undefined;
  }

  factsVersion(): number {
    return 0;
  }

  mayAct(): boolean {
    return true;
  }

  mayPass(): boolean {
    return true;
  }

  lookUp(): Lookup {
    const loaded = new Map<FactKey, FactValue>();
    let missing: FactKey | undefined;
    return {
      decide: (evaluate) => {
        const decision = evaluate(factsIn(loaded));
        if (!(decision instanceof MissingFact)) return decision;
        missing = decision.key;
        return undefined;
      },
      load: async () => {
        if (missing === undefined) return;
        const { facts } = await this.#source.readFacts([missing]);
        loaded.set(missing, null);
        for (const [found, value] of facts) loaded.set(found, value);
      },
    };
  }

  onRevoked(): () => void {
    return () => undefined;
  }

  onKeysChanged(): () => void {
    return () => undefined;
  }

  onEnded(): () => void {
    return () => undefined;
  }
}

function factsIn(loaded: ReadonlyMap<FactKey, FactValue>): Facts {
  return {
    key: (digest) => loaded.get(factKey.key(digest)) as KeyFact | null | undefined,
    account: (id) => loaded.get(factKey.account(id)) as AccountFact | null | undefined,
    subAccountByExternalId: (parent, externalId) =>
      loaded.get(factKey.externalId(parent, externalId)) as AccountId | null | undefined,
    activeSubAccounts: (parent) => loaded.get(factKey.activeSubAccounts(parent)) as number | null | undefined,
    plan: (name) => loaded.get(factKey.plan(name)) as PlanFact | null | undefined,
  };
}
