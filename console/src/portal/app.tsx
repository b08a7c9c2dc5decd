import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Problem } from '../ui/problem.tsx';
import { WordingContext } from '../wording.ts';
import { useBrand, type Brand } from './brand.ts';
import { PortalFooter, PortalHeader } from './frame.tsx';
import type { PortalApi } from './portal-api.ts';
import { PortalPages } from './pages.tsx';
import { PlainPage } from './plain-page.tsx';
import { PortalContext } from './session.ts';
import { useSessionOf, type SessionOf } from './use-session-of.ts';
import { forCustomers } from './wording.ts';

interface PortalAppProps {
  readonly api: PortalApi;
  /** Secret of the link that opened the page; `null` if there was none. */
  readonly link: string | null;
}

/** The portal: the pages of a session, or a page that says why there is none. */
export function PortalApp({ api, link }: PortalAppProps): JSX.Element {
  const brand = useBrand();
  const current = useSessionOf(api, link);
  const { state } = current;
  const returnUrl = state.kind === 'open' ? state.session.return_url : null;
  const wording = useMemo(() => ({ ...forCustomers, site: brand.name }), [brand]);
  return (
    <WordingContext.Provider value={wording}>
      <Content api={api} brand={brand} current={current} />
      <PortalFooter links={brand.links} returnUrl={returnUrl} />
    </WordingContext.Provider>
  );
}

interface ContentProps {
  readonly api: PortalApi;
  readonly brand: Brand;
  readonly current: SessionOf;
}

function Content({ api, brand, current }: ContentProps): JSX.Element {
  const { state, hold, retry } = current;
  const session = state.kind === 'open' ? state.session : null;
  const portal = useMemo(() => session && { api, session, hold }, [api, session]);
  if (portal !== null)
    return (
      <PortalContext.Provider value={portal}>
        <PortalPages brand={brand} onLeft={current.left} />
      </PortalContext.Provider>
    );
  return (
    <>
      <PortalHeader brand={brand} />
      <main class="plain-page">
        <Without state={state} retry={retry} />
      </main>
    </>
  );
}

/** What the page says while there is no session. */
function Without({ state, retry }: Pick<SessionOf, 'state' | 'retry'>): JSX.Element {
  switch (state.kind) {
    case 'opening':
    case 'open':
      return (
        <p class="loading" aria-live="polite">
          Opening…
        </p>
      );
    case 'failed':
      return <Problem problem={state.problem} retry={retry} />;
    case 'refused':
      return (
        <PlainPage title="This link does not work any more">
          A link works once, and for five minutes. Open the portal anew from where you came.
        </PlainPage>
      );
    case 'no-link':
      return (
        <PlainPage title="Open the portal from where you came">
          This page opens by a link that works once. For your safety it forgets your session when it is
          reloaded or closed.
        </PlainPage>
      );
    case 'left':
      return (
        <PlainPage title="You have left" returnUrl={state.returnUrl}>
          Your session has ended. You can close this page.
        </PlainPage>
      );
    case 'ended':
      return (
        <PlainPage title="This session has ended" returnUrl={state.returnUrl}>
          Open the portal anew from where you came.
        </PlainPage>
      );
  }
}
