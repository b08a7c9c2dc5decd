import { Type } from 'typebox';

/**
 * A name that people read: any text but control characters, which would forge lines in whatever shows it.
 * @param maxLength in characters (code points, as JSON Schema and PostgreSQL count them)
 */
export function displayName(what: string, maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: `a ${what} without control characters`,
  });
}
