import { nullableText } from './typebox.ts';
import { Type } from 'typebox';

/** A moment in responses: RFC 3339 in UTC, to the millisecond. */
export const timestamp = Type.String({ format: 'date-time' });
export const nullableTimestamp = nullableText({ format: 'date-time' });

/** Writes a moment that may not have come. */
export function timestampOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
