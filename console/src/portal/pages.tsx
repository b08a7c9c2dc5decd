import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { linkTo, useRoute, type Route } from '../route.ts';
import { Heading } from '../ui/heading.tsx';
import type { Brand } from './brand.ts';
import { Leave, MinutesLeft, PortalHeader } from './frame.tsx';
import { AllEventsPage } from './pages/all-events.tsx';
import { AllUsagePage } from './pages/all-usage.tsx';
import { KeyPage } from './pages/key.tsx';
import { SubAccountPage } from './pages/sub-account.tsx';
import { SubAccountsPage } from './pages/sub-accounts.tsx';
import type { Permission } from './portal-session.ts';
import { useMay, usePortal } from './session.ts';

interface PortalPagesProps {
  readonly brand: Brand;
  readonly onLeft: () => void;
}

/** The pages of a session. */
export function PortalPages({ brand, onLeft }: PortalPagesProps): JSX.Element {
  const { session } = usePortal();
  const route = useRoute();
  useEffect(() => {
    // A new page begins at its top, and screen readers begin there.
    document.querySelector('main')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [route.path.join('/')]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <PortalHeader brand={brand}>
        {session.sub_account === null ? <Sections route={route} /> : <span class="gap" />}
        <div class="operator">
          {session.user !== null && <span class="user">{session.user}</span>}
          <MinutesLeft />
          <Leave onLeft={onLeft} />
        </div>
      </PortalHeader>
      <main id="main" tabIndex={-1}>
        <Page {...route} />
      </main>
    </>
  );
}

/** The address stays as it is, because the part after `#` names the page. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector('main')?.focus();
}

const sections: readonly (readonly [path: string, name: string, permission: Permission | null])[] = [
  ['sub-accounts', 'Sub-accounts', null],
  ['usage', 'Usage', 'usage:read'],
  ['events', 'Events', 'events:read'],
];

/** What a session that sees all sub-accounts can look at. */
function Sections({ route: { path } }: { readonly route: Route }): JSX.Element {
  const may = useMay();
  const current = path[0] ?? 'sub-accounts';
  const seen = sections.filter(([, , permission]) => permission === null || may(permission));
  if (seen.length === 1) return <span class="gap" />;
  return (
    <nav aria-label="Portal">
      {seen.map(([section, name]) => (
        <a href={linkTo([section])} aria-current={current === section && 'page'}>
          {name}
        </a>
      ))}
    </nav>
  );
}

function Page({ path, query }: Route): ComponentChildren {
  const { session } = usePortal();
  const [section = 'sub-accounts', id = session.sub_account?.id, part, keyId] = path;
  const seesAll = session.sub_account === null;
  if (section === 'usage' && seesAll) return <AllUsagePage />;
  if (section === 'events' && seesAll) return <AllEventsPage />;
  if (section !== 'sub-accounts') return <NoSuchPage />;
  if (id === undefined) return <SubAccountsPage query={query} />;
  if (part === 'keys' && keyId !== undefined) return <KeyPage key={keyId} ownerId={id} id={keyId} />;
  return <SubAccountPage key={id} id={id} tab={query.get('tab')} />;
}

function NoSuchPage(): JSX.Element {
  return (
    <>
      <Heading title="No such page" />
      <p>
        <a href="#/">Go to the first page.</a>
      </p>
    </>
  );
}
