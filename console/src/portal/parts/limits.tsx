import type { JSX } from 'preact';
import type { LimitsInForce } from '../../../../src/generated/client-types.ts';
import { LimitTable } from '../../ui/limit-table.tsx';
import { Show } from '../../ui/loaded.tsx';
import { useLoad } from '../../use-load.ts';
import { usePortal } from '../session.ts';

interface LimitsPartProps {
  readonly subAccountId: string;
  readonly keyId?: string;
}

/** The limits in force for a sub-account, or for a key of it, with what is left of them. */
export function LimitsPart({ subAccountId, keyId }: LimitsPartProps): JSX.Element {
  const { api } = usePortal();
  const path = `/sub-accounts/${encodeURIComponent(subAccountId)}/limits`;
  const limits = useLoad(() => api.get<LimitsInForce>(path, { key_id: keyId }), [path, keyId], 10_000);
  return <Show of={limits}>{({ data }) => <LimitTable rows={data} />}</Show>;
}
