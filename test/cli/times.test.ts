// class: pure
import t from 'tap';
import { readExpiry, readPeriod, repeatable } from '../../src/cli/times.ts';

const dayMs = 86_400_000;

t.test('a span is a time ago in a period, and a time from now in an expiry', async (t) => {
  for (const [text, seconds] of [
    ['90s', 90],
    ['15m', 900],
    ['24h', 86_400],
    ['7d', 604_800],
  ] as const) {
    const before = Date.now();
    const [from, expiry] = [Date.parse(readPeriod({ from: text }).from ?? ''), Date.parse(readExpiry(text))];
    const tookMs = Date.now() - before;
    t.ok(from >= before - seconds * 1_000 && from <= before + tookMs - seconds * 1_000, text);
    t.ok(expiry >= before + seconds * 1_000 && expiry <= before + tookMs + seconds * 1_000, text);
  }
  t.equal(Date.parse(readPeriod({ to: '1h' }, dayMs).to ?? '') % dayMs, 0, 'rounded down to the day');
});

t.test('any other text is left to the gateway', async (t) => {
  for (const text of ['2026-01-31', '2026-01-31T12:00:00+02:00', '2026', '1w', '-1h', 'h', ''])
    t.same(readPeriod({ from: text, to: text }), { from: text, to: text });
  t.same(readPeriod({}), { from: undefined, to: undefined });
});

t.test('with a cursor the time that was read is repeated', async (t) => {
  t.equal(repeatable({ from: '1h', to: '2026-01-31' }, { from: 'A', to: '2026-01-31' }), '--from A ');
  t.equal(repeatable({ from: '2026-01-31' }, { from: '2026-01-31' }), '');
});
