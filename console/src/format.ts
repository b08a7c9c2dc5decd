const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const count = new Intl.NumberFormat();
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** A number with the viewer's separators. */
export function formatCount(value: number): string {
  return count.format(value);
}

/** A number with its noun, such as "3 replicas". */
export function counted(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/**
 * What a limit in force allows. Of a limit a second, the API says how many requests may come at once: its burst, if it
 * has one.
 */
export function formatLimit(limit: number, { unit, per }: Counted): string {
  return `${formatCount(limit)} ${unit} ${per === 'second' ? 'at once' : `a ${per}`}`;
}

interface Counted {
  readonly unit: string;
  readonly per: string;
}

/** A time in the viewer's time zone. */
export function formatTime(iso: string): string {
  return time.format(new Date(iso));
}

/** A time in UTC, to the second. */
export function formatUtc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** Time between `iso` and `nowMs`, such as "3 minutes ago". */
export function formatAgo(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  const [unit, unitMs] = units.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? units[3];
  return ago.format(Math.round(ms / unitMs), unit);
}

/** The first and last characters of a key, as far as they are known. */
export function keyHint({ prefix, last4 }: KeyHints): string {
  return prefix === null && last4 === null ? 'not known' : `${prefix ?? ''}…${last4 ?? ''}`;
}

interface KeyHints {
  readonly prefix: string | null;
  readonly last4: string | null;
}
