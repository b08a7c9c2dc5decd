// class: pure
import t from 'tap';
import {
  decide,
  factsNeeded,
  rejectingFacts,
  type ActingFacts,
  type ActingTarget,
  type ActingHeader,
  type MethodKind,
} from '../../src/domain/acting-decision.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { parseAccountId, parseKeyId, type AccountId } from '../../src/domain/ids.ts';
import type { ProblemCode } from '../../src/domain/problem.ts';

// The table of the acting rules, complete by type: a caller, header, method or fact without an outcome does not compile.

type Header =
  'absent' | 'self' | 'own uuid' | 'own external_id' | 'other uuid' | 'other external_id' | 'malformed';
type Count = 'no active sub-account' | 'some active sub-account';
type Target = 'unknown' | 'foreign' | 'active' | 'deactivated' | 'suspended';
type Outcome = 'as itself' | 'as the sub-account' | ProblemCode;

type Table = Record<
  Caller['kind'],
  Record<Header, Record<MethodKind, Record<Count, Record<Target, Outcome>>>>
>;

const byTarget: Record<Target, Outcome> = {
  unknown: 'acting_tenant_unknown',
  foreign: 'acting_tenant_unknown',
  active: 'as the sub-account',
  deactivated: 'acting_tenant_deactivated',
  suspended: 'acting_tenant_deactivated',
};
const targets = Object.keys(byTarget) as Target[];

const every = (
  outcomes: Record<Target, Outcome>,
): Record<MethodKind, Record<Count, Record<Target, Outcome>>> => ({
  read: { 'no active sub-account': outcomes, 'some active sub-account': outcomes },
  write: { 'no active sub-account': outcomes, 'some active sub-account': outcomes },
});
const whatever = (outcome: Outcome): Record<Target, Outcome> => ({
  unknown: outcome,
  foreign: outcome,
  active: outcome,
  deactivated: outcome,
  suspended: outcome,
});
const asTarget = every(byTarget);
const always = (outcome: Outcome) => every(whatever(outcome));

const table: Table = {
  parent: {
    absent: {
      ...always('as itself'),
      write: {
        'no active sub-account': whatever('as itself'),
        'some active sub-account': whatever('acting_tenant_required'),
      },
    },
    self: always('as itself'),
    'own uuid': always('as itself'),
    // A parent's own external_id is the operator's name for it: `ext:` always asks for a sub-account.
    'own external_id': asTarget,
    'other uuid': asTarget,
    'other external_id': asTarget,
    malformed: always('invalid_acting_tenant'),
  },
  'sub-account': {
    absent: always('as itself'),
    self: always('as itself'),
    'own uuid': always('as itself'),
    'own external_id': always('as itself'),
    'other uuid': always('acting_tenant_forbidden'),
    'other external_id': always('acting_tenant_forbidden'),
    malformed: always('acting_tenant_forbidden'),
  },
};

const parentId = account('018f0000-0000-7000-8000-000000000001');
const subId = account('018f0000-0000-7000-8000-000000000002');
const otherId = account('018f0000-0000-7000-8000-000000000003');
const foreignParentId = account('018f0000-0000-7000-8000-000000000009');
const keyId = parseKeyId('018f0000-0000-7000-8000-0000000000aa') ?? fail();

const callers: Record<Caller['kind'], Caller> = {
  parent: { kind: 'parent', accountId: parentId, keyId, scopes: [], externalId: 'own' },
  'sub-account': {
    kind: 'sub-account',
    accountId: subId,
    keyId,
    scopes: [],
    externalId: 'own',
    parentId,
    parentExternalId: "the parent's",
  },
};

function headerFor(caller: Caller, header: Header): ActingHeader {
  const headers: Record<Header, ActingHeader> = {
    absent: { form: 'absent' },
    self: { form: 'self' },
    'own uuid': { form: 'uuid', id: caller.accountId },
    'own external_id': { form: 'external-id', externalId: 'own' },
    'other uuid': { form: 'uuid', id: otherId },
    'other external_id': { form: 'external-id', externalId: 'other' },
    malformed: { form: 'malformed', reason: 'It is empty.' },
  };
  return headers[header];
}

function targetFor(target: Target): ActingTarget | null {
  switch (target) {
    case 'unknown':
      return null;
    case 'foreign':
      return { id: otherId, parentId: foreignParentId, externalId: 'other', status: 'active' };
    case 'active':
    case 'deactivated':
    case 'suspended':
      return { id: otherId, parentId, externalId: 'other', status: target };
  }
}

/** What a permit says beside whom it is for. */
function tenantsOf(kind: Caller['kind'], outcome: Outcome): object {
  return {
    resolvedTenant: outcome === 'as the sub-account' ? otherId : kind === 'parent' ? parentId : subId,
    resolvedExternalId: outcome === 'as the sub-account' ? 'other' : 'own',
    parentTenant: parentId,
    parentExternalId: kind === 'parent' ? 'own' : "the parent's",
  };
}

t.test('the acting rules decide every row of their table', async (t) => {
  let rows = 0;
  for (const [kind, byHeader] of entries(table)) {
    for (const [header, byMethod] of entries(byHeader)) {
      for (const [method, byCount] of entries(byMethod)) {
        for (const [count, outcomes] of entries(byCount)) {
          for (const target of targets) {
            const caller = callers[kind];
            const facts: ActingFacts = {
              hasActiveSubAccounts: count === 'some active sub-account',
              target: targetFor(target),
            };
            const decision = decide(
              caller,
              headerFor(caller, header),
              method,
              facts,
              'X-Service-Acting-Tenant',
            );
            const outcome: Outcome =
              decision.kind === 'rejection'
                ? decision.problem.code
                : decision.resolvedTenant === caller.accountId
                  ? 'as itself'
                  : 'as the sub-account';
            if (decision.kind === 'permit') t.match(decision, tenantsOf(kind, outcome));
            t.equal(outcome, outcomes[target], `${kind}, ${header}, ${method}, ${count}, target ${target}`);
            rows++;
          }
        }
      }
    }
  }
  t.equal(rows, 2 * 7 * 2 * 2 * 5);
});

t.test('a decision depends on no fact that was not asked for', async (t) => {
  for (const [kind, byHeader] of entries(table)) {
    for (const header of Object.keys(byHeader) as Header[]) {
      for (const method of ['read', 'write'] as const) {
        const caller = callers[kind];
        const acting = headerFor(caller, header);
        const needed = factsNeeded(caller, acting, method).fact;
        const outcomes = new Set<string>();
        for (const hasActiveSubAccounts of needed === 'active-sub-accounts' ? [true] : [true, false]) {
          for (const target of needed.startsWith('target') ? [null] : targets.map(targetFor)) {
            const facts = { hasActiveSubAccounts, target };
            outcomes.add(JSON.stringify(decide(caller, acting, method, facts, 'X-Service-Acting-Tenant')));
          }
        }
        t.equal(outcomes.size, 1, `${kind}, ${header}, ${method} needs ${needed}`);
      }
    }
  }
});

t.test('facts that were not looked up permit nothing that depends on them', async (t) => {
  for (const header of ['other uuid', 'other external_id'] as const) {
    const decision = decide(callers.parent, headerFor(callers.parent, header), 'read', rejectingFacts, 'X');
    t.equal(decision.kind, 'rejection');
  }
  t.equal(decide(callers.parent, { form: 'absent' }, 'write', rejectingFacts, 'X').kind, 'rejection');
});

t.test('the rejection of a write without the header names the three forms', async (t) => {
  const name = 'X-Service-Acting-Tenant';
  const decision = decide(callers.parent, { form: 'absent' }, 'write', rejectingFacts, name);
  const detail = decision.kind === 'rejection' ? decision.problem.detail : '';
  for (const form of ['self', '<sub-account UUID>', 'ext:<external_id>'])
    t.ok(detail.includes(`${name}: ${form}`), form);
});

function entries<Key extends string, Value>(record: Record<Key, Value>): [Key, Value][] {
  return Object.entries(record) as [Key, Value][];
}

function account(text: string): AccountId {
  return parseAccountId(text) ?? fail();
}

function fail(): never {
  throw new Error('not a UUID');
}
