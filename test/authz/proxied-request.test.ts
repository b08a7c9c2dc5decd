// class: pure
import t from 'tap';
import { parseAccountId, type AccountId } from '../../src/domain/ids.ts';
import type { MethodKind } from '../../src/domain/acting-decision.ts';
import { credentialReader } from '../../src/authz/authenticate.ts';
import {
  decideProxiedRequest,
  dependencies,
  readProxiedRequest,
  type ProxiedRequest,
  type RouteRules,
} from '../../src/authz/proxied-request.ts';
import { MissingFact, type Facts } from '../../src/ports/directory.ts';
import { factKey, type FactKey } from '../../src/ports/facts.ts';
import { MemoryDirectory, type Holder } from '../support/memory-directory.ts';

const directory = new MemoryDirectory();
const parent = directory.addParent(['tracking:read']);
const child = directory.addSubAccount(parent, 'child', ['tracking:read', 'tracking:write']);
const readCredentials = credentialReader('tgw', []);
const rules: RouteRules = {
  scopes: { read: null, write: null },
  actingHeader: 'X-Service-Acting-Tenant',
};

t.test('facts are asked for one after the other, and no more of them than the request needs', async (t) => {
  for (const [holder, acting, method, expected] of [
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
    t.strictSame(
      askedFor(requestOf(holder, acting, method)),
      expected,
      `${acting ?? 'nothing'} on a ${method}`,
    );
  }
});

t.test('an account that a parent names is loaded in the turn of that parent', (t) => {
  const unknown = '01980000-0000-7000-8000-000000000000';
  for (const acting of [child.id, unknown, 'ext:child']) {
    const last = missingFor(requestOf(parent, acting, 'read')).at(-1);
    t.match(last, { key: /^a:/, tenant: parent.id }, acting);
  }
  t.end();
});

t.test('what is admitted depends on the key, the caller, its parent and the target', async (t) => {
  for (const [holder, acting, expected] of [
    [parent, 'self', [parent.keyKey, parent.accountKey]],
    [parent, 'ext:child', [parent.keyKey, parent.accountKey, child.accountKey]],
    [child, 'self', [child.keyKey, child.accountKey, parent.accountKey]],
  ] as const) {
    const request = requestOf(holder, acting, 'read');
    const decision = decided(request);
    if (!('permit' in decision)) return t.fail(JSON.stringify(decision));
    t.strictSame([...new Set(dependencies(request.digest, decision))].sort(), [...expected].sort());
  }
});

t.test('a route may ask for a scope, by kind of method; the problem names it', async (t) => {
  const scoped = { ...rules, scopes: { read: 'tracking:read', write: 'tracking:write' } };
  t.match(decided(requestOf(parent, 'self', 'read'), scoped), { permit: { resolvedTenant: parent.id } });
  t.match(decided(requestOf(parent, 'self', 'write'), scoped), {
    problem: { code: 'insufficient_scope', detail: /`tracking:write`/, extra: { scope: 'tracking:write' } },
    caller: { keyId: parent.keyId },
  });
  t.match(decided(requestOf(child, 'self', 'write'), scoped), { permit: { resolvedTenant: child.id } });
  const all = { ...rules, scopes: { read: 'tracking', write: null } };
  t.match(decided(requestOf(parent, 'self', 'read'), all), { problem: { code: 'insufficient_scope' } });
});

t.test('acting rules come before the scope of a route', async (t) => {
  const scoped = { ...rules, scopes: { read: null, write: 'nobody:has' } };
  t.match(decided(requestOf(parent, undefined, 'write'), scoped), {
    problem: { code: 'acting_tenant_required' },
  });
});

t.test('an external_id whose account is not there names no tenant', async (t) => {
  const gone = parseAccountId('01890000-0000-7000-8000-000000000000') as AccountId;
  directory.facts.set(factKey.externalId(parent.id, 'gone'), gone);
  t.match(decided(requestOf(parent, 'ext:gone', 'read')), { problem: { code: 'acting_tenant_unknown' } });
});

t.test('a caller is known where the acting rules reject it, and unknown where its key does', async (t) => {
  t.match(decided(requestOf(parent, 'ext:nobody', 'read')), { caller: { accountId: parent.id } });
  const stranger = new MemoryDirectory().addParent();
  t.match(decided(requestOf(stranger, 'self', 'read')), {
    caller: null,
    problem: { code: 'invalid_api_key' },
  });
});

function requestOf(holder: Holder, acting: string | undefined, method: MethodKind): ProxiedRequest {
  const credentials = readCredentials({ authorization: [`Bearer ${holder.key}`], apiKeys: [] });
  const request = readProxiedRequest(credentials, acting === undefined ? [] : [acting], method);
  if ('problem' in request) throw new Error(request.problem.detail);
  return request;
}

function decided(request: ProxiedRequest, withRules = rules) {
  const decision = directory.decide((facts) => decideProxiedRequest(facts, request, withRules, 0));
  if (decision === undefined) throw new Error('a fact is missing');
  return decision;
}

function askedFor(request: ProxiedRequest): FactKey[] {
  return missingFor(request).map(({ key }) => key);
}

/** The facts a decision asks for where it is given each of them only after it asked. */
function missingFor(request: ProxiedRequest): MissingFact[] {
  const missing: MissingFact[] = [];
  const given = new Set<FactKey>();
  const find = (key: FactKey) => (given.has(key) ? (directory.facts.get(key) ?? null) : undefined) as never;
  const facts: Facts = {
    key: (digest) => find(factKey.key(digest)),
    account: (id) => find(factKey.account(id)),
    subAccountByExternalId: (owner, externalId) => find(factKey.externalId(owner, externalId)),
    activeSubAccounts: (owner) => find(factKey.activeSubAccounts(owner)),
    plan: (name) => find(factKey.plan(name)),
  };
  for (;;) {
    const outcome = decideProxiedRequest(facts, request, rules, 0);
    if (!(outcome instanceof MissingFact)) return missing;
    if (given.has(outcome.key)) throw new Error(`${outcome.key} was asked for twice`);
    given.add(outcome.key);
    missing.push(outcome);
  }
}
