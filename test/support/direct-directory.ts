import { Wanted, type Directory, type Facts } from '../../src/ports/directory.ts';
import {
  factKey,
  type AccountFact,
  type FactKey,
  type FactSource,
  type FactValue,
  type KeyFact,
} from '../../src/ports/facts.ts';
import type { AccountId } from '../../src/domain/ids.ts';

/** A directory that remembers nothing: each decision reads what it needs. For tests of what is decided, not of how fast. */
export class DirectDirectory implements Directory {
  readonly #source: FactSource;

  constructor(source: FactSource) {
    this.#source = source;
  }

  settle<T>(
    attempt: (facts: Facts) => T | Wanted,
    done: (outcome: T) => void,
    failed: (error: unknown) => void,
  ): void {
    const held = new Map<FactKey, FactValue>();
    const again = (): void => {
      const outcome = attempt(factsIn(held));
      if (!(outcome instanceof Wanted)) {
        done(outcome);
        return;
      }
      const { key } = outcome;
      this.#source.readFacts([key]).then((reading) => {
        held.set(key, null);
        for (const [found, value] of reading.facts) held.set(found, value);
        again();
      }, failed);
    };
    again();
  }

  onWithdrawn(): () => void {
    return () => undefined;
  }

  onForgotten(): () => void {
    return () => undefined;
  }
}

function factsIn(held: ReadonlyMap<FactKey, FactValue>): Facts {
  return {
    key: (digest) => held.get(factKey.key(digest)) as KeyFact | null | undefined,
    account: (id) => held.get(factKey.account(id)) as AccountFact | null | undefined,
    subAccountByExternalId: (parent, externalId) =>
      held.get(factKey.externalId(parent, externalId)) as AccountId | null | undefined,
    activeSubAccounts: (parent) => held.get(factKey.activeSubAccounts(parent)) as number | null | undefined,
  };
}
