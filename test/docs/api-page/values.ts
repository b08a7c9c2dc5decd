/** Values that differ from run to run: ids, keys, times. On the page they are fixed ones; compared are their kinds. */
import { createHash } from 'node:crypto';

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z/g;
const secret = /\b(tgw_|tgs_)([0-9A-Za-z]{20,})/g;
const keyPart = /("(?:prefix|last4)": ?")([^"]+)(")/g;
/** What is of a machine, a moment or a version, with what the page has in its place. */
const passing: readonly (readonly [pattern: RegExp, fixed: string])[] = [
  [/(?<="request_id": ?")[0-9a-f]{32}(?=")/g, '4bf92f3577b34da6a3ce929d0e0e4736'],
  [/(?<="incarnation": ?")[^"]+(?=")/g, '7711039950975717716-00000001'],
  [/(?<="url": ?"[^"]+#)[\w-]{43}(?=")/g, 'Zm9yIGRvY3VtZW50YXRpb24gb25seSwgbm8gc2VjcmV'],
  [/(?<="host": ?")[^"]+(?=")/g, 'gateway-0'],
  [/(?<="version": ?")[^"]+(?=")/g, '1.0.0'],
  [/(?<="next_cursor": ?")[^"]+(?=")/g, 'WzEsInpJNktVRUd2Rm1UXyJd'],
  [/(?<="lease_age_ms": ?)\d+/g, '71'],
  [/(?<="age_ms": ?)\d+/g, '180'],
  [/(?<="clock_offset_ms": ?)(-?\d+|null)/g, '0'],
  [/(?<="unready": \[\],\s*"requests_per_second": ?)[\d.]+/g, '412.5'],
  [/(?<="open_\w+": ?)\d+/g, '12'],
  [/(?<="p50_ms": ?)([\d.]+|null)/g, '3.12'],
  [/(?<="p99_ms": ?)([\d.]+|null)/g, '41.7'],
  [/(?<="refusals": ?)\[[^\]]*\]/g, '[]'],
  [/(?<="rss_bytes": ?)\d+/g, '183500800'],
  [/(?<=; ms=)\d+/g, '4'],
  [/(?<=^retry-after: )\d+/gm, '674400'],
  // As many as the month has.
  [/(?<=^ratelimit-policy: .*;w=)\d{7}/gm, '2592000'],
  [/(?<=^ratelimit: .*;t=)\d+/gm, '674400'],
  // A replica that has had no answer from the store for 25 ms counts alone.
  [/(?<=^ratelimit: .*;r=)\d+/gm, '0'],
];

/** Numbers what comes up, from 1. */
class Numbers {
  readonly #seen = new Map<string, number>();

  of(value: string): number {
    const number = this.#seen.get(value) ?? this.#seen.size + 1;
    this.#seen.set(value, number);
    return number;
  }
}

/**
 * The kinds of values of one page, or of one run: to be given every response in order. An id is known by when it first
 * came up, so that the page says the same id wherever the gateway does.
 */
export class Kinds {
  readonly #ids = new Numbers();

  of(text: string): string {
    return passing
      .reduce((part, [pattern]) => part.replaceAll(pattern, '<any>'), text)
      .replaceAll(uuid, (id) => `<id ${this.#ids.of(id)}>`)
      .replaceAll(time, '<time>')
      .replaceAll(secret, '<secret>')
      .replaceAll(keyPart, '$1<part of a key>$3');
  }
}

/** Puts fixed values in the place of those of a run; to be given every response in order. */
export class FixedValues {
  readonly #ids = new Numbers();
  readonly #secrets = new Map<string, string>();
  readonly #parts = new Map<string, string>();
  readonly #startedMs: number;

  /** @param startedMs when the run began, as milliseconds since 1970 */
  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  of(text: string): string {
    return passing
      .reduce((part, [pattern, fixed]) => part.replaceAll(pattern, fixed), text)
      .replaceAll(uuid, (id) => {
        const number = this.#ids.of(id);
        return `01a1ff7b-9a25-7${hash(`id ${number}`).slice(0, 3)}-9c43-62236b0a${String(number).padStart(4, '0')}`;
      })
      .replaceAll(time, (at) => this.#time(at))
      .replaceAll(secret, (whole) => this.#secret(whole))
      .replaceAll(keyPart, (_, before: string, part: string, after: string) =>
        [before, this.#parts.get(part) ?? part, after].join(''),
      );
  }

  /** As long after the beginning of the page as it was after that of the run; hours stay hours, days days, and the first of a month is that. */
  #time(text: string): string {
    const at = Date.parse(text);
    if (Math.abs(at - this.#startedMs) > 40 * dayMs) return text;
    if (text.endsWith('-01T00:00:00.000Z'))
      return startOfMonth(pageMs, monthOf(at) - monthOf(this.#startedMs));
    const unit = [dayMs, hourMs, 1].find((each) => at % each === 0) ?? 1;
    const moved = at + floored(pageMs, unit) - floored(this.#startedMs, unit);
    return new Date(moved).toISOString();
  }

  #secret(whole: string): string {
    const known = this.#secrets.get(whole);
    if (known !== undefined) return known;
    const letters = Buffer.from(hash(`secret ${this.#secrets.size}`) + hash(whole.slice(0, 4)), 'hex')
      .toString('base64')
      .replaceAll(/[^0-9A-Za-z]/g, '');
    const fixed = whole.slice(0, 4) + letters.slice(0, whole.length - 4);
    this.#secrets.set(whole, fixed);
    this.#parts.set(whole.slice(0, 8), fixed.slice(0, 8)).set(whole.slice(-4), fixed.slice(-4));
    return fixed;
  }
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const pageMs = Date.parse('2026-11-23T09:30:00.000Z');

/** Number of months since 1970. */
function monthOf(ms: number): number {
  const date = new Date(ms);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** @param later by how many months */
function startOfMonth(ms: number, later: number): string {
  return new Date(Date.UTC(1970, monthOf(ms) + later)).toISOString();
}

function floored(ms: number, unit: number): number {
  return Math.floor(ms / unit) * unit;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
