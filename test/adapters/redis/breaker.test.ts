// class: pure
import t from 'tap';
import { Breaker, type BreakerState } from '../../../src/adapters/redis/breaker.ts';

function breaker() {
  const clock = { now: 0, monotonicMs: () => clock.now };
  const states: BreakerState[] = [];
  return { clock, states, breaker: new Breaker(clock, (state) => states.push(state)) };
}

t.test('after failures in a row it lets no caller through for a while, then one', async (t) => {
  const { clock, states, breaker: it } = breaker();
  for (let i = 0; i < 3; i++) {
    t.equal(it.allows(), true);
    it.failed();
  }
  t.equal(it.allows(), false);
  clock.now = 250;
  t.equal(it.allows(), true);
  t.equal(it.allows(), false, 'one at a time');
  it.succeeded();
  t.equal(it.allows(), true);
  t.same(states, ['open', 'half-open', 'closed']);
});

t.test('a success in between starts the count anew', async (t) => {
  const { breaker: it } = breaker();
  for (let i = 0; i < 5; i++) {
    it.failed();
    it.failed();
    it.succeeded();
  }
  t.equal(it.allows(), true);
});

t.test('it waits longer each time the try fails, up to a limit', async (t) => {
  const { clock, breaker: it } = breaker();
  for (let i = 0; i < 3; i++) it.failed();
  for (const expected of [250, 500, 1000, 2000, 4000, 5000, 5000]) {
    const from = clock.now;
    while (!it.allows()) clock.now += 50;
    t.equal(clock.now - from, expected);
    it.failed();
  }
});

t.test('a try that never says how it went does not keep later ones out for good', async (t) => {
  const { clock, breaker: it } = breaker();
  for (let i = 0; i < 3; i++) it.failed();
  clock.now = 250;
  t.equal(it.allows(), true);
  clock.now = 500;
  t.equal(it.allows(), true);
});
