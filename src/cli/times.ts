import { InvalidArgumentError } from 'commander';

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * Converts a duration such as `24h` to seconds. A number without a unit means seconds. @throws {InvalidArgumentError}
 */
export function readSeconds(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,7})([smhd]?)$/.exec(text) ?? [];
  if (number === undefined)
    throw new InvalidArgumentError('It must be a duration such as 0, 90s, 15m, 24h or 7d.');
  return Number(number) * (secondsIn[unit] ?? 1);
}

/** Help text that says how to write a time in the past. */
export const pastForms = 'RFC 3339 date or time, UTC, or such as 15m, 24h or 7d ago';

/** A period as given by a command's options. */
export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Converts relative times to RFC 3339: `15m` means 15 minutes ago. Any other text is left unchanged, and the gateway
 * rejects it if it is not a valid time.
 *
 * @param unitMs unit in milliseconds; a relative time is rounded down to a whole unit since 1970
 */
export function readPeriod({ from, to }: Period, unitMs = 1): Period {
  const read = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : relative(text, -1, unitMs);
  return { from: read(from), to: read(to) };
}

/** Converts a relative time to RFC 3339: `90d` means 90 days from now. Any other text is left unchanged. */
export function readExpiry(text: string): string {
  return relative(text, 1, 1);
}

/**
 * Returns the options `--from` and `--to` for the command that shows the next page. Relative times become RFC 3339,
 * because by then `15m` would mean a later time. Other times are left out, because they can be repeated as given.
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
