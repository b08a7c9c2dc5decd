/** What requests ask of a directory: each of these needs one fact of one parent. */
import type { AccountId } from '../../../src/domain/ids.ts';
import { MissingFact, type Facts } from '../../../src/ports/directory.ts';
import { factKey } from '../../../src/ports/facts.ts';

export const parent = 'p' as AccountId;
/** How many active sub-accounts it has. */
export const count = (facts: Facts): number | null | MissingFact =>
  facts.activeSubAccounts(parent) ?? missingUnlessNull(facts.activeSubAccounts(parent), 'n:p');
/** Which of its sub-accounts has the `external_id` "e"; `null` for none. */
export const externalId = (facts: Facts): AccountId | null | MissingFact =>
  facts.subAccountByExternalId(parent, 'e') ??
  missingUnlessNull(facts.subAccountByExternalId(parent, 'e'), factKey.externalId(parent, 'e'));

function missingUnlessNull(
  value: unknown,
  key: ConstructorParameters<typeof MissingFact>[0],
): null | MissingFact {
  return value === null ? null : new MissingFact(key);
}
