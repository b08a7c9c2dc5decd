// class: app
/** What was done once for an `Idempotency-Key` is not done again, whichever version was asked first. */
import t from 'tap';
import {
  problemCode,
  createParent,
  keyDraft,
  newAccountId,
  subAccountDraft,
} from '../../../support/store.ts';
import { databaseOf010, newClaim, of010 } from '../../../support/release-010.ts';

const noLimit = 1_000;

t.test('what 0.1.0 did for an Idempotency-Key is replayed by this version', async (t) => {
  const { sql, store } = await databaseOf010(t);
  const old = of010(sql);
  const [founding, creating, minting, revoking, deactivating, suspending] = Array.from(
    { length: 6 },
    newClaim,
  );
  if (!founding || !creating || !minting || !revoking || !deactivating || !suspending) return;
  const parent = (await old.createParentOnce(founding)).account.id;
  const sub = (await old.createSub(parent, creating)).account.id;
  const key = (await old.createKey(sub, minting)).key.id;
  await old.revokeKey(sub, key, revoking);
  await old.setStatus(parent, sub, 'deactivated', deactivating);
  await old.setParentStatus(parent, 'suspended', suspending);

  await store.migrate();
  const { tenants, log } = store;
  const { seq: now } = await log.replicas();
  t.match(await tenants.createParent({ id: newAccountId(), name: 'Parent' }, founding), {
    value: { id: parent, status: 'active' },
    replayed: true,
  });
  t.match(await tenants.createSubAccount(parent, subAccountDraft(), noLimit, creating), {
    value: { id: sub, status: 'active' },
    seq: now,
    replayed: true,
  });
  t.match(await tenants.createKey(sub, keyDraft(), noLimit, minting), {
    id: key,
    revokedAt: null,
    replayed: true,
  });
  t.match(await tenants.revokeKey(sub, key, revoking), { value: { id: key, revokedAt: Date }, seq: now });
  t.match(await tenants.setSubAccountStatus(parent, sub, 'deactivated', deactivating), { seq: now });
  t.match(await tenants.setParentStatus(parent, 'suspended', suspending), { seq: now });
  const other = { ...creating, fingerprint: minting.fingerprint };
  t.equal(
    await problemCode(tenants.createSubAccount(parent, subAccountDraft(), noLimit, other)),
    'idempotency_mismatch',
  );
  t.equal((await tenants.listSubAccounts(parent, {}, { limit: 9 })).rows.length, 1);
});

t.test('what this version did for an Idempotency-Key is replayed by 0.1.0', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const { tenants, log } = store;
  const old = of010(sql);
  const [founding, creating, minting, revoking, deactivating] = Array.from({ length: 5 }, newClaim);
  if (!founding || !creating || !minting || !revoking || !deactivating) return;
  const { id: parent } = await createParent(tenants, {}, founding);
  const draft = subAccountDraft();
  await tenants.createSubAccount(parent, draft, noLimit, creating);
  const key = keyDraft();
  await tenants.createKey(draft.id, key, noLimit, minting);
  await tenants.revokeKey(draft.id, key.id, revoking);
  await tenants.setSubAccountStatus(parent, draft.id, 'deactivated', deactivating);

  const { seq: now } = await log.replicas();
  t.match(await old.createParentOnce(founding), { outcome: 'again', account: { id: parent } });
  t.match(await old.createSub(parent, creating), { outcome: 'again', account: { id: draft.id }, seq: now });
  t.match(await old.createKey(draft.id, minting), { outcome: 'again', key: { id: key.id } });
  t.match(await old.revokeKey(draft.id, key.id, revoking), { outcome: 'done', seq: now });
  t.match(await old.setStatus(parent, draft.id, 'deactivated', deactivating), { outcome: 'done', seq: now });
  t.match(await old.createSub(parent, { ...creating, fingerprint: minting.fingerprint }), {
    outcome: 'mismatch',
  });
  await sql.begin(async (tx) => {
    const claim = newClaim();
    await of010(tx).createSub(parent, claim);
    t.equal(
      await problemCode(tenants.createSubAccount(parent, subAccountDraft(), noLimit, claim)),
      'idempotency_in_flight',
    );
  });
});
