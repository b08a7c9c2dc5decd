import type { JSX } from 'preact';
import type { ApiProblem } from '../api/problem.ts';
import { useWording } from '../wording.ts';

interface ProblemProps {
  readonly problem: ApiProblem;
  readonly retry?: () => void;
  /** Whether a change ended with the problem. */
  readonly isOfChange?: boolean;
}

/** An error of the API, with what to do about it. */
export function Problem({ problem, retry, isOfChange = false }: ProblemProps): JSX.Element {
  const { code, faults, requestId } = problem;
  const { advice } = useWording();
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{problem.message}</strong>
      </p>
      {isOfChange && problem.isUncertain && (
        <p>The change may have been made. Repeat it to be sure: it takes effect once.</p>
      )}
      {faults.length > 1 && (
        <ul>
          {faults.map(({ pointer, detail }) => (
            <li>
              <code>{pointer}</code>: {detail}
            </li>
          ))}
        </ul>
      )}
      <p class="soft">
        {advice[code]} <code>{code}</code>
        {requestId !== null && (
          <>
            {' '}
            · request <code>{requestId}</code>
          </>
        )}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
