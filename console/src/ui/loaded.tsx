import type { ComponentChildren } from 'preact';
import type { Loading } from '../use-load.ts';
import { Heading } from './heading.tsx';
import { Problem } from './problem.tsx';

interface ShowProps<T> {
  readonly of: Loading<T>;
  /** Heading of the page while there is no value. */
  readonly heading?: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows a value once it is there; until then, that it is being loaded or why it cannot be. */
export function Show<T>({ of: loaded, heading, children }: ShowProps<T>): ComponentChildren {
  if (loaded.state === 'ready')
    return (
      <>
        {loaded.stale && <p class="warning">This is not up to date. {loaded.stale.message}</p>}
        {children(loaded.value)}
      </>
    );
  return (
    <>
      {heading !== undefined && <Heading title={heading} />}
      {loaded.state === 'failed' ? (
        <Problem problem={loaded.problem} retry={loaded.reload} />
      ) : (
        <p class="loading" aria-live="polite">
          Loading…
        </p>
      )}
    </>
  );
}
