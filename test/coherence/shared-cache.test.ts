// class: pure
/** What the directory takes from the cache that replicas share, and what it does not believe. */
import t from 'tap';
import { everythingThatFollows } from '../support/coherence/manual-time.ts';
import { makePieces } from '../support/coherence/pieces.ts';
import { count } from '../support/coherence/questions.ts';

t.test('the shared cache saves a reading, unless it is too old or of another history', async (t) => {
  for (const [shared, expected] of [
    [{ value: 7, seq: 4, incarnation: 'i' }, 7],
    [{ value: 7, seq: 2, incarnation: 'i' }, 1],
    [{ value: 7, seq: 9, incarnation: 'other' }, 1],
  ] as const) {
    const pieces = await makePieces();
    const { log } = pieces;
    log.reading = { ...log.reading, entries: [{ seq: 3, key: 'n:p', revoked: false }] };
    log.reading = { ...log.reading, seq: 6 };
    log.hint();
    await everythingThatFollows();
    pieces.source.facts.set('n:p', 1);
    pieces.source.seq = 6;
    pieces.shared.set('n:p', shared);
    const request = pieces.ask(count);
    await everythingThatFollows();
    t.equal(request.outcome, expected, JSON.stringify(shared));
    if (expected === 1) t.same(pieces.shared.get('n:p'), { value: 1, seq: 6, incarnation: 'i' });
  }
});

t.test(
  'a stamp that this replica has not reached is not believed: it would outlive later changes',
  async (t) => {
    const outcomes: string[] = [];
    const events = {
      sharedCacheHit: () => outcomes.push('hit'),
      sharedCacheAhead: () => outcomes.push('ahead'),
    };
    const pieces = await makePieces({ events });
    const { log, source, shared, ask } = pieces;
    source.facts.set('n:p', 1);
    // Made up, or of a replica that is a moment ahead: it cannot be told.
    shared.set('n:p', { value: 7, seq: 1_000, incarnation: 'i' });
    const request = ask(count);
    await everythingThatFollows();
    t.equal(request.outcome, 1, 'the source decides');
    t.same(outcomes, ['ahead']);

    shared.set('n:p', { value: 7, seq: 1_000, incarnation: 'i' });
    source.facts.set('n:p', 2);
    source.seq = 6;
    log.reading = { ...log.reading, seq: 6, entries: [{ seq: 6, key: 'n:p', revoked: false }] };
    log.hint();
    await everythingThatFollows();
    const later = ask(count);
    await everythingThatFollows();
    t.equal(later.outcome, 2, 'and after a change, the change');
  },
);
