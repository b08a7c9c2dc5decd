import type { JSX } from 'preact';
import type { Query } from '../../api/operator-api.ts';
import type { UsageReport } from '../../../../src/api/reference/documents/operator-types.ts';
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
    const query = {
      ...of,
      from,
      granularity: 'total',
      group_by: keyId === undefined ? 'sub_account' : 'api_key',
    };
    let sum = 0;
    let cursor: string | undefined;
    do {
      const report = await api.get<UsageReport>('/usage', { ...query, limit: 1000, cursor });
      for (const row of report.data) if (keyId === undefined || row.api_key_id === keyId) sum += row.requests;
      cursor = report.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return sum;
  }, [of, keyId]);
  if (usage.state === 'failed') return <p class="warning">Its requests of the last day could not be read.</p>;
  return (
    <p>
      Requests in the last 24 hours:{' '}
      <strong>{usage.state === 'ready' ? formatCount(usage.value) : '…'}</strong>
    </p>
  );
}
