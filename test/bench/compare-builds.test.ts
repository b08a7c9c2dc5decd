// class: pure
import t from 'tap';
import { compareBuilds } from '../../bench/report/against.ts';
import type { RunRecord } from '../../bench/report/record.ts';
import { difference, medians } from '../../bench/report/statistics.ts';
import type { Case } from '../../bench/scenarios/scenario.ts';

const steady = [100, 101, 102, 103];

const aCase: Case = {
  id: 'small',
  title: 'small',
  columns: [
    { key: 'cpu', title: 'CPU', digits: 1, better: 'lower' },
    { key: 'errors', title: 'errors', digits: 0, better: 'lower' },
    { key: 'note', title: 'note', digits: 0 },
  ],
  measure: () => Promise.reject(new Error('not measured here')),
};

t.test('a build is worse when its median is off by more than the rounds differ among themselves', (t) => {
  t.equal(
    difference(
      steady,
      steady.map((value) => value + 2),
      'lower',
    ).worse,
    true,
  );
  t.equal(
    difference(
      steady,
      steady.map((value) => value + 1),
      'lower',
    ).worse,
    false,
  );
  t.end();
});

t.test('a build is not worse when it is better', (t) => {
  t.equal(
    difference(
      steady,
      steady.map((value) => value / 2),
      'lower',
    ).worse,
    false,
  );
  t.equal(
    difference(
      steady,
      steady.map((value) => value * 2),
      'higher',
    ).worse,
    false,
  );
  t.end();
});

t.test('where more is better, less is worse', (t) => {
  t.equal(
    difference(
      steady,
      steady.map((value) => value - 2),
      'higher',
    ).worse,
    true,
  );
  t.end();
});

t.test('the wider spread of the two builds counts, whichever build it is of', (t) => {
  const [narrow, wide] = [
    [100, 100, 100, 100],
    [90, 100, 110, 120],
  ];
  t.equal(difference(narrow, wide, 'lower').worse, false);
  t.equal(
    difference(
      wide,
      narrow.map((value) => value + 10),
      'lower',
    ).worse,
    false,
  );
  t.end();
});

t.test('one round in which the machine stalled does not excuse a slower build', (t) => {
  const slower = [110, 111, 112, 113, 114, 115, 116, 900];
  t.equal(difference([100, 101, 102, 103, 104, 105, 106, 107], slower, 'lower').worse, true);
  t.end();
});

t.test(
  'a build that fails where the other one serves is worse, whatever its rounds before that were',
  (t) => {
    const { worse, rows } = compareBuilds([aCase], recordOf([1, 1], [1], 'the connection broke'), ['a', 'b']);
    t.strictSame(worse, ['small']);
    t.equal(rows, 1);
    t.end();
  },
);

t.test('a row names its case and figure, and figures of zero everywhere have none', (t) => {
  const { worse, rows } = compareBuilds([aCase], recordOf([1, 1], [2, 2]), ['a', 'b']);
  t.strictSame(worse, ['small: CPU']);
  t.equal(rows, 1, 'errors were zero everywhere');
  t.end();
});

/** A run of two builds with these CPU figures, one a round. */
function recordOf(a: readonly number[], b: readonly number[], failureOfB?: string): RunRecord {
  const result = (target: string, values: readonly number[]): RunRecord['results'][number] => {
    const samples = values.map((cpu, i) => ({ cpu, errors: 0, note: i }));
    return { case: 'small', target, samples, median: medians(samples) };
  };
  return {
    targets: [],
    results: [
      result('a', a),
      { ...result('b', b), ...(failureOfB !== undefined && { failure: failureOfB }) },
    ],
  } as unknown as RunRecord;
}
