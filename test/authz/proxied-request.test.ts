import t from 'tap';
import { parseAccountId, type AccountId } from '../../src/domain/ids.ts';
import type { MethodKind } from '../../src/domain/method.ts';
import {
  admit,
  factsLivedBy,
  readClaims,
  type AdmissionRules,
  type Claims,
} from '../../src/authz/proxied-request.ts';
import { Wanted, type Facts } from '../../src/ports/directory.ts';
import { factKey, type FactKey } from '../../src/ports/facts.ts';
import { MemoryDirectory, type Holder } from '../support/memory-directory.ts';

const directory = new MemoryDirectory();
const parent = directory.addParent(['tracking:read']);
const child = directory.addSubAccount(parent, 'child', ['tracking:read', 'tracking:write']);
const rules: AdmissionRules = {
  scopes: { read: null, write: null },
  actingHeader: 'X-Service-Acting-Tenant',
};

t.test('facts are asked for one after the other, and no more of them than the request needs', async (t) => {
  for (const [holder, acting, method, wanted] of [
    [parent, undefined, 'read', [parent.keyKey, parent.accountKey]],
    [parent, undefined, 'write', [parent.keyKey, parent.accountKey, factKey.activeSubAccounts(parent.id)]],
    [parent, 'self', 'write', [parent.keyKey, parent.accountKey]],
    [parent, child.id, 'read', [parent.keyKey, parent.accountKey, child.accountKey]],
    [
      parent,
      'ext:child',
      'write',
      [parent.keyKey, parent.accountKey, factKey.externalId(parent.id, 'child'), child.accountKey],
    ],
    [child, undefined, 'write', [child.keyKey, child.accountKey, parent.accountKey]],
    [child, 'ext:child', 'read', [child.keyKey, child.accountKey, parent.accountKey]],
  ] as const) {
    t.strictSame(wantedBy(claimsOf(holder, acting, method)), wanted, `${acting ?? 'nothing'} on a ${method}`);
  }
});

t.test('what is admitted lives by the key, the caller, its parent and the target', async (t) => {
  for (const [holder, acting, expected] of [
    [parent, 'self', [parent.keyKey, parent.accountKey]],
    [parent, 'ext:child', [parent.keyKey, parent.accountKey, child.accountKey]],
    [child, 'self', [child.keyKey, child.accountKey, parent.accountKey]],
  ] as const) {
    const claims = claimsOf(holder, acting, 'read');
    const verdict = settled(claims);
    if (!('permit' in verdict)) return t.fail(JSON.stringify(verdict));
    t.strictSame([...new Set(factsLivedBy(claims.digest, verdict))].sort(), [...expected].sort());
  }
});

t.test('a route may ask for a scope, by kind of method; the refusal names it', async (t) => {
  const scoped = { ...rules, scopes: { read: 'tracking:read', write: 'tracking:write' } };
  t.match(settled(claimsOf(parent, 'self', 'read'), scoped), { permit: { resolvedTenant: parent.id } });
  t.match(settled(claimsOf(parent, 'self', 'write'), scoped), {
    problem: { code: 'insufficient_scope', detail: /`tracking:write`/, extra: { scope: 'tracking:write' } },
    caller: { keyId: parent.keyId },
  });
  t.match(settled(claimsOf(child, 'self', 'write'), scoped), { permit: { resolvedTenant: child.id } });
  const all = { ...rules, scopes: { read: 'tracking', write: null } };
  t.match(settled(claimsOf(parent, 'self', 'read'), all), { problem: { code: 'insufficient_scope' } });
});

t.test('acting rules come before the scope of a route', async (t) => {
  const scoped = { ...rules, scopes: { read: null, write: 'nobody:has' } };
  t.match(settled(claimsOf(parent, undefined, 'write'), scoped), {
    problem: { code: 'acting_tenant_required' },
  });
});

t.test('an external_id whose account is not there names nobody', async (t) => {
  const gone = parseAccountId('01890000-0000-7000-8000-000000000000') as AccountId;
  directory.facts.set(factKey.externalId(parent.id, 'gone'), gone);
  t.match(settled(claimsOf(parent, 'ext:gone', 'read')), { problem: { code: 'acting_tenant_unknown' } });
});

t.test('a caller is known where the acting rules refuse it, and unknown where its key does', async (t) => {
  t.match(settled(claimsOf(parent, 'ext:nobody', 'read')), { caller: { accountId: parent.id } });
  const stranger = new MemoryDirectory().addParent();
  t.match(settled(claimsOf(stranger, 'self', 'read')), {
    caller: null,
    problem: { code: 'invalid_api_key' },
  });
});

function claimsOf(holder: Holder, acting: string | undefined, method: MethodKind): Claims {
  const claims = readClaims([`Bearer ${holder.key}`], acting === undefined ? [] : [acting], method);
  if ('problem' in claims) throw new Error(claims.problem.detail);
  return claims;
}

function settled(claims: Claims, withRules = rules): Exclude<ReturnType<typeof admit>, Wanted> {
  let outcome: ReturnType<typeof admit> | undefined;
  directory.settle(
    (facts) => admit(facts, claims, withRules, 0),
    (settled) => (outcome = settled),
    (error) => {
      throw error;
    },
  );
  return outcome as Exclude<ReturnType<typeof admit>, Wanted>;
}

/** The facts a decision asks for where it is given each of them only after it asked. */
function wantedBy(claims: Claims): FactKey[] {
  const given = new Set<FactKey>();
  const find = (key: FactKey) => (given.has(key) ? (directory.facts.get(key) ?? null) : undefined) as never;
  const facts: Facts = {
    key: (digest) => find(factKey.key(digest)),
    account: (id) => find(factKey.account(id)),
    subAccountByExternalId: (owner, externalId) => find(factKey.externalId(owner, externalId)),
    activeSubAccounts: (owner) => find(factKey.activeSubAccounts(owner)),
  };
  for (;;) {
    const outcome = admit(facts, claims, rules, 0);
    if (!(outcome instanceof Wanted)) return [...given];
    if (given.has(outcome.key)) throw new Error(`${outcome.key} was asked for twice`);
    given.add(outcome.key);
  }
}
