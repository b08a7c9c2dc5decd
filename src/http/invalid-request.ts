import { ProblemError, type FieldFault, type Problem } from '../domain/problem.ts';

/**
 * Maximum number of faults in a response, unless an operation allows more, and maximum number of characters in a
 * pointer. Without these limits clients could choose the size of the response.
 */
const usualMostFaults = 20;
const maxPointer = 256;

/**
 * Returns the problem of a request whose body or parameters are invalid.
 *
 * @param most maximum number of faults that the problem names
 */
export function invalidRequest(faults: readonly FieldFault[], most = usualMostFaults): Problem {
  const first = faults[0];
  const errors = faults.slice(0, most).map(({ pointer, detail }) => ({ pointer: shorten(pointer), detail }));
  return {
    code: 'invalid_request',
    detail:
      first === undefined
        ? 'The request is not acceptable.'
        : `${describe(errors[0]?.pointer ?? '')} ${first.detail}` +
          (faults.length > 1 ? ` There are ${faults.length} faults in all.` : ''),
    errors,
  };
}

/** Returns an error for one invalid field. @param pointer as in {@link FieldFault} */
export function invalidField(pointer: string, detail: string): ProblemError {
  return new ProblemError(invalidRequest([{ pointer, detail }]));
}

function describe(pointer: string): string {
  if (pointer === '') return 'The body';
  return pointer.startsWith('?') ? `The query parameter \`${pointer.slice(1)}\`` : `\`${pointer}\``;
}

function shorten(pointer: string): string {
  return pointer.length <= maxPointer ? pointer : `${pointer.slice(0, maxPointer)}…`;
}

/** Escapes a name for use as a token of a JSON pointer (RFC 6901 §3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
