// class: app
/** Databases whose settings silence triggers, or make PostgreSQL write values in another form. */
import t from 'tap';
import type { Store } from '../../../src/adapters/postgres/store.ts';
import { factKey } from '../../../src/ports/facts.ts';
import { foreignKey, keyDraft, newAccountId, planTerms } from '../../support/drafts.ts';
import { disabledTriggers } from '../../support/triggers-off.ts';
import { createKey, createParent, createSub, freshStore, problemCode, storeAt } from '../../support/store.ts';

/** Each change that ends or moves a right, made to rows of its own. Those of triggers that are gone leave no event. */
const changes: Readonly<Record<string, (world: Awaited<ReturnType<typeof newWorld>>) => Promise<unknown>>> = {
  revoke: ({ tenants, sub, key }) => tenants.revokeKey(sub, key),
  'revoke all': ({ tenants, sub }) => tenants.revokeAllKeys(sub),
  rotate: ({ tenants, sub, key }) => tenants.rotateKey(sub, key, { ...keyDraft(), overlapS: 0 }),
  'rotate later': ({ tenants, sub, key }) => tenants.rotateKey(sub, key, { ...keyDraft(), overlapS: 60 }),
  expire: ({ tenants, sub, key }) => tenants.updateKey(sub, key, { expiresAt: new Date() }),
  'limit a key': ({ tenants, sub, key }) => tenants.updateKey(sub, key, { limits: { requestsPerSecond: 5 } }),
  import: ({ tenants, parent, sub }) => tenants.importKeys(parent, [foreignKey(sub)], 9),
  deactivate: ({ tenants, parent, sub }) => tenants.setSubAccountStatus(parent, sub, 'deactivated'),
  suspend: ({ tenants, parent }) => tenants.setParentStatus(parent, 'suspended'),
  move: ({ tenants, parent, sub }) => tenants.updateSubAccount(parent, sub, { externalId: 'moved' }),
  limit: ({ tenants, parent, sub }) =>
    tenants.updateSubAccount(parent, sub, { limits: { requestsPerDay: 5 } }),
  'limit a parent': ({ tenants, parent }) => tenants.updateParent(parent, { limits: { requestsPerDay: 5 } }),
  delete: ({ tenants, parent, idle }) => tenants.deleteSubAccount(parent, idle),
  'a first sub-account': async ({ tenants, childless }) => createSub(tenants, childless),
  'delete a plan': ({ tenants, plan }) => tenants.deletePlan(plan),
};

async function newWorld({ tenants }: Store) {
  const parent = (await createParent(tenants)).id;
  const childless = (await createParent(tenants)).id;
  const sub = (await createSub(tenants, parent, { externalId: 'old' })).value.id;
  const idle = (await createSub(tenants, parent)).value.id;
  await tenants.setSubAccountStatus(parent, idle, 'deactivated');
  const { key } = await createKey(tenants, sub);
  const plan = `p-${newAccountId()}`;
  await tenants.putPlan(plan, planTerms({ requestsPerDay: 9 }));
  return { tenants, parent, childless, sub, idle, key: key.id, plan };
}

/** Ways to silence the triggers that note facts. */
const silences = {
  'a role for replication': `do $$ begin
    execute format('alter database %I set session_replication_role = replica', current_database()); end $$`,
  'disabled triggers': disabledTriggers.join(';'),
  'dropped triggers': [
    'account_changed',
    'account_quota_changed',
    'api_key_created',
    'api_key_changed',
    'plan_changed',
  ]
    .map((name) => `drop trigger ${name} on ${name.replace(/(?:_quota)?_(?:created|changed)$/, '')}`)
    .join(';'),
};
for (const [silence, statements] of Object.entries(silences))
  t.test(`no change is said to be enforced that replicas do not hear of: ${silence}`, async (t) => {
    const { url, store, sql } = await freshStore(t);
    const worlds = new Map<string, Awaited<ReturnType<typeof newWorld>>>();
    for (const name of Object.keys(changes)) worlds.set(name, await newWorld(store));
    await sql.unsafe(statements);
    const { tenants, events } = storeAt(t, url);
    const rows = () => sql`
      select (select json_agg(a order by id) from account a), (select json_agg(k order by id) from api_key k) as keys`;
    const before = JSON.stringify(await rows());
    const told = (await events.list({}, { limit: 1 })).rows[0]?.id;
    for (const [name, change] of Object.entries(changes)) {
      const world = worlds.get(name);
      if (world) t.equal(await problemCode(change({ ...world, tenants })), 'unavailable', name);
    }
    t.ok(JSON.stringify(await rows()) === before, 'nothing was changed');
    t.equal((await events.list({}, { limit: 1 })).rows[0]?.id, told);
  });

/** Defaults that change how PostgreSQL writes or reads values, or which rows it shows. */
const forms: readonly string[] = [
  "datestyle = 'German'",
  "datestyle = 'SQL, DMY'",
  "bytea_output = 'escape'",
  'standard_conforming_strings = off',
  'extra_float_digits = -15',
];
for (const form of forms)
  t.test(`values are read as they are stored: ${form}`, async (t) => {
    const { url, sql } = await freshStore(t);
    await sql.unsafe(
      `do $do$ begin execute format('alter database %I set ${form.replaceAll("'", "''")}', current_database()); end $do$`,
    );
    const { tenants, facts, events } = storeAt(t, url);
    const expiresAt = new Date(Date.now() + 3_600_000);
    const parent = await createParent(tenants);
    const { key, digest } = await createKey(tenants, parent.id, { expiresAt });
    const read = (await facts.readFacts([factKey.key(digest)])).facts.get(factKey.key(digest));
    t.match(read, { keyId: key.id, expiresAtMs: +expiresAt });
    t.same((await tenants.getKey(parent.id, key.id))?.expiresAt, expiresAt);
    const [event] = (await events.list({}, { limit: 1 })).rows;
    t.ok(Math.abs(Date.now() - +(event?.createdAt ?? 0)) < 3_600_000);

    const pooled = storeAt(t, `${url}?prepare=false`);
    await t.rejects(
      pooled.ping(),
      { cause: { code: 'TG003', message: form.split(' ')[0] } },
      'a pooler keeps it',
    );
    t.equal(await problemCode(createParent(pooled.tenants)), 'unavailable');
  });

t.test('a key that a policy hides is not taken for an unknown one', async (t) => {
  const { url, store, sql } = await freshStore(t);
  const { digest } = await createKey(store.tenants, (await createParent(store.tenants)).id);
  await sql.unsafe(`create role reader login; grant pg_read_all_data, pg_write_all_data to reader;
    alter table api_key enable row level security`);
  const as = (query: string) => storeAt(t, Object.assign(new URL(url + query), { username: 'reader' }).href);
  t.equal(await problemCode(as('').facts.readFacts([factKey.key(digest)])), 'unavailable');
  await t.rejects(as('?prepare=false').ping(), { cause: { message: /row security/ } });
});
