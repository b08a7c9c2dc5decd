/** What has been tried, how it ended, and what was wrong. */
import { asKept, type Kept } from './corpus.ts';
import { escape } from './escape.ts';

export interface Failure {
  readonly what: string;
  /** To be replayed. */
  readonly kept: Kept | undefined;
  /** What the client got. */
  readonly seen: string;
}

export class Tally {
  /** After so many failures there is no point in going on. */
  readonly most: number;
  requests = 0;
  readonly failures: Failure[] = [];
  /** Lines for the end of the report. */
  readonly notes: string[] = [];
  /** Requests by upstream, and within by how they ended. */
  readonly endings = new Map<string, Map<string, number>>();
  readonly statuses = new Map<number, number>();

  constructor(most = 5) {
    this.most = most;
  }

  get hopeless(): boolean {
    return this.failures.length >= this.most;
  }

  count(upstream: string, ending: string, status: number): void {
    this.requests += 1;
    add(this.statuses, status);
    const endings = this.endings.get(upstream) ?? new Map<string, number>();
    this.endings.set(upstream, endings);
    add(endings, ending);
  }

  fail(failure: Failure): void {
    this.failures.push(failure);
  }
}

/** One line for while it runs. */
export function progress(tally: Tally, seconds: number): string {
  const rate = Math.round(tally.requests / seconds);
  const codes = [...tally.statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status || 'none'} ${count}`);
  return `${tally.requests} requests, ${rate}/s | ${codes.join('  ')}${tally.failures.length > 0 ? ` | ${tally.failures.length} FAILED` : ''}`;
}

/** The table at the end. */
export function table(tally: Tally): string {
  const columns = [...new Set([...tally.endings.values()].flatMap((endings) => [...endings.keys()]))].sort();
  const rows = [...tally.endings].map(([upstream, endings]) => [
    upstream,
    ...columns.map((name) => String(endings.get(name) ?? 0)),
  ]);
  const lines = [['', ...columns], ...rows].map((row) =>
    row
      .map((cell, i) =>
        i === 0 ? cell.padEnd(10) : cell.padStart(Math.max(10, (columns[i - 1] ?? '').length + 2)),
      )
      .join(''),
  );
  return [...lines, ...tally.notes].join('\n');
}

/** What went wrong, each kind with how often. */
export function summary({ failures }: Tally): string {
  const kinds = new Map<string, number>();
  for (const { what } of failures) add(kinds, what.replace(/=[0-9a-z]{6}=|\d+/g, 'N').slice(0, 200));
  return [...kinds].map(([what, count]) => `${String(count).padStart(6)} × ${what}`).join('\n');
}

export function describe({ what, kept, seen }: Failure): string {
  const shown = seen === '' ? '' : `  the client got:\n${indent(escape(seen.slice(0, 2000)))}\n`;
  return `FAILED: ${what}\n${shown}${kept === undefined ? '' : `  replay:\n${indent(asKept(kept))}`}`;
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, '    ');
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
