import type { JSX } from 'preact';
import type { UsageRow } from '../../../../src/generated/client-types.ts';
import { formatCount } from '../../format.ts';
import { queryOf } from '../../ui/usage-over-time.tsx';
import { useLoad } from '../../use-load.ts';
import { usePortal } from '../session.ts';

interface LastDayProps {
  readonly ownerId: string;
  readonly keyId: string;
}

/** Says how many requests a key has sent in the last day. */
export function LastDay({ ownerId, keyId }: LastDayProps): JSX.Element {
  const { api } = usePortal();
  const usage = useLoad(async () => {
    const { from } = queryOf('day');
    const query = { sub_account_id: ownerId, from, granularity: 'total', group_by: 'api_key', limit: 1000 };
    const rows = await api.getAll<UsageRow>('/usage', query);
    return rows.filter((row) => row.api_key_id === keyId).reduce((sum, { requests }) => sum + requests, 0);
  }, [ownerId, keyId]);
  if (usage.state === 'failed') return <p class="warning">Its requests of the last day could not be read.</p>;
  return (
    <p>
      Requests in the last 24 hours:{' '}
      <strong>{usage.state === 'ready' ? formatCount(usage.value) : '…'}</strong>
    </p>
  );
}
