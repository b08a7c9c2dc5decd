// class: pure
import fc from 'fast-check';
import t from 'tap';
import type { Permit } from '../../src/domain/acting-decision.ts';
import { foldHeaderName, headerNames } from '../../src/domain/header-names.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { namedByConnection, headerRules } from '../../src/proxy/headers/header-rules.ts';
import { FailureLog } from '../../src/proxy/failure-log.ts';
import { TenantConcurrency } from '../../src/limits/concurrency.ts';
import { Patience } from '../../src/http/patience.ts';
import { ActiveExchanges, type ActiveExchange } from '../../src/proxy/active-exchanges.ts';
import { upstreamProblem } from '../../src/proxy/problems.ts';
import { UpstreamTimeout } from '../../src/proxy/upstream/errors.ts';
import type { FactKey } from '../../src/ports/facts.ts';
import { MemoryDirectory } from '../support/memory-directory.ts';

t.test('a name is checked alike the first time and ever after, however many others there were', async () => {
  const token = fc.string({ unit: fc.constantFrom(...'xXsService-_.RToken'), minLength: 1, maxLength: 20 });
  const rules = headerRules(headerNames());
  for (let i = 0; i < 5000; i++) rules.learn(`filler-${i}`);
  fc.assert(fc.property(token, (name) => rules.learn(name) === headerRules(headerNames()).look(name)));
});

t.test('no name that folds to a trusted one passes', async () => {
  const rules = headerRules(headerNames('Acme-'));
  const unit = fc.constantFrom(...'acmesrvicxX-_.~!$');
  fc.assert(
    fc.property(fc.constantFrom('x-service-', 'acme-'), fc.string({ unit, maxLength: 8 }), (prefix, rest) => {
      const name = prefix.replaceAll('-', '_') + rest;
      return !foldHeaderName(name).startsWith(prefix) || rules.look(name) !== 'pass';
    }),
  );
});

t.test('names in Connection are read in any case, from several headers', async (t) => {
  t.equal(namedByConnection('keep-alive'), undefined);
  t.equal(namedByConnection('Close'), undefined);
  t.strictSame(
    namedByConnection('X-B ,keep-alive', namedByConnection('X-A')),
    new Set(['x-a', 'x-b', 'keep-alive']),
  );
});

t.test('places in flight are counted by tenant and given back', (t) => {
  const slots = new TenantConcurrency({ inFlightPerTenant: 2, maxConnections: 100 });
  const [a, b] = ['a', 'b'].map((id) => ({
    resolvedTenant: id as AccountId,
    parentTenant: id as AccountId,
  })) as [Permit, Permit];
  const taken = [slots.enter(a), slots.enter(a), slots.enter(a), slots.enter(b)];
  t.strictSame(
    taken.map((place) => place?.tenant),
    ['a', 'a', undefined, 'b'],
  );
  if (taken[0]) slots.leave(taken[0]);
  t.strictSame([slots.enter(a)?.tenant, slots.enter(a)], ['a', null]);
  t.end();
});

t.test('a parent with many sub-accounts leaves places in flight for other parents', (t) => {
  const slots = new TenantConcurrency({ inFlightPerTenant: 100, maxConnections: 100 });
  let taken = 0;
  for (let i = 0; i < 1_000; i++) {
    const child = { resolvedTenant: String(i) as AccountId, parentTenant: 'parent' as AccountId };
    if (slots.enter(child) !== null) taken += 1;
  }
  t.equal(taken, 75);
  const other = { resolvedTenant: 'other' as AccountId, parentTenant: 'other' as AccountId };
  for (let i = 0; i < 10; i++) t.not(slots.enter(other), null);
  t.end();
});

t.test('places in flight do not grow by tenants that came and left', (t) => {
  const slots = new TenantConcurrency({ inFlightPerTenant: 1, maxConnections: 100 });
  const kept = { resolvedTenant: 'kept' as AccountId, parentTenant: 'parent' as AccountId };
  t.not(slots.enter(kept), null);
  for (let i = 0; i < 25_000; i++) {
    const id = String(i) as AccountId;
    const place = slots.enter({ resolvedTenant: id, parentTenant: id });
    if (place === null) throw new Error('there was no place');
    slots.leave(place);
  }
  t.equal(slots.enter(kept), null, 'a place that is taken is not forgotten');
  t.end();
});

t.test('what is under way is found, whatever the order in which others left', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 60 }), (toggles) => {
      const exchanges = new ActiveExchanges();
      const active = new Set<ActiveExchange>();
      const all = Array.from({ length: 21 }, (_, i): ActiveExchange => {
        const exchange: ActiveExchange = {
          slot: 0,
          state: 'sent',
          parties: () => ({ keyId: null, caller: null, parent: null, resolvedTenant: null }),
          dependsOn: () => [`a:${i}`],
          revoke: () => found.push(exchange) > 0,
          keyChanged() {},
          noteBytes() {},
          noteUse() {},
          goAway() {},
          check() {},
        };
        return exchange;
      });
      const found: ActiveExchange[] = [];
      for (const i of toggles) {
        const exchange = all[i] as ActiveExchange;
        if (active.delete(exchange)) exchanges.leave(exchange);
        else {
          active.add(exchange);
          exchanges.enter(exchange);
        }
      }
      const directory = new MemoryDirectory();
      exchanges.follow(directory);
      const ended = directory.revoke(...all.map((_, i) => [`a:${i}`, null] as [FactKey, null]));
      return (
        ended === active.size &&
        exchanges.size === active.size &&
        found.every((exchange) => active.has(exchange))
      );
    }),
  );
});

t.test('failures of one route are logged once a second, with the number of those left out', async (t) => {
  const lines: object[] = [];
  const clock = { wallMs: () => 0, now: 0, monotonicMs: () => clock.now };
  const log = new FailureLog({ warn: (line: object) => lines.push(line) } as never, clock);
  const failed = { route: '/', requestId: 'r', code: 'upstream_unreachable' };
  for (let i = 0; i < 5; i++) log.write(new Error('down'), failed);
  log.write(new Error('down'), { ...failed, route: '/other' });
  t.equal(lines.length, 2);
  clock.now = 1000;
  log.write(new Error('down'), failed);
  t.match(lines[2], { route: '/', request_id: 'r', more_like_it: 4 });
});

t.test('a peer is too slow only over a whole minute in which it was its turn', (t) => {
  const rate = new Patience(0, 100);
  for (const [waiting, progress, nowMs, slow] of [
    [true, 0, 0, false],
    [true, 1, 59_999, false],
    [true, 100, 60_000, false],
    [true, 150, 119_999, false],
    [true, 199, 120_000, true],
    [true, 199, 130_000, false],
    [false, 199, 140_000, false],
    [true, 199, 200_000, false],
    [true, 199, 259_999, false],
    [true, 199, 260_000, true],
  ] as const) {
    t.equal(rate.isOver(waiting, progress, nowMs), slow, `${progress} at ${nowMs} ms`);
  }
  t.notOk([0, 60_000, 120_000].some((nowMs) => new Patience(0, 0).isOver(true, 0, nowMs)));
  t.end();
});

t.test('a peer is stalled once it was its turn for too long without anything happening', async (t) => {
  const watch = new Patience(100);
  t.equal(watch.isOver(true, 1, 0), false);
  t.equal(watch.isOver(true, 1, 100), false);
  t.equal(watch.isOver(true, 2, 150), false, 'something happened');
  t.equal(watch.isOver(true, 2, 250), false);
  t.equal(watch.isOver(false, 2, 300), false, 'it is not its turn');
  t.equal(watch.isOver(true, 2, 400), false);
  t.equal(watch.isOver(true, 2, 401), true);
  t.notOk(
    [0, 1e9].some((nowMs) => new Patience(0).isOver(true, 1, nowMs)),
    '0 is for ever',
  );
});

t.test('failures on the way to an upstream are 504 where time ran out, 502 otherwise', async (t) => {
  for (const error of [
    new UpstreamTimeout('response'),
    Object.assign(new Error('x'), { code: 'ETIMEDOUT' }),
  ]) {
    t.equal(upstreamProblem(error).code, 'upstream_timeout', error.message);
  }
  for (const error of [
    Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
    new Error('x'),
    undefined,
    'x',
    null,
  ]) {
    t.equal(upstreamProblem(error).code, 'upstream_unreachable');
  }
});
