import type { JSX } from 'preact';
import type { Query } from '../../api/api-client.ts';
import type { UsageRow } from '../../../../src/generated/operator-types.ts';
import { formatCount } from '../../format.ts';
import { useSession } from '../../session.ts';
import { useLoad } from '../../use-load.ts';

interface LastDayProps {
  readonly of: Query;
  /** The key whose requests count; all keys if it is missing. */
  readonly keyId?: string;
}

/** Says how many requests a change would have stopped in the last day. */
export function LastDay({ of, keyId }: LastDayProps): JSX.Element | null {
  const { api } = useSession();
  const from = new Date(Date.now() - 24 * 3_600_000).toISOString();
  const usage = useLoad(async () => {
    const groupBy = keyId !== undefined ? 'api_key' : 'sub_account_id' in of ? 'sub_account' : 'account';
    const query = { ...of, from, granularity: 'total', group_by: groupBy, limit: 1000 };
    const rows = await api.getAll<UsageRow>('/usage', query);
    return rows
      .filter(({ api_key_id }) => keyId === undefined || api_key_id === keyId)
      .reduce((sum, { requests }) => sum + requests, 0);
  }, [of, keyId]);
  if (usage.state === 'failed') return <p class="warning">Its requests of the last day could not be read.</p>;
  return (
    <p>
      Requests in the last 24 hours:{' '}
      <strong>{usage.state === 'ready' ? formatCount(usage.value) : '…'}</strong>
    </p>
  );
}
