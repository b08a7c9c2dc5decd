import type { JSX } from 'preact';
import type { ApiKey } from '../../../../src/generated/client-types.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { Time } from '../../ui/time.tsx';
import type { Closed } from '../../use-dialog.ts';
import { LastDay } from '../parts/last-day.tsx';
import { useMay, usePortal } from '../session.ts';

interface KeyChangeProps {
  readonly ownerId: string;
  readonly apiKey: ApiKey;
  readonly onClose: Closed;
}

/** Asks whether to revoke a key, and says first what that stops. */
export function RevokeKey({ ownerId, apiKey, onClose }: KeyChangeProps): JSX.Element {
  const { api } = usePortal();
  const may = useMay();
  const { id, name, last_used_at: lastUsed } = apiKey;
  return (
    <ChangeDialog<ApiKey>
      title={`Revoke ${name}?`}
      action="Revoke"
      done="Revoked"
      isDangerous
      onClose={onClose}
      change={() => api.change('POST', `/sub-accounts/${encodeURIComponent(ownerId)}/api-keys/${id}/revoke`)}
    >
      <p>
        Last used: <Time at={lastUsed} none="never" relative />
      </p>
      {may('usage:read') && <LastDay ownerId={ownerId} keyId={id} />}
      <p>
        Every program that has it is rejected from now on, and its open streams end. A revoke cannot be
        undone.
      </p>
    </ChangeDialog>
  );
}
