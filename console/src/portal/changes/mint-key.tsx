import type { JSX } from 'preact';
import type { MintedApiKey } from '../../../../src/generated/client-types.ts';
import { textOf, timeOf } from '../../form.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { dismiss } from '../../ui/secrets.tsx';
import type { Closed } from '../../use-dialog.ts';
import { usePortal } from '../session.ts';
import { ExpiryField } from './expiry-field.tsx';
import { NewSecrets } from './new-secrets.tsx';

interface MintKeyProps {
  readonly ownerId: string;
  readonly onClose: Closed;
}

/** Asks for a new key of a sub-account, and shows its secrets once. */
export function MintKey({ ownerId, onClose }: MintKeyProps): JSX.Element {
  const { api } = usePortal();
  return (
    <ChangeDialog<MintedApiKey>
      title="Mint a key"
      action="Mint"
      done="Minted"
      onClose={onClose}
      dismiss={dismiss}
      change={(form) => {
        const expiresAt = timeOf(form, 'expires_at');
        return api.change('POST', `/sub-accounts/${encodeURIComponent(ownerId)}/api-keys`, {
          name: textOf(form, 'name'),
          scopes: form.getAll('scopes'),
          ...(expiresAt && { expires_at: expiresAt }),
        });
      }}
      result={(key) => <NewSecrets minted={key} />}
    >
      <Field label="Name" hint="What the key is for, such as the program that will have it.">
        {(ids) => <input {...ids} name="name" required maxLength={255} autoComplete="off" />}
      </Field>
      <ScopeChoices />
      <ExpiryField label="Expires" />
    </ChangeDialog>
  );
}

function ScopeChoices(): JSX.Element {
  const { scopes } = usePortal().session;
  if (scopes.length === 0) return <p class="soft">Keys that you mint here have no scopes.</p>;
  return (
    <fieldset class="choices">
      <legend>Scopes</legend>
      <p class="hint">What programs with the key may do. Choose only what they need.</p>
      {scopes.map((scope) => (
        <label>
          <input type="checkbox" name="scopes" value={scope} />
          <code>{scope}</code>
        </label>
      ))}
    </fieldset>
  );
}
