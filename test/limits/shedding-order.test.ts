// class: app
import t from 'tap';
import { decide, rejectingFacts } from '../../src/domain/acting-decision.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { TenantConcurrency } from '../../src/limits/concurrency.ts';
import { fairShare, FairShares } from '../../src/limits/shedding-order.ts';
import { Decision } from '../../src/proxy/decision.ts';
import type { Route } from '../../src/proxy/route.ts';
import { startGateway } from '../support/gateway.ts';
import { MemoryDirectory } from '../support/memory-directory.ts';
import { Random } from '../support/coherence/random.ts';
import { startUpstream } from '../support/upstreams.ts';

/** Says when a parent asks that every window admits: shares fall to one request a window, however long a turn takes. */
function lessThanOnceAWindow(windows: () => number): () => boolean {
  let next = 0;
  return () => {
    if (windows() < next) return false;
    next = windows() + 2;
    return true;
  };
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

t.test('what there is is given out whole, and all who are cut get the same', (t) => {
  const random = new Random(1);
  const wrong: object[] = [];
  for (let round = 0; round < 2_000; round++) {
    const demands = Array.from({ length: 1 + random.below(30) }, () => 1 + random.below(1_000));
    const capacity = 1 + random.below(2 * total(demands));
    const share = fairShare(demands, capacity);
    const given = total(demands.map((demand) => Math.min(demand, share)));
    // What is left is less than one for each.
    const whole =
      share === Infinity
        ? total(demands) <= capacity
        : given <= capacity && capacity - given < demands.length;
    if (!whole && share > 1) wrong.push({ demands, capacity, share });
  }
  t.same(wrong, []);
  t.end();
});

t.test('work for requests under way counts as requests do, and is cut first if it is most', (t) => {
  const shares = new FairShares();
  for (let window = 0; window < 6; window++) {
    for (let i = 0; i < 50; i++) t.ok(shares.admits('modest' as AccountId), `window ${window}`);
    const goesOn = shares.admits('greedy' as AccountId, 1_000.5);
    t.equal(goesOn, window === 0, 'its share is used up from the first overload on');
    shares.endWindow(true);
  }
  t.end();
});

t.test('only the one that asks for most is cut, the more the longer it is too much', (t) => {
  const shares = new FairShares();
  const window = (): { greedy: number; modest: number } => {
    const admitted = { greedy: 0, modest: 0 };
    for (let i = 0; i < 1_000; i++) {
      if (shares.admits('greedy' as AccountId)) admitted.greedy += 1;
      if (i % 50 === 0 && shares.admits('modest' as AccountId)) admitted.modest += 1;
    }
    return admitted;
  };
  const windows = [true, true, true, true].map((tooMuch) => {
    const admitted = window();
    t.equal(shares.endWindow(tooMuch), true);
    return admitted;
  });
  t.same(new Set(windows.map(({ modest }) => modest)), new Set([20]));
  const greedy = windows.map((each) => each.greedy);
  t.same(greedy, [1_000, 694, 479, 329]);
  let calm = 0;
  while (window().greedy < 1_000) calm += shares.endWindow(false) ? 1 : 0;
  t.ok(calm > 3 && calm < 10, `it has all of it again after ${calm} windows`);
  t.equal(shares.endWindow(false), false, 'and there is nothing to share any more');
  t.end();
});

t.test('strangers are shed first, each network by what it asks for, and parents after them', (t) => {
  const shares = new FairShares();
  const window = (strangers: number) => {
    const admitted = { parent: 0, flood: 0, quiet: 0 };
    for (let i = 0; i < 100; i++) if (shares.admits('parent' as AccountId)) admitted.parent += 1;
    for (let i = 0; i < strangers; i++) if (shares.admitsStranger('192.0.2.1')) admitted.flood += 1;
    if (shares.admitsStranger('198.51.100.1')) admitted.quiet += 1;
    return admitted;
  };
  t.same(window(80), { parent: 100, flood: 80, quiet: 1 });
  shares.endWindow(true);
  t.same(window(80), { parent: 100, flood: 25, quiet: 1 }, '0.7 of 181');
  shares.endWindow(true);
  t.same(window(80), { parent: 88, flood: 1, quiet: 1 }, "the rest is the parents'");
  t.end();
});

t.test("parents are not shed while most requests are strangers', however long it is too much", (t) => {
  const shares = new FairShares();
  const windows = Array.from({ length: 60 }, () => {
    let [parent, flood] = [0, 0];
    for (let i = 0; i < 100; i++) if (shares.admits('parent' as AccountId)) parent += 1;
    for (let i = 0; i < 1_000; i++) if (shares.admitsStranger('192.0.2.1')) flood += 1;
    return { parent, flood, sheds: shares.endWindow(true) };
  });
  t.same(new Set(windows.map(({ parent, sheds }) => `${parent} ${sheds}`)), new Set(['100 true']));
  t.same(new Set(windows.slice(10).map(({ flood }) => flood)), new Set([1]));
  t.end();
});

t.test('nothing taken up at all does not leave the shares at nothing', (t) => {
  const shares = new FairShares();
  shares.endWindow(true);
  for (let window = 0; window < 30; window++) {
    for (let i = 0; i < 100; i++) shares.admits('one' as AccountId);
    if (!shares.endWindow(false)) return t.end();
  }
  t.fail('it goes on turning requests away');
  t.end();
});

t.test(
  'while the gateway is short of time, the tenant that asks for most waits; others and management do not',
  async (t) => {
    let windows = 0;
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      routes: { '/': upstream.url },
      limits: { maxEventLoopDelayMs: 100 },
      pressure: () => ({ delayMs: windows++ < 7 ? 500 : 0, heapBytes: 0, memoryBytes: 0 }),
    });
    const modest = gateway.directory.addParent(['tracking:read']);
    const statuses = { greedy: new Set<number>(), modest: new Set<number>(), management: new Set<number>() };
    const asksNow = lessThanOnceAWindow(() => windows);
    while (!statuses.greedy.has(503) && windows < 7) {
      const greedy = Array.from({ length: 20 }, () => gateway.call('GET', '/'));
      if (asksNow()) statuses.modest.add((await gateway.call('GET', '/', { key: modest.key })).status);
      statuses.management.add((await gateway.call('GET', '/v1/sub-accounts/none-such')).status);
      for (const { status } of await Promise.all(greedy)) statuses.greedy.add(status);
    }
    t.same(statuses.modest, new Set([200]));
    t.notOk(statuses.management.has(503));
    t.same(statuses.greedy, new Set([200, 503]));
    t.match(
      gateway.finished.find(({ status }) => status === 503),
      { code: 'overloaded', caller: gateway.parent.id },
    );
  },
);

t.test(
  'a flood without a key, or with a made-up one, costs no parent and no management call a 503',
  async (t) => {
    let windows = 0;
    const upstream = await startUpstream(t);
    const { call, finished } = await startGateway(t, {
      routes: { '/': upstream.url },
      limits: { maxEventLoopDelayMs: 100 },
      pressure: () => ({ delayMs: windows++ < 9 ? 500 : 0, heapBytes: 0, memoryBytes: 0 }),
    });
    const keys = [null, 'sk_test_made_up_0123456789012345678901234567890'];
    const statuses = {
      strangers: keys.map(() => new Set<number>()),
      parent: new Set<number>(),
      management: new Set<number>(),
    };
    while (windows < 8 || !statuses.strangers.every((seen) => seen.has(503))) {
      const flood = Array.from({ length: 40 }, async (_, i) => {
        const path = i % 4 < 2 ? '/' : '/v1/sub-accounts';
        statuses.strangers[i % 2]?.add((await call('GET', path, { key: keys[i % 2] ?? null })).status);
      });
      statuses.parent.add((await call('GET', '/')).status);
      statuses.management.add((await call('GET', '/v1/sub-accounts/none-such')).status);
      await Promise.all(flood);
    }
    t.same(statuses.parent, new Set([200]));
    t.notOk(statuses.management.has(503));
    for (const seen of statuses.strangers) t.same(seen, new Set([401, 503]));
    t.match(
      finished.find(({ status }) => status === 503),
      { code: 'overloaded', caller: null },
    );
  },
);

t.test('a request of a sub-account counts once for its parent, though it is decided again', (t) => {
  const asked: AccountId[] = [];
  const shares = { admits: (parent: AccountId) => asked.push(parent) > 0 };
  const concurrency = new TenantConcurrency({ inFlightPerTenant: 1, maxConnections: 10 });
  const deps = { shedding: { active: false, shares }, concurrency, directory: new MemoryDirectory() };
  const decision = new Decision({ deps } as unknown as Route, null);
  const caller = {
    ...{ kind: 'sub-account', accountId: 'child', parentId: 'parent', externalId: null },
    ...{ parentExternalId: null, keyId: 'key', scopes: [] },
  } as unknown as Caller;
  const permit = decide(caller, { form: 'absent' }, 'read', rejectingFacts, 'X-Acting');
  if (permit.kind !== 'permit') throw new Error('it is not permitted');
  const admission = { caller, permit, expiresAtMs: null, limitedBy: null };
  for (let i = 0; i < 3; i++) {
    t.equal(decision.enter(admission), undefined);
    decision.leave();
  }
  t.same(asked, ['parent']);
  t.end();
});
