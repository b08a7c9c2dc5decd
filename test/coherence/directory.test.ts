// class: pure
import t from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import { MissingFact, type Facts } from '../../src/ports/directory.ts';
import { factKey } from '../../src/ports/facts.ts';
import { everythingThatFollows } from '../support/coherence/manual-time.ts';
import { retryPauses } from '../../src/coherence/timing.ts';
import { makePieces } from '../support/coherence/pieces.ts';
import { count, externalId, parent } from '../support/coherence/questions.ts';

t.test('what is in memory decides at once, and no store is asked', async (t) => {
  const { source, log, ask } = await makePieces();
  source.facts.set('n:p', 2);
  ask(count);
  await everythingThatFollows();
  log.asked.length = 0;
  for (let i = 0; i < 1_000; i++) t.equal(ask(count).outcome, 2);
  t.same(source.asked, ['n:p']);
  t.same(log.asked, []);
});

t.test('a miss is loaded once for all who ask', async (t) => {
  const { source, ask } = await makePieces();
  source.facts.set('n:p', 2);
  source.hold();
  const asked = [ask(count), ask(count), ask(count)];
  await everythingThatFollows();
  t.same(asked, [{}, {}, {}]);
  source.release();
  await everythingThatFollows();
  t.same(asked, [{ outcome: 2 }, { outcome: 2 }, { outcome: 2 }]);
  t.same(source.asked, ['n:p']);
});

t.test('an absence decides the request it was read for, and is not kept', async (t) => {
  const { source, ask } = await makePieces();
  const first = ask(externalId);
  await everythingThatFollows();
  t.equal(first.outcome, null);
  source.facts.set('x:p:e', 'a' as AccountId);
  const second = ask(externalId);
  await everythingThatFollows();
  t.equal(second.outcome, 'a');
  t.equal(source.asked.length, 2);
});

t.test('an absence from before a request arrived does not decide it', async (t) => {
  const { source, ask } = await makePieces();
  source.hold();
  const before = ask(externalId);
  await everythingThatFollows();
  // It was read, and not there. Now it is made, its creator gets 2xx, and it is asked for.
  source.facts.set('x:p:e', 'a' as AccountId);
  const after = [ask(externalId), ask(externalId)];
  source.release();
  await everythingThatFollows();
  t.equal(before.outcome, null);
  t.same(after, [{ outcome: 'a' }, { outcome: 'a' }]);
  t.equal(source.asked.length, 2, 'the two share one reading');
});

t.test('a fact that changed while it was on its way is read again', async (t) => {
  const { source, log, ask } = await makePieces();
  source.facts.set('n:p', 1);
  source.hold();
  const request = ask(count);
  await everythingThatFollows();
  source.facts.set('n:p', 0);
  source.seq = 6;
  log.reading = { ...log.reading, seq: 6, entries: [{ seq: 6, key: 'n:p', revoked: false }] };
  log.hint();
  await everythingThatFollows();
  source.release();
  await everythingThatFollows();
  t.equal(request.outcome, 0);
});

t.test('a load from before the lease ran out decides nothing before the lease is renewed', async (t) => {
  const { time, timing, source, log, lease, ask } = await makePieces();
  source.facts.set('n:p', 1);
  source.hold();
  const request = ask(count);
  await everythingThatFollows();
  time.pause(timing.leaseMs - timing.marginMs);
  t.equal(lease.holds(), false);
  log.hold();
  source.release();
  await everythingThatFollows();
  t.same(request, {}, 'the fact is there, the lease is not');
  source.facts.set('n:p', 0);
  source.seq = 6;
  log.reading = { ...log.reading, seq: 6, entries: [{ seq: 6, key: 'n:p', revoked: false }] };
  log.release();
  await everythingThatFollows();
  t.equal(request.outcome, 0);
});

t.test('without the store: known callers to the end of the lease, then 503, then all again', async (t) => {
  const { time, timing, source, log, ask } = await makePieces();
  source.facts.set('n:p', 2);
  ask(count);
  await everythingThatFollows();
  log.failure = source.failure = new Error('away');
  const unknown = ask(externalId);
  await everythingThatFollows();
  t.equal(unknown.code, 'unavailable');
  await time.advance(timing.leaseMs - timing.marginMs - 1);
  t.equal(ask(count).outcome, 2);
  await time.advance(1_000);
  const late = ask(count);
  await everythingThatFollows();
  t.match(late, { code: 'unavailable', error: { problem: { retryAfter: 1 } } });
  log.failure = source.failure = undefined;
  await time.advance(retryPauses.longestMs);
  t.equal(ask(count).outcome, 2);
});

t.test('a store that hangs is 503 after a while, not a request that hangs', async (t) => {
  const { time, timing, source, ask } = await makePieces();
  source.hold();
  const request = ask(count);
  await time.advance(timing.lookUpMs);
  t.equal(request.code, 'unavailable');
});

t.test('another history: nothing of the old one decides', async (t) => {
  const { source, log, ask } = await makePieces();
  source.facts.set('n:p', 2);
  ask(count);
  await everythingThatFollows();
  source.incarnation = 'restored';
  source.facts.set('n:p', 0);
  source.facts.set('x:p:e', 'a' as AccountId);
  log.reading = { incarnation: 'restored', seq: 3, through: 3, floor: 1, entries: [] };
  source.seq = 3;
  const request = ask(externalId);
  await everythingThatFollows();
  t.equal(request.outcome, 'a');
  const after = ask(count);
  await everythingThatFollows();
  t.equal(after.outcome, 0);
});

t.test('keys that do not exist are remembered, and do not crowd out what is known', async (t) => {
  const { source, ask, time } = await makePieces();
  source.facts.set('n:p', 2);
  ask(count);
  await everythingThatFollows();
  const unknown = (secret: string) => (facts: Facts) => {
    const digest = digestSecret(secret);
    return facts.key(digest) === undefined ? new MissingFact(factKey.key(digest)) : 'unknown';
  };
  for (let i = 0; i < 500; i++) {
    ask(unknown(`d${i}`));
    await time.advance(5);
  }
  source.asked.length = 0;
  t.equal(ask(unknown('d499')).outcome, 'unknown');
  t.equal(ask(count).outcome, 2);
  t.same(source.asked, []);
});

t.test('a flood of made-up keys is bounded, and keeps no known caller waiting', async (t) => {
  const { source, ask } = await makePieces();
  source.hold();
  const flood = Array.from({ length: 3_000 }, (_, i) => ask(() => new MissingFact(`k:${i}`)));
  await everythingThatFollows();
  t.ok(source.readings.length <= 4, `${source.readings.length} readings at once`);
  t.ok(flood.some(({ code }) => code === 'overloaded'));
  source.asked.length = 0;
  ask(count);
  await everythingThatFollows();
  t.same(source.asked, ['n:p']);
});

t.test("1,500 unknown names or ids of one parent keep no other parent's request waiting", async (t) => {
  for (const kind of ['x:', 'a:'] as const) {
    const { source, ask } = await makePieces();
    source.hold();
    const [loud, quiet] = ['l', 'q'].map((letter) => letter.repeat(36) as AccountId);
    const unknown = (tenant: AccountId | undefined, i: number) => (): MissingFact =>
      kind === 'x:'
        ? new MissingFact(factKey.externalId(tenant as AccountId, `e${i}`))
        : new MissingFact(factKey.account(`unknown ${i}` as AccountId), tenant);
    for (let i = 0; i < 1_500; i++) ask(unknown(loud, i));
    // The very account that the other parent asks for, too.
    ask(unknown(quiet, 1_499));
    await everythingThatFollows();
    t.same(source.readings, [1, 1], kind);
    t.match(source.asked[1], '1499');
  }
});

t.test('what an evaluation throws is told to the caller, from memory and after a look-up', async (t) => {
  const { source, ask, directory } = await makePieces();
  const broken = (): never => {
    throw new Error('broken evaluation');
  };
  t.throws(() => directory.decide(broken), { message: 'broken evaluation' });
  source.facts.set('n:p', 2);
  const loading = ask((facts) => (facts.activeSubAccounts(parent) === undefined ? count(facts) : broken()));
  await everythingThatFollows();
  t.match(loading.error, { message: 'broken evaluation' });
});

t.test('an evaluation that is never satisfied ends', async (t) => {
  const { ask } = await makePieces();
  const request = ask(() => new MissingFact('n:p'));
  for (let i = 0; i < 50; i++) await everythingThatFollows();
  t.equal(request.code, 'unavailable');
});
