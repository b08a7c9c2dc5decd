import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiProblem } from '../api/problem.ts';
import { asProblem } from '../use-load.ts';
import { counted } from '../format.ts';
import type { Brand } from './brand.ts';
import { ReturnLink } from './return-link.tsx';
import { usePortal } from './session.ts';

interface HeaderProps {
  readonly brand: Brand;
  readonly children?: ComponentChildren;
}

/** The top of every page. Its children belong to a session. */
export function PortalHeader({ brand, children }: HeaderProps): JSX.Element {
  const name = (
    <>
      {brand.has_logo && <img src="logo" alt="" height={28} />}
      {brand.name}
    </>
  );
  return (
    <header class="top">
      {children === undefined ? (
        <span class="brand">{name}</span>
      ) : (
        <a class="brand" href="#/">
          {name}
        </a>
      )}
      {children}
    </header>
  );
}

interface FooterProps {
  readonly links: Brand['links'];
  /** Where the person came from; `null` if it is not known, or another part of the page says it. */
  readonly returnUrl: string | null;
}

/** Links of the provider, such as to its documentation. */
export function PortalFooter({ links, returnUrl }: FooterProps): JSX.Element | null {
  if (links.length === 0 && returnUrl === null) return null;
  return (
    <footer class="foot">
      {returnUrl !== null && <ReturnLink url={returnUrl} />}
      {links.map(({ name, url }) => (
        <a href={url} target="_blank" rel="noreferrer">
          {name}
        </a>
      ))}
    </footer>
  );
}

const soonMinutes = 5;

/** How many minutes the session still has. Screen readers say the last ones. */
export function MinutesLeft(): JSX.Element {
  const { session } = usePortal();
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  const minutes = Math.floor(Math.max(0, session.endsAtMs - nowMs) / 60_000);
  const isSoon = minutes < soonMinutes;
  return (
    <span class={isSoon ? 'minutes soon' : 'minutes'} role={isSoon ? 'status' : undefined}>
      {minutes === 0 ? 'less than a minute' : counted(minutes, 'minute')} left
    </span>
  );
}

/** Ends the session. */
export function Leave({ onLeft }: { readonly onLeft: () => void }): JSX.Element {
  const { api } = usePortal();
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const leave = async (): Promise<void> => {
    try {
      await api.leave();
      onLeft();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <>
      {problem && <span role="alert">Your session goes on. {problem.message}</span>}
      <button type="button" class="quiet" onClick={() => void leave()}>
        Leave
      </button>
    </>
  );
}
