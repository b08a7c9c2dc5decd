import { Type } from 'typebox';

/**
 * Characters that break lines or change the direction of text. A name could use them to imitate other text on a screen.
 */
const forging = '\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069';
/** Unicode letters and symbols that are invisible. */
const invisible = '\\u115f\\u1160\\u2800\\u3164\\uffa0';

/**
 * Schema of a name that people read. The name must have at least one visible character. Characters that could make the
 * name imitate other text are forbidden.
 *
 * @param what noun used in the description of faults, such as `name`
 * @param maxLength maximum number of characters (code points, as JSON Schema and PostgreSQL count them)
 */
export function displayName(what: string, maxLength: number) {
  return Type.String({
    maxLength,
    pattern: `^[^${forging}]*(?![${invisible}])[\\p{L}\\p{N}\\p{P}\\p{S}][^${forging}]*$`,
    description: `a ${what} with at least one visible character and without control characters`,
  });
}
