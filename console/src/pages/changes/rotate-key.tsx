import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { HeldApiKey, RotatedApiKey } from '../../../../src/generated/operator-types.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { OverlapField, usualOverlapS } from '../../ui/overlap-field.tsx';
import { dismiss, Secrets } from '../../ui/secrets.tsx';
import { KeyUse } from './key-use.tsx';

interface RotateKeyProps {
  readonly held: HeldApiKey;
  readonly onClose: Closed;
}

/** Asks when the old key ends, replaces it, and shows the new key's secrets once. Says what stops if it ends at once. */
export function RotateKey({ held, onClose }: RotateKeyProps): JSX.Element {
  const { api } = useSession();
  const [overlapS, setOverlapS] = useState<number>(usualOverlapS);
  return (
    <ChangeDialog<RotatedApiKey>
      title={`Rotate ${held.name}`}
      action="Rotate"
      done="Rotated"
      onClose={onClose}
      dismiss={dismiss}
      change={(form) =>
        api.change('POST', `/api-keys/${held.id}/rotate`, { expires_in: Number(form.get('expires_in')) })
      }
      result={(key) => <Secrets minted={key} />}
    >
      <p>A new key with the same name, scopes and limits replaces this one.</p>
      <OverlapField onChange={setOverlapS} />
      {overlapS === 0 && <KeyUse held={held} />}
    </ChangeDialog>
  );
}
