import type { JSX } from 'preact';
import type { LimitsInForce } from '../../../../src/generated/operator-types.ts';
import { useSession } from '../../session.ts';
import { LimitTable } from '../../ui/limit-table.tsx';
import { Show } from '../../ui/loaded.tsx';
import { useLoad } from '../../use-load.ts';

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
  return <Show of={limits}>{({ data }) => <LimitTable rows={data} />}</Show>;
}
