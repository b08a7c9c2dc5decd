// class: app
/** An explanation says which change ended the right of a key, and who made it. */
import t from 'tap';
import { startReplicas } from '../../support/replicas.ts';

const alice = 'the-token-of-alice-in-these-tests-01';

const { operator, parent: newParent } = await startReplicas(t, `internal: {admin_tokens: {alice: ${alice}}}`);

async function endedBy(key_id: string, acting_tenant?: string): Promise<unknown> {
  const body = { key_id, method: 'GET', path: '/x', ...(acting_tenant !== undefined && { acting_tenant }) };
  return (await operator('POST', '/explain', { body })).body['ended_by'];
}

t.test('the operator who suspended, deactivated, revoked or rotated is named', async (t) => {
  const parent = await newParent();
  const child = await parent.create();
  const mint = async (): Promise<string> => {
    const { body } = await parent.call('POST', `/${child.id}/api-keys`, { body: { name: 'k' } });
    return String(body['id']);
  };
  const [childKey, revoked, other, rotated] = [await mint(), await mint(), await mint(), await mint()];
  const asAlice = async (path: string, body?: object): Promise<void> => {
    const { status } = await operator('POST', path, { key: alice, ...(body && { body }) });
    t.ok(status < 300, path);
  };
  const sub = `/accounts/${parent.id}/sub-accounts/${child.id}`;
  t.equal(await endedBy(childKey), null);

  await asAlice(`/api-keys/${revoked}/revoke`);
  await operator('POST', `/api-keys/${other}/revoke`);
  await asAlice(`/api-keys/${rotated}/rotate`, { expires_in: 0 });
  t.match(await endedBy(revoked), { type: 'api_key.revoked', by: 'operator', name: 'alice' });
  t.match(await endedBy(other), { type: 'api_key.revoked', by: 'operator', name: 'operator' });
  t.match(await endedBy(rotated), { type: 'api_key.rotated', by: 'operator', name: 'alice' });

  await asAlice(`${sub}/deactivate`);
  t.match(await endedBy(childKey), { type: 'sub_account.deactivated', name: 'alice' });
  await operator('POST', `${sub}/reactivate`);
  t.equal(await endedBy(childKey), null);
  await asAlice(`/accounts/${parent.id}/suspend`);
  for (const keyId of [childKey, parent.keyId])
    t.match(await endedBy(keyId), { type: 'account.suspended', by: 'operator', name: 'alice' });
});

t.test('so is who ended the sub-account that a request would act as', async (t) => {
  const [parent, stranger] = [await newParent(), await newParent()];
  const child = await parent.create({ name: 'Child', external_id: 'child' });
  const path = `/accounts/${parent.id}/sub-accounts/${child.id}`;
  for (const acting of [child.id, 'ext:unknown']) t.equal(await endedBy(parent.keyId, acting), null);
  t.equal((await operator('POST', `${path}/deactivate`, { key: alice })).status, 200);
  for (const acting of [child.id, 'ext:child'])
    t.match(await endedBy(parent.keyId, acting), { type: 'sub_account.deactivated', name: 'alice' });
  t.equal((await operator('DELETE', path, { key: alice })).status, 204);
  t.match(await endedBy(parent.keyId, child.id), { type: 'sub_account.deleted', name: 'alice' });
  t.equal(await endedBy(parent.keyId, 'ext:child'), null, 'nothing knows what it was called');
  t.equal(await endedBy(stranger.keyId, child.id), null, 'of another parent');
});
