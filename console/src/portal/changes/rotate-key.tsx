import type { JSX } from 'preact';
import type { ApiKey, MintedApiKey } from '../../../../src/generated/client-types.ts';
import { timeOf } from '../../form.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { OverlapField } from '../../ui/overlap-field.tsx';
import { Time } from '../../ui/time.tsx';
import { dismiss } from '../../ui/secrets.tsx';
import type { Closed } from '../../use-dialog.ts';
import { usePortal } from '../session.ts';
import { ExpiryField } from './expiry-field.tsx';
import { NewSecrets } from './new-secrets.tsx';

interface KeyChangeProps {
  readonly ownerId: string;
  readonly apiKey: ApiKey;
  readonly onClose: Closed;
}

/** Asks when the old key ends, replaces it, and shows the new key's secrets once. */
export function RotateKey({ ownerId, apiKey, onClose }: KeyChangeProps): JSX.Element {
  const { api } = usePortal();
  const { id, name, expires_at: ends } = apiKey;
  return (
    <ChangeDialog<MintedApiKey>
      title={`Rotate ${name}`}
      action="Rotate"
      done="Rotated"
      onClose={onClose}
      dismiss={dismiss}
      change={(form) => {
        const expiresAt = timeOf(form, 'expires_at');
        return api.change('POST', `/sub-accounts/${encodeURIComponent(ownerId)}/api-keys/${id}/rotate`, {
          expires_in: Number(form.get('expires_in')),
          ...(expiresAt && { expires_at: expiresAt }),
        });
      }}
      result={(key) => <NewSecrets minted={key} />}
    >
      <p>A new key with the same name, scopes and limits replaces this one.</p>
      {ends !== null && (
        <p>
          This key expires <Time at={ends} /> in any case.
        </p>
      )}
      <OverlapField />
      <ExpiryField label="The new key expires" />
    </ChangeDialog>
  );
}
