// class: pure
import t from 'tap';
import { isUsagePeriod, readUsagePeriod, type AskedPeriod } from '../../src/domain/usage-period.ts';

const now = Date.parse('2026-03-15T10:20:30.400Z');

t.test('a period is read, lowered and raised to the hour', (t) => {
  const april = Date.parse('2026-04-01T00:00:00Z');
  const readings: [string, AskedPeriod, from: string, to: string, nowMs?: number][] = [
    ['nothing asked: this month until now', {}, '2026-03-01T00', '2026-03-15T11'],
    ['from alone', { from: '2026-03-15T09:59:59Z' }, '2026-03-15T09', '2026-03-15T11'],
    ['to alone', { to: '2026-03-02' }, '2026-03-01T00', '2026-03-02T00'],
    ['days', { from: '2026-01-01', to: '2026-02-01' }, '2026-01-01T00', '2026-02-01T00'],
    ['hours', { from: '2026-01-01T05:00:00Z', to: '2026-01-01T06:00:00Z' }, '2026-01-01T05', '2026-01-01T06'],
    [
      'one hour',
      { from: '2026-01-01T05:10:00Z', to: '2026-01-01T05:20:00Z' },
      '2026-01-01T05',
      '2026-01-01T06',
    ],
    [
      'half-hour offsets',
      { from: '2026-01-01T05:30:00+05:30', to: '2026-01-01T06:30:00+05:30' },
      '2026-01-01T00',
      '2026-01-01T01',
    ],
    ['366 days', { from: '2024-01-01', to: '2025-01-01' }, '2024-01-01T00', '2025-01-01T00'],
    ['366 days until now', { from: '2025-03-14T10:20:30.400Z' }, '2025-03-14T10', '2026-03-15T11'],
    ['the first instant of a month', {}, '2026-04-01T00', '2026-04-01T01', april],
  ];
  for (const [name, asked, from, to, nowMs = now] of readings) {
    const period = readUsagePeriod(asked, nowMs);
    t.same(period, { fromMs: Date.parse(`${from}:00Z`), toMs: Date.parse(`${to}:00Z`) }, name);
    t.ok('fromMs' in period && isUsagePeriod(period), `${name}: may come back in a cursor`);
  }
  t.end();
});

t.test('what is no period is rejected with the parameter that is wrong', (t) => {
  const rejected: [string, AskedPeriod, string[]][] = [
    ['malformed from', { from: 'yesterday' }, ['?from']],
    ['malformed to', { to: '2026-02-30' }, ['?to']],
    ['both malformed', { from: '', to: '' }, ['?from', '?to']],
    ['reversed', { from: '2026-02-02', to: '2026-02-01' }, ['?to']],
    ['empty', { from: '2026-02-01', to: '2026-02-01' }, ['?to']],
    ['to before this month, from by default', { to: '2026-02-01' }, ['?to']],
    ['from in the future', { from: '2026-03-16' }, ['?from']],
    ['the last hour there is', { from: '9999-12-31', to: '9999-12-31T23:30:00Z' }, ['?to']],
    ['longer than 366 days', { from: '2024-01-01', to: '2025-01-01T00:00:01Z' }, ['?from']],
    ['longer than 366 days until now', { from: '2025-03-14T10:20:30.399Z' }, ['?from']],
  ];
  for (const [name, asked, pointers] of rejected) {
    const faults = readUsagePeriod(asked, now);
    t.same('fromMs' in faults ? [] : faults.map(({ pointer }) => pointer), pointers, name);
    // A response says "The query parameter `from`" before it.
    for (const { detail } of 'fromMs' in faults ? [] : faults) t.match(detail, /^(?:must|is) /, detail);
  }
  t.end();
});

t.test('a made-up period in a cursor is not believed', (t) => {
  const hour = 3_600_000;
  for (const [fromMs, toMs] of [
    [0, 0],
    [hour, 0],
    [-hour, 0],
    [1, hour],
    [0, hour + 1],
    [0, 1000 * 24 * hour],
    [Number.NaN, hour],
    [0, Infinity],
    [0, 1e300],
    [277_777 * 1000 * hour, 277_777 * 1000 * hour + hour],
  ] as const) {
    t.notOk(isUsagePeriod({ fromMs, toMs }), `${fromMs} to ${toMs}`);
  }
  t.end();
});
