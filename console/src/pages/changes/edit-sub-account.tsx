import type { JSX } from 'preact';
import type { SubAccount } from '../../../../src/generated/operator-types.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { differences, textOf } from '../../form.ts';
import { changedLimits, LimitsFields } from './limits-fields.tsx';
import { NameFields } from './name-fields.tsx';

interface EditSubAccountProps {
  readonly parentId: string;
  readonly account: SubAccount;
  readonly onClose: Closed;
}

/** Asks for changes of a sub-account. Sends only what has changed. */
export function EditSubAccount({ parentId, account, onClose }: EditSubAccountProps): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<SubAccount>
      title={`Edit ${account.name}`}
      action="Save"
      done="Saved"
      onClose={onClose}
      change={(form) => {
        const limits = changedLimits(form, account.limits);
        const after = { name: textOf(form, 'name') ?? '', external_id: textOf(form, 'external_id') };
        // The API rejects a body without members, and a name that stays changes nothing.
        const body = { name: after.name, ...differences(after, account), ...(limits && { limits }) };
        return api.change('PATCH', `/accounts/${parentId}/sub-accounts/${account.id}`, body);
      }}
    >
      <NameFields name={account.name} externalId={account.external_id} />
      <LimitsFields limits={account.limits} of="sub-account" />
    </ChangeDialog>
  );
}
