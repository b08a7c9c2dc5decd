import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { PortalApi } from './portal-api.ts';
import type { Permission, PortalSession } from './portal-session.ts';

/** What the pages of a session know. */
export interface Portal {
  readonly api: PortalApi;
  readonly session: PortalSession;
  /** Keeps the page as it is, even if the session ends, until the returned function is called. */
  readonly hold: () => () => void;
}

export const PortalContext = createContext<Portal | null>(null);

/** The session of the page. */
export function usePortal(): Portal {
  const portal = useContext(PortalContext);
  if (portal === null) throw new Error('no session has begun');
  return portal;
}

/** Returns a function that says whether the session may do something. */
export function useMay(): (permission: Permission) => boolean {
  const { session } = usePortal();
  return (permission) => session.permissions.includes(permission);
}

/** Keeps the page while the component is there: it shows what would be lost. */
export function useHold(): void {
  const { hold } = usePortal();
  useEffect(() => {
    const warn = (event: Event): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    const release = hold();
    return () => {
      removeEventListener('beforeunload', warn);
      release();
    };
  }, []);
}
