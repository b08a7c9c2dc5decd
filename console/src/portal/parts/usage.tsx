import type { JSX } from 'preact';
import type { UsageReport } from '../../../../src/generated/client-types.ts';
import { PeriodChoice, UsageOverTime } from '../../ui/usage-over-time.tsx';
import { usePortal } from '../session.ts';

/** Requests of a sub-account over time. */
export function UsagePart({ subAccountId }: { readonly subAccountId: string }): JSX.Element {
  const { api } = usePortal();
  return (
    <PeriodChoice offered={['day', 'month']}>
      {(period) => (
        <UsageOverTime
          period={period}
          inputs={[subAccountId]}
          read={(query) => api.get<UsageReport>('/usage', { ...query, sub_account_id: subAccountId })}
        />
      )}
    </PeriodChoice>
  );
}
