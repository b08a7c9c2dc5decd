// class: pure
/** Facts in memory are read again, whatever the log says of them. */
import t from 'tap';
import { Proofs } from '../../../src/coherence/loading/proofs.ts';
import { MissingFact, type Evaluate } from '../../../src/ports/directory.ts';
import { digestSecret } from '../../../src/domain/api-key.ts';
import { factKey, type FactKey } from '../../../src/ports/facts.ts';
import { everythingThatFollows } from '../../support/coherence/manual-time.ts';
import { makePieces } from '../../support/coherence/pieces.ts';

const within = 600_000;
/** T, so long that renewals are few. */
const leaseMs = 60_000;

async function makeProofs(most: number, differed: FactKey[] = []) {
  const pieces = await makePieces({
    leaseMs,
    facts: most,
    events: { factsDiffered: (keys) => differed.push(...keys) },
  });
  const { view, loader, time, timing } = pieces;
  const proofs = new Proofs({ view, loader, clock: time.clock, timers: time.timers, timing });
  return { ...pieces, proofs };
}

function count(of: string): Evaluate<unknown> {
  return (facts) => facts.activeSubAccounts(of as never) ?? new MissingFact(`n:${of}`);
}

for (const facts of [1, 50, 5_000]) {
  t.test(`each of ${facts} facts is read again within ten minutes, at an even pace`, async (t) => {
    const { time, source, view, ask, proofs } = await makeProofs(facts);
    for (let i = 0; i < facts; i++) source.facts.set(`n:${i}`, 1);
    for (let i = 0; i < facts; i++) ask(count(`${i}`));
    for (let i = 0; i < 2_000 && view.held < facts; i++) await time.advance(1);
    t.equal(view.held, facts);
    source.asked.length = source.readings.length = 0;
    let mostInAMinute = 0;
    for (let ms = 0; ms < within; ms += 60_000) {
      const before = source.asked.length;
      for (let step = 0; step < 240; step++) await time.advance(250);
      mostInAMinute = Math.max(mostInAMinute, source.asked.length - before);
    }
    t.equal(new Set(source.asked).size, facts);
    t.ok(
      mostInAMinute <= Math.max(2 * facts, (facts * 60_000) / within + 2_000),
      `${mostInAMinute} in a minute`,
    );
    t.ok(source.readings.length <= 60, `${source.readings.length} readings`);
    t.ok(time.clock.monotonicMs() / 1_000 - (view.oldestS ?? NaN) < within / 1_000);
    proofs.stop();
  });
}

t.test(
  'a change that no log tells of is enforced within ten minutes, ends what depends on it, and is seen',
  async (t) => {
    const differed: FactKey[] = [];
    const { time, source, shared, revocations, ask, proofs } = await makeProofs(100, differed);
    for (const parent of ['changed', 'same']) {
      source.facts.set(`n:${parent}`, 1);
      ask(count(parent));
    }
    await everythingThatFollows();
    const ended: FactKey[] = [];
    revocations.onRevoked((keys) => ended.push(...keys));
    source.facts.set('n:changed', 0);
    for (let ms = 0; ms < within; ms += 250) await time.advance(250);
    t.equal(ask(count('changed')).outcome, 0);
    t.same([differed, ended], [['n:changed'], ['n:changed']]);
    t.match(shared.get('n:changed'), { value: 0 }, 'and other replicas find it in the shared cache');
    proofs.stop();
  },
);

t.test('what is kept over a change of history is read again at once, in bulk', async (t) => {
  const { time, log, source, view, proofs, ask } = await makeProofs(3_000);
  for (let i = 0; i < 2_000; i++) source.facts.set(`n:${i}`, 1);
  for (let i = 0; i < 2_000; i++) ask(count(`${i}`));
  for (let i = 0; i < 1_000 && view.held < 2_000; i++) await time.advance(1);
  t.equal(view.held, 2_000);
  log.reading = { ...log.reading, incarnation: 'other', seq: 1, through: 1 };
  source.incarnation = 'other';
  source.seq = 1;
  source.facts.set('n:7', 0);
  source.facts.delete('n:8');
  log.hint();
  await everythingThatFollows();
  t.ok(view.unproven > 0);
  source.readings.length = 0;
  proofs.wake();
  for (let i = 0; i < 100 && view.unproven > 0; i++) await time.advance(0);
  t.same([view.held, view.unproven, view.find('n:7')?.value, view.find('n:8')], [1_999, 0, 0, undefined]);
  t.same(source.readings, [500, 500, 500, 500]);
  proofs.stop();
});

t.test('keys that were unknown are looked for again after ten minutes', async (t) => {
  const { time, source, ask, proofs } = await makeProofs(100);
  const digest = digestSecret('unknown');
  const key: Evaluate<unknown> = (facts) => facts.key(digest) ?? new MissingFact(factKey.key(digest));
  const isUnknown: Evaluate<boolean> = (facts) => facts.key(digest) === null;
  ask(key);
  await everythingThatFollows();
  t.equal(ask(isUnknown).outcome, true);
  for (let ms = 0; ms < within; ms += 250) await time.advance(250);
  source.asked.length = 0;
  ask(key);
  await everythingThatFollows();
  t.same(source.asked, [factKey.key(digest)]);
  proofs.stop();
});
