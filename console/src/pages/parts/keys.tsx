import type { JSX } from 'preact';
import type { HeldApiKey } from '../../../../src/generated/operator-types.ts';
import { keyHint } from '../../format.ts';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const columns: readonly Column<HeldApiKey>[] = [
  { name: 'Name', cell: ({ id, name }) => <a href={linkTo(['keys', id])}>{name}</a> },
  { name: 'Key', cell: (key) => <code>{keyHint(key)}</code> },
  { name: 'Account', cell: ({ account }) => account.name },
  { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') || '–' },
  { name: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} none="never" relative /> },
  { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} none="never" /> },
];

/** A table of keys. */
export function KeyTable({
  rows,
  none,
}: {
  readonly rows: readonly HeldApiKey[];
  readonly none: string;
}): JSX.Element {
  return <Table label="Keys" columns={columns} rows={rows} keyOf={({ id }) => id} none={none} />;
}

/** The keys of an account. */
export function KeysPart({ accountId }: { readonly accountId: string }): JSX.Element {
  const { api } = useSession();
  return (
    <Paged<HeldApiKey>
      load={(cursor) => api.get('/api-keys', { account_id: accountId, limit: 50, cursor })}
      inputs={[accountId]}
    >
      {(rows) => <KeyTable rows={rows} none="The account has no keys." />}
    </Paged>
  );
}
