// class: app
/** How fast one parent may read, and make changes that every replica must confirm. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { SteadyRate } from '../../src/limits/steady-rate.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { startApis, type ApisOptions, type Parent } from '../support/apis.ts';
import { once } from '../support/idempotent-calls.ts';
import type { Scope } from '../support/servers.ts';

const [loud, quiet] = ['loud', 'quiet'] as AccountId[] as [AccountId, AccountId];

t.test(
  'in any time a parent makes no more changes than its rate and one burst, and never fewer than it may',
  (t) => {
    const step = fc.record({ afterMs: fc.integer({ min: 0, max: 200 }), by: fc.constantFrom(loud, quiet) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(step, { maxLength: 300, size: 'max' }),
        (perSecond, steps) => {
          const rate = new SteadyRate<AccountId>(perSecond);
          const burst = 10 * perSecond;
          const made = new Map<AccountId, number[]>();
          const tokens = new Map<AccountId, { left: number; atMs: number }>();
          let nowMs = 1e9;
          for (const { afterMs, by } of steps) {
            nowMs += afterMs;
            const bucket = tokens.get(by) ?? { left: burst, atMs: nowMs };
            const left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) * perSecond) / 1000);
            const may = rate.waitMs(by, nowMs) === 0;
            if (Math.abs(left - 1) > 1e-6 && may !== left >= 1) return false;
            if (may) rate.count(by, nowMs);
            tokens.set(by, { left: may ? left - 1 : left, atMs: nowMs });
            if (may) made.set(by, [...(made.get(by) ?? []), nowMs]);
          }
          return [...made.values()].every((times) =>
            times.every((fromMs, from) =>
              times.every(
                (toMs, to) =>
                  to < from || to - from + 1 <= burst + ((toMs - fromMs) * perSecond) / 1000 + 1e-6,
              ),
            ),
          );
        },
      ),
    );
    t.end();
  },
);

t.test('a parent that waits for as long as it is told may go on, and not sooner', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 1e9 }),
      (perSecond, underWay, nowMs) => {
        const rate = new SteadyRate<AccountId>(perSecond);
        // All of them were let by together.
        for (let i = 0; i < 10 * perSecond + underWay; i++) rate.count(loud, nowMs);
        const waitMs = rate.waitMs(loud, nowMs);
        const exactMs = ((underWay + 1) * 1000) / perSecond;
        return (
          Math.abs(waitMs - exactMs) < 0.01 &&
          rate.waitMs(loud, nowMs + waitMs) === 0 &&
          rate.waitMs(loud, nowMs + waitMs - 0.1) > 0 &&
          rate.waitMs(quiet, nowMs) === 0
        );
      },
    ),
  );
  t.end();
});

t.test('with 0 there is no limit', (t) => {
  const rate = new SteadyRate<AccountId>(0);
  for (let i = 0; i < 10_000; i++) rate.count(loud, 0);
  t.equal(rate.waitMs(loud, 0), 0);
  t.equal(rate.size, 0);
  t.end();
});

t.test('parents that are quiet take no memory, and one that is not is not forgotten', (t) => {
  const rate = new SteadyRate<AccountId>(1);
  for (let i = 0; i < 60; i++) rate.count(loud, 0);
  for (let i = 0; i < 50_000; i++) rate.count(`parent ${i}` as AccountId, i);
  t.ok(rate.size < 5_000, `${rate.size} are remembered`);
  t.equal(rate.waitMs(loud, 50_000), 1_000);
  t.end();
});

/** APIs with a limit of one change a second, ten at once, and a clock that stands still. */
async function slowApis(t: Scope, more: ApisOptions = {}) {
  const time = { nowMs: 5_000 };
  const clock = { wallMs: () => Date.now(), monotonicMs: () => time.nowMs };
  return { apis: await startApis(t, { limits: { changesPerSecond: 1 }, clock, ...more }), time };
}

/** Moves a sub-account's `external_id` again and again; the statuses of the responses. */
async function move(parent: Parent, id: string, times: number): Promise<readonly number[]> {
  const statuses = [];
  for (let i = 0; i < times; i++) {
    const { status } = await parent.call('PATCH', `/${id}`, { body: { external_id: `place-${i}` } });
    statuses.push(status);
  }
  return statuses;
}

t.test('a parent that changes things in a loop gets 429, and another one’s changes go on', async (t) => {
  const { apis, time } = await slowApis(t);
  const [parent, other] = [await apis.parent(), await apis.parent()];
  // The first active sub-account is such a change, too.
  const sub = await parent.create();
  t.same(await move(parent, sub.id, 9), Array(9).fill(200));
  const key = randomUUID();
  const reactivate = () => once(parent.call, key)(`/${sub.id}/reactivate`);
  const rejected = await reactivate();
  t.match(rejected, {
    status: 429,
    headers: { 'retry-after': '1' },
    body: { code: 'too_many_requests', detail: /limits\.changes_per_second is 1\. Nothing was changed/ },
  });
  for (const [method, path, body] of [
    ['POST', '', { name: 'One more' }],
    ['PATCH', `/${sub.id}`, { name: 'Renamed' }],
    ['POST', `/${sub.id}/api-keys`, { name: 'key' }],
  ] as const)
    t.equal((await parent.call(method, path, { body })).status, 429, `${method} ${path}`);
  t.match(
    (await parent.call('GET', '')).body['data'],
    [{ name: 'Child', status: 'active' }],
    'nothing was changed',
  );

  const theirs = await other.create();
  t.same(await move(other, theirs.id, 9), Array(9).fill(200), 'the other parent');
  for (let i = 0; i < 20; i++)
    t.equal(
      (await apis.operator('POST', `/accounts/${parent.id}/${i % 2 === 0 ? 'suspend' : 'resume'}`)).status,
      200,
    );

  time.nowMs += 999;
  t.equal((await reactivate()).status, 429);
  time.nowMs += 1;
  t.match(await reactivate(), { status: 200, headers: { 'idempotency-replayed': undefined } });
  t.same(await move(parent, sub.id, 1), [429], 'one for each second');
});

t.test(
  'what no replica has to hear of does not count: creates after the first, mints, new names',
  async (t) => {
    const { apis } = await slowApis(t);
    const parent = await apis.parent();
    const sub = await parent.create();
    for (let i = 0; i < 15; i++) {
      await parent.create();
      await sub.mint();
      t.equal((await parent.call('PATCH', `/${sub.id}`, { body: { name: `Name ${i}` } })).status, 200);
    }
  },
);

t.test('a change whose 2xx could not be given counts: its place in the log is taken', async (t) => {
  const barrier = { enforced: () => Promise.reject(new Error('not known')) };
  const { apis } = await slowApis(t, { deps: { barrier } });
  const parent = await apis.parent();
  await parent.call('POST', '', { body: { name: 'Child' } });
  const [{ id }] = (await parent.call('GET', '')).body['data'] as [{ id: string }];
  t.same(await move(parent, id, 10), [...Array<number>(9).fill(500), 429]);
});

t.test('a parent that reads in a loop gets 429, and its changes and another one’s reads go on', async (t) => {
  const { apis, time } = await slowApis(t, { limits: { readsPerSecond: 2 } });
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const { id } = await parent.create();
  const paths = ['', `/${id}`, '/events', '/usage', '/caller'];
  for (let i = 0; i < 20; i++) {
    const path = paths[i % paths.length] ?? '';
    t.equal((await parent.call(i % 2 === 0 ? 'GET' : 'HEAD', path)).status, 200, path);
  }
  t.match(await parent.call('GET', `/${id}`), {
    status: 429,
    headers: { 'retry-after': '1' },
    body: { code: 'too_many_requests', detail: /limits\.reads_per_second is 2/ },
  });
  t.equal((await parent.call('PATCH', `/${id}`, { body: { name: 'Renamed' } })).status, 200);
  t.equal((await other.call('GET', '')).status, 200);
  t.equal((await apis.operator('GET', '/events')).status, 200, 'operators have no limit');
  time.nowMs += 500;
  t.equal((await parent.call('GET', '')).status, 200);
  t.equal((await parent.call('GET', '')).status, 429);
});

t.test('changes of all kinds have a rate that is five times as high', async (t) => {
  const { apis, time } = await slowApis(t);
  const parent = await apis.parent();
  const sub = await parent.create();
  const rename = async (i: number) =>
    (await parent.call('PATCH', `/${sub.id}`, { body: { name: `Name ${i}` } })).status;
  for (let i = 0; i < 49; i++) t.equal(await rename(i), 200);
  t.equal(await rename(49), 429);
  t.equal((await parent.call('GET', '')).status, 200);
  time.nowMs += 200;
  t.equal(await rename(50), 200);
  t.equal(await rename(51), 429);
});

t.test(
  'whatever a leaked key floods, rights can be taken away, and each key has a rate for that',
  async (t) => {
    const { apis, time } = await slowApis(t);
    const parent = await apis.parent();
    const sub = await parent.create();
    await move(parent, sub.id, 20);
    const takesAway = async (i: number): Promise<number> => {
      const [method, path] = [
        ['POST', '/deactivate'],
        ['POST', '/api-keys/revoke-all'],
        ['DELETE', ''],
      ][i % 3] as [string, string];
      return (await parent.call(method, `/${sub.id}${path}`)).status;
    };
    t.equal(await takesAway(0), 200);
    for (let i = 0; i < 9; i++) t.not(await takesAway(1 + (i % 2)), 429);
    t.equal(await takesAway(0), 429, 'ten of one key at once');

    const minted = await apis.operator('POST', `/accounts/${parent.id}/api-keys`, {
      body: { name: 'other', scopes: ['sub_accounts:write'] },
    });
    const other = { key: String(minted.body['api_key']) };
    t.equal((await apis.call('POST', `/v1/sub-accounts/${sub.id}/api-keys/revoke-all`, other)).status, 404);
    t.equal((await apis.call('POST', '/v1/sub-accounts', { ...other, body: { name: 'More' } })).status, 429);
    time.nowMs += 1_000;
    t.not(await takesAway(0), 429);
  },
);
