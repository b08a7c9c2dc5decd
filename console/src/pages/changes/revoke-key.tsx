import type { JSX } from 'preact';
import type { HeldApiKey } from '../../../../src/generated/operator-types.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { KeyUse } from './key-use.tsx';

interface KeyChangeProps {
  readonly held: HeldApiKey;
  readonly onClose: Closed;
}

/** Asks whether to revoke a key, and says what that stops. */
export function RevokeKey({ held, onClose }: KeyChangeProps): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<HeldApiKey>
      title={`Revoke ${held.name}?`}
      action="Revoke"
      done="Revoked"
      isDangerous
      onClose={onClose}
      change={() => api.change('POST', `/api-keys/${held.id}/revoke`)}
    >
      <p>
        Its requests will be rejected with 401 <code>api_key_revoked</code>, and its open streams end. A
        revoke cannot be undone.
      </p>
      <KeyUse held={held} />
    </ChangeDialog>
  );
}
