import type { JSX } from 'preact';
import type { Account } from '../../../../src/api/reference/documents/operator-types.ts';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { textOf } from '../../form.ts';
import { NameFields } from './name-fields.tsx';

/** Asks for a new parent account. */
export function CreateAccount({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<Account>
      title="Create an account"
      action="Create"
      done="Created"
      onClose={onClose}
      change={(form) => {
        const externalId = textOf(form, 'external_id');
        const name = textOf(form, 'name');
        return api.change('POST', '/accounts', { name, ...(externalId && { external_id: externalId }) });
      }}
      result={({ id, name }) => (
        <p>
          <a href={linkTo(['accounts', id])}>{name}</a> is there. Mint an API key for it next.
        </p>
      )}
    >
      <NameFields />
    </ChangeDialog>
  );
}
