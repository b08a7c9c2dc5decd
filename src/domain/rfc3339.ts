const form =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/;

/**
 * Parses an RFC 3339 date-time, or a date, which means the start of that day in UTC. `Date.parse` accepts more, such as
 * local time, and its results depend on the engine and the machine. Leap seconds (`:60`) are rejected, because
 * milliseconds since 1970 cannot represent them.
 *
 * @returns whole milliseconds since 1970; `undefined` if the text has any other format, or if the time in UTC is before
 * 1970 or after the year 9999, the last year that RFC 3339 allows
 */
export function parseInstant(text: string): number | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day));
  // `Date.UTC` turns April 31 into May 1, and the years 0 to 99 into 1900 to 1999. Such dates are rejected.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    return undefined;
  const offset = offsetMs(match[8], Number(match[9] ?? 0), Number(match[10] ?? 0));
  if (offset === undefined) return undefined;
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const instant = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds - offset;
  return instant < 0 || instant > latestInstantMs ? undefined : instant;
}

/** Returns the `detail` text to report if {@link parseInstant} rejects a query parameter. */
export function instantFault(text: string): string {
  const form = 'must be an RFC 3339 date such as `2026-01-31` or date-time such as `2026-01-31T12:00:00Z`';
  // A `+` in a query is decoded as a space, so a space probably means that the client sent a `+`.
  return text.includes(' ') ? `${form}; write the \`+\` of an offset as \`%2B\` in a query.` : `${form}.`;
}

/** Last millisecond of the year 9999, in milliseconds since 1970. */
export const latestInstantMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

type Six = [number, number, number, number, number, number];

function offsetMs(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (hours > 23 || minutes > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
