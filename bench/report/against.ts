import type { Result } from '../measure.ts';
import type { Case, Column } from '../scenarios/scenario.ts';
import type { RunRecord } from './record.ts';
import { difference, valuesOf, type Spread } from './statistics.ts';
import { figure, table } from './tables.ts';

/** Two builds beside each other, and where the second one is worse. */
export interface Comparison {
  /** A Markdown table, one row a figure. */
  readonly text: string;
  readonly rows: number;
  /** What is worse by more than its spread, such as `GET, 100 B, 1 connection: p99 µs`. */
  readonly worse: readonly string[];
}

interface Row {
  readonly name: string;
  readonly cells: readonly string[];
  readonly worse: boolean;
}

const header = ['', 'A', 'B', 'B / A', 'spread of A', 'spread of B', 'worse by more than its spread'];

/**
 * Compares two builds in every figure of which less or more is better. Other targets of the run stand beside them with
 * their medians.
 *
 * @param builds names of A and B among the targets of the run
 */
export function compareBuilds(
  cases: readonly Case[],
  { targets, results }: RunRecord,
  builds: readonly [a: string, b: string],
): Comparison {
  const others = targets.filter(({ name, skipped }) => !builds.includes(name) && skipped === undefined);
  const rows = cases.flatMap((one) => {
    const of = (name: string): Result | undefined =>
      results.find((result) => result.case === one.id && result.target === name);
    const [a, b] = [of(builds[0]), of(builds[1])];
    if (a === undefined || b === undefined) return [];
    const beside = others.map(({ name }) => of(name));
    if (a.failure !== undefined || b.failure !== undefined) return [failureRow(one, a, b, beside)];
    return one.columns.flatMap((column) => rowOf(one, column, a, b, beside) ?? []);
  });
  return {
    text: table(
      [...header, ...others.map(({ title }) => title)],
      rows.map(({ name, cells, worse }) => [name, ...cells.toSpliced(5, 0, worse ? 'yes' : 'no')]),
    ),
    rows: rows.length,
    worse: rows.filter(({ worse }) => worse).map(({ name }) => name),
  };
}

/** `undefined` where there is nothing to compare. */
function rowOf(
  one: Case,
  column: Column,
  a: Result,
  b: Result,
  beside: readonly (Result | undefined)[],
): Row | undefined {
  const { key, better } = column;
  const [valuesA, valuesB] = [valuesOf(a.samples, key), valuesOf(b.samples, key)];
  // Zeros everywhere, as of errors, say nothing.
  if (better === undefined || [...valuesA, ...valuesB].every((value) => value === 0)) return undefined;
  const { worse, ratio, spreadA, spreadB, ...medians } = difference(valuesA, valuesB, better);
  const range = ({ low, high }: Spread): string => `${figure(low, column)}–${figure(high, column)}`;
  return {
    name: `${one.title}: ${column.title}`,
    cells: [
      figure(medians.a, column),
      figure(medians.b, column),
      Number.isFinite(ratio) ? ratio.toFixed(3) : '–',
      range(spreadA),
      range(spreadB),
      ...beside.map((result) => figure(result?.median[key], column)),
    ],
    worse,
  };
}

function failureRow(one: Case, a: Result, b: Result, beside: readonly unknown[]): Row {
  const [saidA = '', saidB = ''] = [a, b].map(({ failure }) => failure ?? 'measured');
  const blank = '–';
  const cells = [saidA, saidB, blank, blank, blank, ...beside.map(() => blank)];
  return { name: one.title, cells, worse: b.failure !== undefined };
}
