import type { JSX } from 'preact';
import type { UsageReport } from '../../../../src/generated/operator-types.ts';
import { useSession } from '../../session.ts';
import { PeriodChoice, UsageOverTime } from '../../ui/usage-over-time.tsx';

interface UsagePartProps {
  readonly accountId: string;
  readonly subAccountId?: string;
}

/** Requests of an account over time, as a chart and as a table. */
export function UsagePart({ accountId, subAccountId }: UsagePartProps): JSX.Element {
  const { api } = useSession();
  const of = {
    account_id: accountId,
    sub_account_id: subAccountId,
    group_by: subAccountId === undefined ? 'account' : 'sub_account',
  };
  return (
    <PeriodChoice offered={['day', 'week', 'quarter']}>
      {(period) => (
        <UsageOverTime
          period={period}
          inputs={[of]}
          read={(query) => api.get<UsageReport>('/usage', { ...of, ...query })}
        />
      )}
    </PeriodChoice>
  );
}
