import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../../../src/generated/client-types.ts';
import { keyHint } from '../../format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useDialog } from '../../use-dialog.ts';
import { MintKey } from '../changes/mint-key.tsx';
import { usePlaces } from '../places.ts';
import { useMay, usePortal } from '../session.ts';

interface KeysPartProps {
  readonly ownerId: string;
}

/** The keys of a sub-account, with a button that mints one. */
export function KeysPart({ ownerId }: KeysPartProps): JSX.Element {
  const may = useMay();
  const [round, setRound] = useState(0);
  const { name, show, closed } = useDialog<'mint'>(() => setRound((last) => last + 1));
  return (
    <>
      {may('keys:write') && (
        <p>
          <button type="button" class="primary" onClick={() => show('mint')}>
            Mint a key
          </button>
        </p>
      )}
      {may('keys:read') ? (
        <KeyList key={round} ownerId={ownerId} />
      ) : (
        <p class="soft">Your session may mint keys, but not list them.</p>
      )}
      {name === 'mint' && <MintKey ownerId={ownerId} onClose={closed} />}
    </>
  );
}

function KeyList({ ownerId }: KeysPartProps): JSX.Element {
  const places = usePlaces();
  const { api } = usePortal();
  const columns: readonly Column<ApiKey>[] = [
    { name: 'Name', cell: ({ id, name }) => <a href={places.key(ownerId, id)}>{name}</a> },
    { name: 'Key', cell: (key) => <code>{keyHint(key)}</code> },
    { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') || '–' },
    { name: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} none="never" relative /> },
    { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} none="never" /> },
  ];
  return (
    <Paged<ApiKey>
      load={(cursor) =>
        api.get(`/sub-accounts/${encodeURIComponent(ownerId)}/api-keys`, { limit: 50, cursor })
      }
      inputs={[ownerId]}
    >
      {(rows) => (
        <Table
          label="Keys"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          none="There are no keys yet."
        />
      )}
    </Paged>
  );
}
