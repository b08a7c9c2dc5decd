import type { JSX } from 'preact';
import type { LimitInForce, LimitsInForce } from '../../../../src/api/reference/documents/operator-types.ts';
import { formatCount } from '../../format.ts';
import { useSession } from '../../session.ts';
import { Show } from '../../ui/loaded.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useLoad } from '../../use-load.ts';

const owners = { api_key: 'key', sub_account: 'sub-account', parent: 'parent' } as const;

const columns: readonly Column<LimitInForce>[] = [
  { name: 'Limit of the', cell: ({ limited }) => owners[limited] },
  { name: 'Limit', cell: ({ limit, unit, per }) => `${formatCount(limit)} ${unit} a ${per}` },
  {
    name: 'Used',
    cell: ({ used, limit }) => (
      <span class="meter">
        <meter value={Math.min(used, limit)} max={limit} low={limit * 0.8} high={limit} optimum={0}>
          {used}
        </meter>{' '}
        {formatCount(used)}
      </span>
    ),
  },
  { name: 'Left', isNumber: true, cell: ({ left }) => formatCount(left) },
  { name: 'Full again', cell: ({ resets_at }) => <Time at={resets_at} relative /> },
];

interface LimitsPartProps {
  readonly accountId: string;
  readonly keyId?: string;
}

/** The limits in force for an account, or for a key of it, with what is left of them. */
export function LimitsPart({ accountId, keyId }: LimitsPartProps): JSX.Element {
  const { api } = useSession();
  const limits = useLoad(
    () => api.get<LimitsInForce>(`/accounts/${accountId}/limits`, { key_id: keyId }),
    [accountId, keyId],
    10_000,
  );
  return (
    <Show of={limits}>
      {({ data }) => (
        <Table
          label="Limits in force"
          columns={columns}
          rows={data}
          keyOf={({ limited, per, unit }) => `${limited} ${per} ${unit}`}
          none="Nothing limits its requests."
        />
      )}
    </Show>
  );
}
