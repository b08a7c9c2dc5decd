import { InvalidArgumentError } from 'commander';

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Reads a duration such as `24h`, in seconds; a number alone is seconds. @throws {InvalidArgumentError} */
export function readSeconds(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,7})([smhd]?)$/.exec(text) ?? [];
  if (number === undefined)
    throw new InvalidArgumentError('It must be a duration such as 0, 90s, 15m, 24h or 7d.');
  return Number(number) * (secondsIn[unit] ?? 1);
}

/** The forms in which commands take the times of a period, for their help. */
export const pastForms = 'RFC 3339 date or time, UTC, or such as 15m, 24h or 7d ago';

/** A period as given by options of a command. */
export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Turns `15m`, a time in the past, into RFC 3339. Other texts stay unchanged, and the gateway reports those that are
 * wrong.
 *
 * @param unitMs relative times are rounded down to this many milliseconds of UTC
 */
export function readPeriod({ from, to }: Period, unitMs = 1): Period {
  const read = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : relative(text, -1, unitMs);
  return { from: read(from), to: read(to) };
}

/** Turns `90d`, a time in the future, into RFC 3339, as {@link readPeriod} does. */
export function readExpiry(text: string): string {
  return relative(text, 1, 1);
}

/**
 * Returns the options of a period to repeat with a cursor. They hold no relative time, which would mean another time by
 * then.
 */
export function repeatable(given: Period, period: Period): string {
  return (['from', 'to'] as const)
    .filter((name) => given[name] !== period[name])
    .map((name) => `--${name} ${period[name]} `)
    .join('');
}

function relative(text: string, sign: 1 | -1, unitMs: number): string {
  if (!/^\d{1,7}[smhd]$/.test(text)) return text;
  const ms = Date.now() + sign * readSeconds(text) * 1_000;
  return new Date(Math.floor(ms / unitMs) * unitMs).toISOString();
}
