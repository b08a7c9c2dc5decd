import type { JSX } from 'preact';
import type { Account } from '../../../../src/generated/operator-types.ts';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { NameFields, namesIn } from './name-fields.tsx';

/** Asks for a new parent account. */
export function CreateAccount({ onClose }: { readonly onClose: Closed }): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<Account>
      title="Create an account"
      action="Create"
      done="Created"
      onClose={onClose}
      change={(form) => api.change('POST', '/accounts', namesIn(form))}
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
