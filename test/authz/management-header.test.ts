// class: pure
import t from 'tap';
import { managementHeaderFault } from '../../src/authz/management-call.ts';
import type { ActingHeader, MethodKind } from '../../src/domain/acting-decision.ts';
import { parseAccountId, type AccountId } from '../../src/domain/ids.ts';
import type { ProblemCode } from '../../src/domain/problem.ts';

const parentId = account('018f0000-0000-7000-8000-000000000001');
const otherId = account('018f0000-0000-7000-8000-000000000003');

t.test('on management calls the header may only repeat that the parent acts as itself', async (t) => {
  const outcomes: [ActingHeader, ProblemCode | undefined][] = [
    [{ form: 'absent' }, undefined],
    [{ form: 'self' }, undefined],
    [{ form: 'uuid', id: parentId }, undefined],
    [{ form: 'uuid', id: otherId }, 'acting_tenant_forbidden'],
    [{ form: 'external-id', externalId: 'own' }, 'acting_tenant_forbidden'],
    [{ form: 'external-id', externalId: 'other' }, 'acting_tenant_forbidden'],
    [{ form: 'malformed', reason: 'It is empty.' }, 'invalid_acting_tenant'],
  ];
  for (const [header, code] of outcomes) {
    for (const method of ['read', 'write'] as const) {
      const rule = { required: false, hasActiveSubAccounts: true };
      const fault = managementHeaderFault(parentId, header, method, rule, 'X');
      t.equal(fault?.code, code, `${JSON.stringify(header)}, ${method}`);
    }
  }
});

t.test(
  'with require_acting_header a management write needs the header while a sub-account is active',
  async (t) => {
    const fault = (method: MethodKind, required: boolean, hasActiveSubAccounts: boolean) =>
      managementHeaderFault(parentId, { form: 'absent' }, method, { required, hasActiveSubAccounts }, 'X')
        ?.code;
    t.equal(fault('write', true, true), 'acting_tenant_required');
    t.equal(fault('write', true, false), undefined);
    t.equal(fault('read', true, true), undefined);
    t.equal(fault('write', false, true), undefined);
  },
);

function account(text: string): AccountId {
  const id = parseAccountId(text);
  if (id === undefined) throw new Error('not a UUID');
  return id;
}
