import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiProblem } from './api/problem.ts';

/** Something that is read from an API. */
export type Loaded<T> =
  | { readonly state: 'loading' }
  | {
      readonly state: 'ready';
      readonly value: T;
      /** Why the latest reading failed, so that the value is an older one; `null` if it did not. */
      readonly stale: ApiProblem | null;
    }
  | { readonly state: 'failed'; readonly problem: ApiProblem };

/** {@link Loaded}, with a way to read it again. */
export type Loading<T> = Loaded<T> & { readonly reload: () => void };

/**
 * Reads something when the component appears and when `inputs` change. If `everyMs` is given, reads it again that many
 * milliseconds after each reading has ended, as long as the page is visible. A value stays until the next one is there.
 */
export function useLoad<T>(load: () => Promise<T>, inputs: readonly unknown[], everyMs?: number): Loading<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  const key = JSON.stringify(inputs);
  useEffect(() => setLoaded({ state: 'loading' }), [key]);
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = (): void => {
      if (everyMs !== undefined) timer = setTimeout(() => (document.hidden ? later() : void read()), everyMs);
    };
    const read = async (): Promise<void> => {
      const next = await result(load);
      if (!isCurrent) return;
      setLoaded((before) =>
        next.state === 'failed' && before.state === 'ready' ? { ...before, stale: next.problem } : next,
      );
      later();
    };
    void read();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key, round]);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  return { ...loaded, reload };
}

async function result<T>(load: () => Promise<T>): Promise<Exclude<Loaded<T>, { state: 'loading' }>> {
  try {
    return { state: 'ready', value: await load(), stale: null };
  } catch (error) {
    return { state: 'failed', problem: asProblem(error) };
  }
}

/** Turns what was thrown into a problem that a page can show. */
export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(0, { code: 'page_fault', detail: `The page failed: ${String(error)}` });
}
