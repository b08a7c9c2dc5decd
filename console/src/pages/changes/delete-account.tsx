import type { JSX, TargetedInputEvent } from 'preact';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import type { Closed } from '../../use-dialog.ts';
import { ErasurePart } from '../parts/erasure.tsx';

interface DeleteAccountProps {
  readonly id: string;
  readonly name: string;
  /** Parent of a sub-account; missing for a parent account. */
  readonly parentId?: string;
  readonly onClose: Closed;
}

/** Asks whether to delete a suspended account or a deactivated sub-account. The name has to be typed. */
export function DeleteAccount({ id, name, parentId, onClose }: DeleteAccountProps): JSX.Element {
  const { api } = useSession();
  const path = parentId === undefined ? `/accounts/${id}` : `/accounts/${parentId}/sub-accounts/${id}`;
  const check = ({ currentTarget: input }: TargetedInputEvent<HTMLInputElement>): void =>
    input.setCustomValidity(input.value.trim() === name ? '' : 'This is not its name.');
  return (
    <ChangeDialog<null>
      title={`Delete ${name}?`}
      action="Delete"
      done="Deleted"
      isDangerous
      onClose={onClose}
      change={() => api.change('DELETE', path)}
      result={() => (
        <>
          <ErasurePart id={id} />
          <p>
            <a href={linkTo(['erasures', id])}>Follow the erasure</a>
          </p>
        </>
      )}
    >
      <p>
        {parentId === undefined
          ? 'All of its keys and sub-accounts are deleted with it.'
          : 'Its keys are deleted with it.'}{' '}
        Names, metadata and addresses are erased within an hour, also in events. Usage stays under the id,
        which is never given again. A deletion cannot be undone.
      </p>
      <Field
        label="Name of the account"
        hint={
          <>
            To confirm, type <code>{name}</code>.
          </>
        }
      >
        {(ids) => <input {...ids} required autoComplete="off" onInput={check} />}
      </Field>
    </ChangeDialog>
  );
}
