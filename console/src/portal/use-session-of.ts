import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ApiProblem } from '../api/problem.ts';
import { asProblem } from '../use-load.ts';
import { watchLinks } from './link.ts';
import type { PortalApi } from './portal-api.ts';
import type { PortalSession } from './portal-session.ts';

type State =
  | { readonly kind: 'no-link' | 'opening' | 'refused' }
  | { readonly kind: 'failed'; readonly problem: ApiProblem; readonly link: string }
  | { readonly kind: 'open'; readonly session: PortalSession }
  | { readonly kind: 'left' | 'ended'; readonly returnUrl: string | null };

/** The session of the page, as it begins and ends. */
export interface SessionOf {
  readonly state: State;
  /** Opens the link once more after a failure. */
  readonly retry: () => void;
  /** Called when the person has left. */
  readonly left: () => void;
  /** Keeps the pages of the session, even if it ends, until the returned function is called. */
  readonly hold: () => () => void;
}

/** Milliseconds from one look at the session to the next, while the page is in view. */
const lookMs = 60_000;

/** Looks whether the session was ended elsewhere, each minute and when the page comes into view. @returns stops it */
function watchEnd(api: PortalApi): () => void {
  const look = (): void => {
    // A 401 ends the session of the page; another failure says nothing about it.
    if (document.visibilityState === 'visible') api.get('/session').catch(() => undefined);
  };
  const timer = setInterval(look, lookMs);
  document.addEventListener('visibilitychange', look);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
  };
}

/** Opens links and watches the session of the latest one. @param firstLink secret of the link that opened the page */
export function useSessionOf(api: PortalApi, firstLink: string | null): SessionOf {
  const [state, setState] = useState<State>({ kind: firstLink === null ? 'no-link' : 'opening' });
  const [hasEnded, setEnded] = useState(false);
  const [holds, setHolds] = useState(0);
  const latest = useRef('');
  const redeem = async (link: string): Promise<void> => {
    latest.current = link;
    setState({ kind: 'opening' });
    setEnded(false);
    const next = await opened(api, link);
    if (latest.current === link) setState(next);
  };
  useEffect(() => {
    api.onEnded = () => setEnded(true);
    if (firstLink !== null) void redeem(firstLink);
    return watchLinks((link) => void redeem(link));
  }, []);
  const session = state.kind === 'open' ? state.session : null;
  useEffect(() => {
    if (session === null) return;
    const timer = setTimeout(() => setEnded(true), session.endsAtMs - Date.now());
    const endCheck = watchEnd(api);
    return () => {
      clearTimeout(timer);
      endCheck();
    };
  }, [session]);
  const close = (kind: 'left' | 'ended'): void => {
    api.forget();
    setState({ kind, returnUrl: session?.return_url ?? null });
  };
  useEffect(() => {
    if (session !== null && hasEnded && holds === 0) close('ended');
  }, [session, hasEnded, holds]);
  const hold = useCallback(() => {
    setHolds((number) => number + 1);
    return () => setHolds((number) => number - 1);
  }, []);
  return {
    state,
    hold,
    left: () => close('left'),
    retry: () => {
      if (state.kind === 'failed') void redeem(state.link);
    },
  };
}

async function opened(api: PortalApi, link: string): Promise<State> {
  try {
    return { kind: 'open', session: await api.redeem(link) };
  } catch (error) {
    const problem = asProblem(error);
    // A link that was cut off, or has more behind it, is a fault of the request.
    return [400, 401, 413].includes(problem.status) ? { kind: 'refused' } : { kind: 'failed', problem, link };
  }
}
