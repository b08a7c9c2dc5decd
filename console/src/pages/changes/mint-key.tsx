import type { JSX } from 'preact';
import type { MintedApiKey } from '../../../../src/generated/operator-types.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf, timeOf } from '../../form.ts';
import { dismiss, Secrets } from '../../ui/secrets.tsx';

interface MintKeyProps {
  readonly accountId: string;
  readonly onClose: Closed;
}

/** Asks for a new key of a parent account, and shows its secrets once. */
export function MintKey({ accountId, onClose }: MintKeyProps): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<MintedApiKey>
      title="Mint a key"
      action="Mint"
      done="Minted"
      onClose={onClose}
      dismiss={dismiss}
      change={(form) => {
        const scopes = (textOf(form, 'scopes') ?? '').split(/[\s,]+/).filter(Boolean);
        const expiresAt = timeOf(form, 'expires_at');
        return api.change('POST', `/accounts/${accountId}/api-keys`, {
          name: textOf(form, 'name'),
          scopes,
          ...(expiresAt && { expires_at: expiresAt }),
        });
      }}
      result={(key) => <Secrets minted={key} />}
    >
      <Field label="Name">{(ids) => <input {...ids} name="name" required maxLength={255} />}</Field>
      <Field
        label="Scopes"
        hint={
          <>
            Separated by blanks, such as <code>sub_accounts:read sub_accounts:write</code>. Empty: no scopes,
            so the key can manage no sub-accounts.
          </>
        }
      >
        {(ids) => <input {...ids} name="scopes" autoComplete="off" />}
      </Field>
      <Field label="Expires" hint="In your time zone. Empty: never.">
        {(ids) => <input {...ids} name="expires_at" type="datetime-local" />}
      </Field>
    </ChangeDialog>
  );
}
