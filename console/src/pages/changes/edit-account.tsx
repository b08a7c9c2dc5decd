import type { JSX } from 'preact';
import type { Account, Plan } from '../../../../src/generated/operator-types.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Show } from '../../ui/loaded.tsx';
import { useLoad } from '../../use-load.ts';
import { differences, textOf } from '../../form.ts';
import { changedLimits, LimitsFields } from './limits-fields.tsx';
import { NameFields } from './name-fields.tsx';

interface EditAccountProps {
  readonly account: Account;
  readonly onClose: Closed;
}

/** Asks for changes of a parent account. Sends only what has changed. */
export function EditAccount({ account, onClose }: EditAccountProps): JSX.Element {
  const { api } = useSession();
  const plans = useLoad(() => api.getAll<Plan>('/plans', { limit: 100 }), []);
  return (
    <ChangeDialog<Account>
      title={`Edit ${account.name}`}
      action="Save"
      done="Saved"
      onClose={onClose}
      change={(form) => {
        const limits = changedLimits(form, account.limits);
        const after = {
          name: textOf(form, 'name') ?? '',
          external_id: textOf(form, 'external_id'),
          // The control is missing until the plans are there.
          ...(form.has('plan') && { plan: textOf(form, 'plan') }),
        };
        // The API rejects a body without members, and a name that stays changes nothing.
        const body = { name: after.name, ...differences(after, account), ...(limits && { limits }) };
        return api.change('PATCH', `/accounts/${account.id}`, body);
      }}
    >
      <NameFields name={account.name} externalId={account.external_id} />
      <Show of={plans}>
        {(all) => (
          <Field label="Plan">
            {(ids) => (
              <select {...ids} name="plan">
                <option value="">none</option>
                {all.map(({ name }) => (
                  <option selected={name === account.plan}>{name}</option>
                ))}
              </select>
            )}
          </Field>
        )}
      </Show>
      <LimitsFields limits={account.limits} of="account" />
    </ChangeDialog>
  );
}
