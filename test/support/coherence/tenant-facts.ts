/** The facts of the tenants of a simulated run, and how requests read them. */
import { digestSecret } from '../../../src/domain/api-key.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import { MissingFact, type Facts } from '../../../src/ports/directory.ts';
import { factKey, type ApiKeyName, type FactKey } from '../../../src/ports/facts.ts';

/** How many tenants there are; each is called by its number. */
export const tenantCount = 4;

const digests = Array.from({ length: tenantCount }, (_, tenant) => digestSecret(`key of ${tenant}`));
const digestOf = (tenant: number) => digests[tenant] as (typeof digests)[number];
const keyOf = (tenant: number): ApiKeyName => factKey.key(digestOf(tenant));
const accountOf = (tenant: number): FactKey => `a:account-${tenant}`;
const countOf = (tenant: number): FactKey => `n:${tenant}`;
const externalOf = (tenant: number): FactKey => `x:${tenant}:id`;

/** The facts of one tenant: a key, its account, the count of what is below it, and an `external_id`. */
export const factsOf = (tenant: number): readonly FactKey[] => [
  keyOf(tenant),
  accountOf(tenant),
  countOf(tenant),
  externalOf(tenant),
];

/** Those of all tenants. */
export const allFacts: readonly FactKey[] = digests.flatMap((_, tenant) => factsOf(tenant));

/** What one statement reads together: a key's account and count come with the key. */
export function together(key: FactKey): readonly FactKey[] {
  const tenant = digests.findIndex((_, i) => keyOf(i) === key);
  return tenant < 0 ? [key] : [key, accountOf(tenant), countOf(tenant)];
}

/** A request as real decisions read: a key, the key's account, and one fact more. */
export function readTenant(
  facts: Facts,
  tenant: number,
  third: 'count' | 'external' | 'nothing',
): [FactKey, unknown][] | MissingFact {
  const key = facts.key(digestOf(tenant));
  if (key === undefined) return new MissingFact(keyOf(tenant));
  const account = facts.account(`account-${tenant}` as AccountId);
  if (account === undefined) return new MissingFact(accountOf(tenant));
  const seen: [FactKey, unknown][] = [
    [keyOf(tenant), key],
    [accountOf(tenant), account],
  ];
  if (third === 'nothing') return seen;
  const parent = String(tenant) as AccountId;
  const last =
    third === 'count' ? facts.activeSubAccounts(parent) : facts.subAccountByExternalId(parent, 'id');
  const name = third === 'count' ? countOf(tenant) : externalOf(tenant);
  return last === undefined ? new MissingFact(name) : [...seen, [name, last]];
}

/** A request with a key that does not exist. */
export function readUnknownKey(number: number): (facts: Facts) => true | MissingFact {
  const digest = digestSecret(`unknown ${number}`);
  return (facts) => (facts.key(digest) === undefined ? new MissingFact(factKey.key(digest)) : true);
}
