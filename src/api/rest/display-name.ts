import { Type } from 'typebox';

/** Breaks lines, or changes the direction of what stands around it: both forge what people read. */
const forging = '\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069';
/** Letters and symbols that Unicode has, and that show nothing. */
const invisible = '\\u115f\\u1160\\u2800\\u3164\\uffa0';

/**
 * A name that people read: any text with something to be seen in it, and nothing that would forge what shows it.
 * @param maxLength in characters (code points, as JSON Schema and PostgreSQL count them)
 */
export function displayName(what: string, maxLength: number) {
  return Type.String({
    maxLength,
    pattern: `^[^${forging}]*(?![${invisible}])[\\p{L}\\p{N}\\p{P}\\p{S}][^${forging}]*$`,
    description: `a ${what} with something to be seen in it, and without control characters`,
  });
}
