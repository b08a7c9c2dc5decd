import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { OperatorApi } from './api/operator-api.ts';
import type { ApiProblem } from './api/problem.ts';
import type { Operator } from '../../src/generated/operator-types.ts';
import { AccountPage } from './pages/account.tsx';
import { AccountsPage } from './pages/accounts.tsx';
import { ErasurePage } from './pages/erasure.tsx';
import { EventsPage } from './pages/events.tsx';
import { ExplainPage } from './pages/explain.tsx';
import { FindKeyPage } from './pages/find-key.tsx';
import { LivePage } from './pages/live.tsx';
import { KeyPage } from './pages/key.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { PlansPage } from './pages/plans.tsx';
import { SignInAgain, SignInPage } from './pages/sign-in.tsx';
import { SubAccountPage } from './pages/sub-account.tsx';
import { linkTo, useRoute, type Route } from './route.ts';
import { SessionContext } from './session.ts';
import { Heading } from './ui/heading.tsx';
import { Problem } from './ui/problem.tsx';
import { asProblem } from './use-load.ts';

type State =
  | { readonly kind: 'loading' | 'signed-out' }
  | { readonly kind: 'failed'; readonly problem: ApiProblem }
  | { readonly kind: 'signed-in'; readonly operator: Operator; readonly hasEnded: boolean };

/** The console: the sign-in page, or the pages of an operator. */
export function App({ api }: { readonly api: OperatorApi }): JSX.Element {
  const [state, setState] = useState<State>({ kind: 'loading' });
  const resume = async (): Promise<boolean> => {
    const operator = await api.resume();
    if (operator !== null) setState({ kind: 'signed-in', operator, hasEnded: false });
    return operator !== null;
  };
  const start = async (): Promise<void> => {
    try {
      if (!(await resume())) setState({ kind: 'signed-out' });
    } catch (error) {
      setState({ kind: 'failed', problem: asProblem(error) });
    }
  };
  const leave = (): void => setState({ kind: 'signed-out' });
  useEffect(() => {
    api.onEnded = () =>
      setState((before) => (before.kind === 'signed-in' ? { ...before, hasEnded: true } : before));
    void start();
  }, []);
  switch (state.kind) {
    case 'loading':
      return <p class="loading">Loading…</p>;
    case 'failed':
      return (
        <main>
          <Problem problem={state.problem} retry={() => void start()} />
        </main>
      );
    case 'signed-out':
      return <SignInPage api={api} onSignedIn={resume} />;
    case 'signed-in':
      return (
        <>
          <Pages api={api} operator={state.operator} onSignedOut={leave} />
          {state.hasEnded && <SignInAgain api={api} onSignedIn={resume} onClose={leave} />}
        </>
      );
  }
}

interface PagesProps {
  readonly api: OperatorApi;
  readonly operator: Operator;
  readonly onSignedOut: () => void;
}

function Pages({ api, operator, onSignedOut }: PagesProps): JSX.Element {
  const route = useRoute();
  const session = useMemo(() => ({ api, operator }), [api, operator]);
  useEffect(() => {
    // A new page begins at its top, and screen readers begin there, or in the one control that people come for.
    const first = document.querySelector<HTMLElement>('main [autofocus]') ?? document.querySelector('main');
    first?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [route.path.join('/')]);
  return (
    <SessionContext.Provider value={session}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <Header api={api} operator={operator} route={route} onSignedOut={onSignedOut} />
      <main id="main" tabIndex={-1}>
        <Page {...route} />
      </main>
    </SessionContext.Provider>
  );
}

/** The address stays as it is, because the part after `#` names the page. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector('main')?.focus();
}

const sections = [
  ['', 'Overview'],
  ['accounts', 'Accounts'],
  ['plans', 'Plans'],
  ['keys', 'Find a key'],
  ['explain', 'Explain'],
  ['live', 'Live'],
  ['events', 'Events'],
] as const;

function Header({
  api,
  operator,
  route: { path },
  onSignedOut,
}: PagesProps & { readonly route: Route }): JSX.Element {
  return (
    <header class="top">
      <a class="brand" href="#/">
        <img src="icon.svg" alt="" width={24} height={24} />
        Tenancy Gateway
      </a>
      <nav aria-label="Console">
        {sections.map(([section, name]) => (
          <a
            href={linkTo(section === '' ? [] : [section])}
            aria-current={(path[0] ?? '') === section && 'page'}
          >
            {name}
          </a>
        ))}
      </nav>
      <div class="operator">
        <span>
          {operator.operator} <span class="badge">{operator.role}</span>
        </span>
        <SignOut api={api} onSignedOut={onSignedOut} />
      </div>
    </header>
  );
}

function SignOut({ api, onSignedOut }: Pick<PagesProps, 'api' | 'onSignedOut'>): JSX.Element {
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const signOut = async (): Promise<void> => {
    try {
      await api.signOut();
      onSignedOut();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <>
      {problem && <span role="alert">You are still signed in. {problem.message}</span>}
      <button type="button" class="quiet" onClick={() => void signOut()}>
        Sign out
      </button>
    </>
  );
}

function Page({ path, query }: Route): ComponentChildren {
  const [section, id, part, subId] = path;
  switch (section) {
    case undefined:
      return <OverviewPage />;
    case 'accounts':
      if (id === undefined) return <AccountsPage query={query} />;
      if (part === 'sub-accounts' && subId !== undefined)
        return <SubAccountPage key={subId} parentId={id} id={subId} query={query} />;
      return <AccountPage key={id} id={id} query={query} />;
    case 'plans':
      return <PlansPage />;
    case 'erasures':
      return id === undefined ? <NoSuchPage /> : <ErasurePage key={id} id={id} />;
    case 'keys':
      return id === undefined ? <FindKeyPage query={query} /> : <KeyPage key={id} id={id} />;
    case 'explain':
      return <ExplainPage query={query} />;
    case 'live':
      return <LivePage query={query} />;
    case 'events':
      return <EventsPage query={query} />;
    default:
      return <NoSuchPage />;
  }
}

function NoSuchPage(): JSX.Element {
  return (
    <>
      <Heading title="No such page" />
      <p>
        <a href="#/">Go to the overview.</a>
      </p>
    </>
  );
}
