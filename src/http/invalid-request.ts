import { ProblemError, type FieldFault, type Problem } from '../domain/problem.ts';

/**
 * Maximum number of faults that a response lists, unless an operation allows more. Without a maximum, clients could
 * make the response as large as they like.
 */
const usualMostFaults = 20;
/** Maximum length of a JSON pointer in a response, in characters; longer pointers are cut. */
const maxPointer = 256;

/**
 * Returns the problem for a request with an invalid body or invalid parameters.
 *
 * @param most maximum number of faults that the problem lists
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

/** Escapes a name for use in a JSON pointer (RFC 6901 §3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
