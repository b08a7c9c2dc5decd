import { baselines } from '../targets/all.ts';
import type { Result } from '../measure.ts';
import type { Case, Column } from '../scenarios/scenario.ts';
import type { RunRecord } from './record.ts';

/** Work of others, per cent of one core, above which a round is called disturbed. */
const disturbedPercent = 5;

/** One case as a Markdown table that also reads well on a terminal. Medians; ratios are of the first column. */
export function caseTable(one: Case, record: RunRecord): string {
  const { targets, results } = record;
  const own = results.filter(
    (result) => result.case === one.id && result.samples.length > 0 && result.failure === undefined,
  );
  const [first, ...others] = one.columns;
  if (first === undefined || own.length === 0)
    return ['Nothing was measured.', ...failures(one, record)].join('\n\n');
  const measures = baselines.flatMap(({ name }) => own.find(({ target }) => target === name) ?? []);
  const header = [
    'target',
    first.title,
    'spread',
    ...measures.map(({ target }) => `× ${target}`),
    ...others.map(({ title }) => title),
  ];
  const rows = own.map((result) => [
    targets.find(({ name }) => name === result.target)?.title ?? result.target,
    figure(result.median[first.key], first),
    spread(result, first),
    ...measures.map((measure) => ratio(result, measure, first)),
    ...others.map((column) => figure(result.median[column.key], column)),
  ]);
  return [table(header, rows), ...failures(one, record)].join('\n\n');
}

/** Memory over the whole run. */
export function memoryTable({ targets }: RunRecord): string {
  const rows = targets.flatMap(({ title, memory }) =>
    memory === undefined || memory.peak === 0
      ? []
      : [[title, ...[memory.atStart, memory.peak, memory.atEnd].map((mb) => mb.toFixed(0))]],
  );
  return table(['target', 'RSS at the start, MB', 'highest', 'at the end'], rows);
}

/** Says so where others used the two cores, or `undefined`. */
export function disturbance({ results }: RunRecord): string | undefined {
  const samples = results.flatMap((result) => result.samples);
  const disturbed = samples.filter(({ foreign = 0 }) => foreign > disturbedPercent).length;
  if (disturbed === 0) return undefined;
  return `other programs used more than ${disturbedPercent} % of a core in ${disturbed} of ${samples.length} rounds.`;
}

/** Lines of a Markdown table, padded; every column but the first is aligned to the right. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, i) =>
    Math.max(3, title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(header), line(rule), ...rows.map(line)].join('\n');
}

function failures(one: Case, { results }: RunRecord): string[] {
  return results.flatMap(({ case: id, target, failure }) =>
    id === one.id && failure !== undefined ? [`${target} failed: ${failure}.`] : [],
  );
}

/** A figure as text; a dash where there is none. */
export function figure(value: number | undefined, { digits }: Column): string {
  // No proxy, no cost of one.
  if (value === undefined || Number.isNaN(value) || (value === 0 && digits > 0)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Highest minus lowest, per cent of the median: what the machine's noise may have done. */
function spread({ samples, median }: Result, { key }: Column): string {
  const values = samples.map((sample) => sample[key] ?? Number.NaN);
  const share = (Math.max(...values) - Math.min(...values)) / (median[key] ?? Number.NaN);
  return Number.isFinite(share) ? `${Math.round(100 * share)} %` : '–';
}

function ratio({ median }: Result, measure: Result, { key }: Column): string {
  const value = (median[key] ?? Number.NaN) / (measure.median[key] ?? Number.NaN);
  return Number.isFinite(value) && value > 0 ? value.toFixed(2) : '–';
}
