import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { textOf } from '../form.ts';
import { goTo, linkTo } from '../route.ts';
import { useSession } from '../session.ts';
import { Heading } from '../ui/heading.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { watch, type LiveRequest, type TailState } from '../api/live.ts';

/** Maximum number of requests that the page keeps. */
const mostRows = 200;

const columns: readonly Column<LiveRequest>[] = [
  { name: 'When', cell: ({ at }) => <Time at={at} /> },
  { name: 'Status', isNumber: true, cell: ({ status }) => status ?? '–' },
  { name: 'Code', cell: ({ code }) => (code === null ? '–' : <code>{code}</code>) },
  { name: 'Request', cell: ({ method, path }) => <code>{`${method} ${path}`}</code> },
  { name: 'ms', isNumber: true, cell: ({ ms }) => ms },
  {
    name: 'Acted as',
    cell: ({ resolved_tenant, account_id, parent_id }) => (
      <AccountLink id={resolved_tenant} parentId={resolved_tenant === account_id ? parent_id : account_id} />
    ),
  },
  {
    name: 'Key',
    cell: ({ api_key_id }) =>
      api_key_id === null ? '–' : <a href={linkTo(['keys', api_key_id])}>{short(api_key_id)}</a>,
  },
  { name: 'Replica', cell: ({ replica_id }) => <span title={replica_id}>{short(replica_id)}</span> },
];

interface AccountLinkProps {
  readonly id: string | null;
  readonly parentId: string | null;
}

function AccountLink({ id, parentId }: AccountLinkProps): JSX.Element {
  if (id === null) return <>–</>;
  const path = parentId === null || parentId === id ? [id] : [parentId, 'sub-accounts', id];
  return (
    <a href={linkTo(['accounts', ...path])} title={id}>
      {short(id)}
    </a>
  );
}

/** The end of a UUID, which differs where beginnings are alike. */
function short(id: string): string {
  return `…${id.slice(-8)}`;
}

/** Requests of all replicas as they end. The address keeps the filters. */
export function LivePage({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const filters = {
    account_id: query.get('account_id') ?? '',
    api_key_id: query.get('api_key_id') ?? '',
    code: query.get('code') ?? '',
  };
  return (
    <>
      <Heading title="Live requests" />
      <form
        class="filters"
        key={JSON.stringify(filters)}
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const names = ['account_id', 'api_key_id', 'code'] as const;
          goTo(linkTo(['live'], Object.fromEntries(names.map((name) => [name, textOf(form, name) ?? '']))));
        }}
      >
        <label>
          Id of an account
          <input name="account_id" defaultValue={filters.account_id} />
        </label>
        <label>
          Id of a key
          <input name="api_key_id" defaultValue={filters.api_key_id} />
        </label>
        <label>
          Code
          <input name="code" defaultValue={filters.code} placeholder="rate_limited" />
        </label>
        <button type="submit">Filter</button>
      </form>
      <Tail key={JSON.stringify(filters)} filters={filters} />
    </>
  );
}

type Status = 'connecting' | 'open' | 'ended';

function Tail({ filters }: { readonly filters: Readonly<Record<string, string>> }): JSX.Element {
  const { api } = useSession();
  const [rows, setRows] = useState<readonly LiveRequest[]>([]);
  const [state, setState] = useState<TailState | null>(null);
  const [status, setStatus] = useState<Status>('connecting');
  const [isPaused, setPaused] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const again = (): void => {
    setStatus('connecting');
    setAttempt((last) => last + 1);
  };
  useEffect(() => {
    if (isPaused) return;
    return watch(filters, {
      onRequests: (requests) => setRows((before) => [...requests, ...before].slice(0, mostRows)),
      onState: (latest) => {
        setState(latest);
        setStatus('open');
      },
      onWaiting: () => setStatus('connecting'),
      onEnded: () => {
        setStatus('ended');
        // If the session has ended, this call notices it.
        api.get('/whoami').catch(() => undefined);
      },
    });
  }, [isPaused, attempt]);
  return (
    <section aria-label="Requests">
      <div class="heading">
        <p class="soft" role="status">
          {isPaused ? 'Paused.' : sentenceOf(status, state)}
        </p>
        {status === 'ended' ? (
          <button type="button" onClick={again}>
            Try again
          </button>
        ) : (
          <button type="button" onClick={() => setPaused((was) => !was)}>
            {isPaused ? 'Go on' : 'Pause'}
          </button>
        )}
      </div>
      <Table
        label="Live requests"
        columns={columns}
        rows={rows}
        keyOf={({ replica_id, request_id, at }) => `${replica_id} ${request_id} ${at}`}
        none="No request has ended since you opened the page."
      />
    </section>
  );
}

/** Says which replicas the list speaks for, and whether it is complete. */
function sentenceOf(status: Status, state: TailState | null): string {
  if (status === 'ended') return 'The stream has ended. Is an id wrong, or are eight streams open already?';
  if (status === 'connecting' || state === null) return 'Connecting…';
  const { replicas, sampled, dropped } = state;
  const speaksFor = `Requests of ${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'}, about a second after they end.`;
  return sampled || dropped > 0
    ? `${speaksFor} ${dropped} were left out, because there were too many.`
    : speaksFor;
}
