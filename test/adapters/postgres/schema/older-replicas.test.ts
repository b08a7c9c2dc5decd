// class: app
/** Replicas of 0.1.0 call the functions of schema 6 by their names; one may run beside this version on one database. */
import t from 'tap';
import type { AccountId, KeyId } from '../../../../src/domain/ids.ts';
import type { IdempotencyClaim } from '../../../../src/ports/changes.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  databaseOf010,
  newClaim,
  of010,
  positionOf,
  read010,
  register010,
  type Row,
} from '../../../support/release-010.ts';
import { createParent, keyDraft, newAccountId, newKeyId, problemCode } from '../../../support/store.ts';

const noLimit = 1_000;

t.test('accounts from before the upgrade are listed, and those that 0.1.0 makes beside it', async (t) => {
  const { sql, store } = await databaseOf010(t);
  const old = of010(sql);
  const [first, second] = [await old.createParent(), await old.createParent()];
  const made = [(await old.createSub(first)).account.id, (await old.createSub(first)).account.id];
  await store.migrate();
  const third = await old.createParent();
  made.push((await old.createSub(first)).account.id);
  const idsOf = ({ rows }: { readonly rows: readonly { readonly id: AccountId }[] }): AccountId[] =>
    rows.map(({ id }) => id).sort();
  const { tenants } = store;
  t.same(idsOf(await tenants.listParents({}, { limit: 9 })), [first, second, third].sort());
  t.same(idsOf(await tenants.listSubAccounts(first, {}, { limit: 9 })), made.sort());
});

t.test('a parent gets an external_id once no replica is left that would not send it', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const { tenants } = store;
  const { id } = await createParent(tenants);
  await register010(sql, 'old');
  const draft = { id: newAccountId(), name: 'Named', externalId: 'named' };
  t.equal(await problemCode(tenants.createParent(draft)), 'unavailable');
  t.equal(await problemCode(tenants.updateParent(id, { externalId: 'named' })), 'unavailable');
  t.match(await tenants.updateParent(id, { name: 'N', metadata: { a: 'b' } }), { value: { name: 'N' } });
  t.match(await tenants.updateParent(id, { externalId: null }), { value: { externalId: null } });

  await sql`delete from replica`;
  t.match(await tenants.createParent(draft), { value: { externalId: 'named' } });
  await t.rejects(register010(sql, 'old'), { code: 'TG002' });
});

t.test(
  'beside 0.1.0, whose streams would outlive it, another expiry ends the streams of the key',
  async (t) => {
    const { sql, store } = await databaseOf010(t);
    await store.migrate();
    const { tenants, log } = store;
    const { id } = await createParent(tenants);
    const { id: key } = (await tenants.createKey(id, keyDraft(), noLimit)) as { id: KeyId };
    const withdrawn = async (change: () => Promise<unknown>): Promise<boolean[]> => {
      const { seq } = await log.replicas();
      await change();
      return (await log.readAfter(seq, 10)).entries.map(({ revoked }) => revoked);
    };
    const inHours = (hours: number) => () =>
      tenants.updateKey(id, key, { expiresAt: new Date(Date.now() + hours * 3_600_000) });
    const { name: _name, scopes: _scopes, ...draft } = keyDraft();
    t.same(await withdrawn(inHours(5)), [false]);
    await register010(sql, 'old');
    t.same(await withdrawn(inHours(4)), [true]);
    t.same(await withdrawn(() => tenants.rotateKey(id, key, { ...draft, overlapS: 60 })), [true]);
    await sql`delete from replica`;
    t.same(await withdrawn(() => tenants.updateKey(id, key, { expiresAt: null })), [false]);

    // One that comes while the change waits for its position.
    let changed: Promise<boolean[]> | undefined;
    await sql.begin(async (tx) => {
      await tx`select from coherence_seq for update`;
      changed = withdrawn(inHours(3));
      await eventually(async () => {
        const rows = await tx`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
        return rows.length === 1;
      });
      await register010(tx, 'old');
    });
    t.same(await changed, [true]);
  },
);

t.test('a batch of usage that 0.1.0 adds says when a key was used by its hour', async (t) => {
  const { sql, store } = await databaseOf010(t);
  await store.migrate();
  const { tenants } = store;
  const { id } = await createParent(tenants);
  const { id: key } = (await tenants.createKey(id, keyDraft(), noLimit)) as { id: KeyId };
  const counts = {
    ...{ account_id: id, key_id: key, hour: '2026-01-01T10:00:00Z', requests: 1, reads: 1, writes: 0 },
    ...{ client_errors: 0, server_errors: 0, bytes_in: 0, bytes_out: 0 },
  };
  await sql`select usage_add('batch', ${sql.json([counts])}, 'old', 0)`;
  t.same((await tenants.getKey(id, key))?.lastUsedAt, new Date('2026-01-01T11:00:00Z'));
});

t.test('0.1.0 makes every change on the migrated database, and leaves the same in the log', async (t) => {
  const { sql, store } = await databaseOf010(t);

  /** Every change of 0.1.0, with or without a claim: what each returned and logged, ids left out. */
  async function everyChange(claim: () => IdempotencyClaim | undefined): Promise<readonly unknown[]> {
    const old = of010(sql);
    const parent = await old.createParent();
    const steps: unknown[] = [];
    let before = await positionOf(sql);
    const step = async (change: Promise<Row>): Promise<Row> => {
      const row = await change;
      const [seq, { entries }] = [await positionOf(sql), await read010(sql, before)];
      steps.push({
        members: Object.keys(row),
        outcome: row.outcome,
        waitsFor: row.seq === null || row.seq === undefined ? 'nothing' : row.seq - before,
        logged: entries.map(([, key, withdrawn]) => [key.slice(0, 2), withdrawn]).sort(),
      });
      before = seq;
      return row;
    };
    const sub = (await step(old.createSub(parent, claim()))).account.id;
    await step(old.createSub(parent, claim()));
    await step(old.rename(parent, sub, 'new'));
    const key = (await step(old.createKey(sub, claim()))).key.id;
    for (let i = 0; i < 2; i++) await step(old.revokeKey(sub, key, claim()));
    for (let i = 0; i < 2; i++) await step(old.setStatus(parent, sub, 'deactivated', claim()));
    await step(old.setStatus(parent, sub, 'active', claim()));
    for (let i = 0; i < 2; i++) await step(old.setParentStatus(parent, 'suspended', claim()));
    await step(old.setStatus(parent, newAccountId(), 'active', claim()));
    await step(old.revokeKey(parent, newKeyId(), claim()));
    return steps;
  }

  const before = [await everyChange(() => undefined), await everyChange(newClaim)];
  await store.migrate();
  t.same([await everyChange(() => undefined), await everyChange(newClaim)], before);
});
