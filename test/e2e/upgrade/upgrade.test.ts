// class: real
/** From each earlier version to this one and back, under load. */
import t, { type Test } from 'tap';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { becomes, readiness } from '../../support/process.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import {
  isNotTakenOver,
  isOpenThere,
  isRefused,
  newerYaml,
  olderFile,
  portalAt,
} from './support/configuration.ts';
import { endsFromThere, isWatched } from './support/portal.ts';
import { idleTransaction, stoppedDump } from './support/locks.ts';
import {
  apisOf,
  areMade,
  areRefused,
  deletions,
  listedEvents,
  makeCustomers,
  ownPolicy,
  plans,
  stayClosed,
  type Customers,
} from './support/newer-changes.ts';
import { Rollout, type Build, type Replicas } from './support/rollout.ts';
import { buildOf, buildWithStep, v010, v020, type Release } from './support/versions.ts';

const migratedWithinMs = 30_000;

/** What 0.1.0 went down under: renewals of leases queued behind it for 10 s at a time. */
const lockingStep = `-- compatible with: 4
alter table replica add column of_the_test int`;

function test(release: Release, name: string, run: (t: Test, dist: string) => Promise<void>): void {
  const built = buildOf(release);
  if ('missing' in built) process.stderr.write(`NO UPGRADE WAS TESTED: ${built.missing}\n`);
  t.test(`${release.version}: ${name}`, { skip: 'missing' in built && built.missing }, async (t) => {
    if ('dist' in built) await run(t, built.dist);
  });
}

/** This version, as a replica of it waits for its migrations beside sessions that hold locks on all tables. */
async function migrates(t: Test, rollout: Rollout, newer: Build, step: number): Promise<Replicas> {
  const held = [await stoppedDump(t, rollout.url), await idleTransaction(t, rollout.url)];
  t.comment(held[0] === null ? 'without pg_dump, which is not on this machine' : 'beside a real pg_dump');
  const news = await rollout.start(newer);
  for (const { internalUrl } of news) await becomes(internalUrl, 503, 'migrations_pending');
  // One tries at a time, and the others say that they wait for it. Each table is held: the first step that needs one waits.
  const holder = /AccessExclusiveLock on \w+/;
  await eventually(() => news.some(({ program }) => holder.test(program.stdout)));
  t.pass('the log says which lock a migration waits for');
  await rollout.traffic.goesOn();
  rollout.nothingFailed('old replicas serve while new ones wait');

  const released = performance.now();
  for (const one of held) await one?.release();
  await eventually(async () => {
    const [row] = await rollout.sql<
      [{ version: number }]
    >`select max(version) as version from schema_migration`;
    return row.version === step;
  });
  const tookMs = performance.now() - released;
  t.ok(tookMs < migratedWithinMs, `migrated ${Math.round(tookMs)} ms after the locks were released`);
  return news;
}

/** The way back is open after deletions: 0.2.0 starts, and the deleted accounts stay closed there. */
async function startsAfterDeletions(
  t: Test,
  rollout: Rollout,
  dist: string,
  customers: Customers,
): Promise<void> {
  const config = configFile(t, 'drain_delay_ms: 0\n');
  const old = await rollout.startOne({ dist, config });
  await becomes(old.internalUrl, 200);
  await stayClosed(t, apisOf(t, old), customers, closedAt020);
  t.equal(await old.program.kill('SIGTERM'), 0);
}

/** Once erased, the keys are revoked, too. */
const closedAt020 = [
  /^403 account_suspended$|^401 api_key_revoked$/,
  /^403 account_deactivated$|^401 api_key_revoked$/,
  /^403 acting_tenant_deactivated$/,
];

/** After the first plan 0.2.0 serves nothing, until an operator gives up what it cannot enforce. */
async function startsAfterPlans(
  t: Test,
  rollout: Rollout,
  older: Build,
  { planned }: Customers,
): Promise<Replicas> {
  const back = await rollout.start(older);
  for (const replica of back) {
    await eventually(() => replica.program.stdout.includes('TG002'));
    t.match(await readiness(replica.internalUrl), { status: 503 });
    const response = await apisOf(t, replica).call('GET', '/item', { key: planned.key });
    t.match(response, { status: 503, body: { code: 'unavailable' } }, 'it serves nothing');
  }
  await rollout.traffic.goesOn();
  await rollout.sql`update fleet set level = 2`;
  await rollout.used(back);
  for (const replica of back) {
    const { call } = apisOf(t, replica);
    const { headers } = await call('GET', '/item', { key: planned.key });
    t.match(headers, { 'ratelimit-policy': ownPolicy }, "an account's own limit holds");
    const { status } = await call('POST', '/v1/sub-accounts', {
      key: planned.key,
      body: { name: 'One more' },
    });
    t.equal(status, replica === back[0] ? 201 : 409, "and its plan's maximum");
  }
  return back;
}

test(
  v020,
  'an upgrade beside a pg_dump and an idle transaction, and back: no request fails, no decision is stale',
  async (t, dist) => {
    const upstream = await startUpstream(t);
    const yaml = newerYaml(t, upstream);
    const added = buildWithStep(t, lockingStep);
    const [older, newer] = [
      { dist, config: olderFile(t) },
      { dist: added.dist, config: configFile(t, yaml) },
    ];
    const rollout = await Rollout.begin(t);
    const olds = await rollout.start(older);
    await rollout.used(olds);
    const customers = await makeCustomers(apisOf(t, olds[0]));
    await rollout.startTraffic(customers.parent.key);

    const news = await migrates(t, rollout, newer, added.step);
    await rollout.used(news);
    const [old, there] = [apisOf(t, olds[0]), apisOf(t, news[0])];
    await areRefused(t, there, [...deletions(customers), ...plans(customers)], '0.2.0');
    await isOpenThere(t, { old, there, upstream, customers });
    await isWatched(t, there, news[0]);
    const port = await unusedPort();
    const config = configFile(t, yaml.replace(portalAt(0), portalAt(port)));
    const last = await rollout.startOne({ dist: added.dist, config });
    await becomes(last.internalUrl, 200);
    await endsFromThere(t, { old, there: apisOf(t, last) }, `http://127.0.0.1:${port}`);
    t.equal(await last.program.kill('SIGTERM'), 0);
    await isRefused(t, rollout, older, yaml);
    await isNotTakenOver(t, olds[0], older, yaml);
    await rollout.traffic.goesOn();
    await rollout.stop(olds);
    await rollout.traffic.goesOn();

    await areMade(t, there, deletions(customers));
    for (const replica of news) await stayClosed(t, apisOf(t, replica), customers, closed);
    await startsAfterDeletions(t, rollout, dist, customers);
    await areMade(t, there, plans(customers));
    for (const replica of news) await apisOf(t, replica).call('GET', '/item', { key: customers.planned.key });
    const back = await startsAfterPlans(t, rollout, older, customers);
    await areRefused(t, there, plans(customers), '0.2.0');
    await rollout.stop(news);
    await rollout.traffic.goesOn();
    for (const replica of back) await stayClosed(t, apisOf(t, replica), customers, closedAt020);
    const listed = await listedEvents(apisOf(t, back[0]));
    for (const type of ['account.deleted', 'sub_account.deleted', 'plan.created'])
      t.ok(listed.has(type), `0.2.0 lists ${type}`);
    await rollout.end();
  },
);

const closed = [/^401 api_key_revoked$/, /^401 api_key_revoked$/, /^403 acting_tenant_unknown$/];

test(v010, 'an upgrade and back: no request fails, no decision is stale', async (t, dist) => {
  const added = buildWithStep(t, lockingStep);
  const older = { dist, config: olderFile(t) };
  const rollout = await Rollout.begin(t);
  const olds = await rollout.start(older);
  await rollout.used(olds);
  const customers = await makeCustomers(apisOf(t, olds[0]));
  await rollout.startTraffic(customers.parent.key);
  const news = await rollout.start({ ...older, dist: added.dist });
  await rollout.used(news);
  await areRefused(t, apisOf(t, news[0]), [...deletions(customers), ...plans(customers)], '0.1.0');
  await rollout.traffic.goesOn();
  await rollout.stop(olds);
  await rollout.traffic.goesOn();
  await rollout.used(await rollout.start(older));
  await rollout.stop(news);
  await rollout.traffic.goesOn();
  await rollout.end();
});
