import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiProblem } from './api/problem.ts';

/** Something that is read from the operator API. */
export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly value: T }
  | { readonly state: 'failed'; readonly problem: ApiProblem };

/** {@link Loaded}, with a way to read it again. */
export type Loading<T> = Loaded<T> & { readonly reload: () => void };

/**
 * Reads something when the component appears, when `inputs` change, and every `everyMs` milliseconds if given. A value
 * stays until the next one is there.
 */
export function useLoad<T>(load: () => Promise<T>, inputs: readonly unknown[], everyMs?: number): Loading<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  const key = JSON.stringify(inputs);
  useEffect(() => setLoaded({ state: 'loading' }), [key]);
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && setLoaded({ state: 'ready', value }),
      (error: unknown) => isCurrent && setLoaded({ state: 'failed', problem: asProblem(error) }),
    );
    return () => void (isCurrent = false);
  }, [key, round]);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => !document.hidden && reload(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return { ...loaded, reload };
}

/** Turns what was thrown into a problem that a page can show. */
export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(0, { code: 'console_fault', detail: `The console failed: ${String(error)}` });
}
