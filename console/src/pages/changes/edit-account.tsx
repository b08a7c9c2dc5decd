import type { JSX } from 'preact';
import type { Account, PlanList } from '../../../../src/api/reference/documents/operator-types.ts';
import { useSession } from '../../session.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { useLoad } from '../../use-load.ts';
import { differences, textOf } from '../../form.ts';
import { changedLimits, LimitsFields } from './limits-fields.tsx';
import { NameFields } from './name-fields.tsx';

interface EditAccountProps {
  readonly account: Account;
  readonly onClose: () => void;
}

/** Asks for changes of a parent account. Sends only what has changed. */
export function EditAccount({ account, onClose }: EditAccountProps): JSX.Element {
  const { api } = useSession();
  const plans = useLoad(() => api.get<PlanList>('/plans', { limit: 100 }), []);
  const names = plans.state === 'ready' ? plans.value.data.map(({ name }) => name) : [];
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
          plan: textOf(form, 'plan'),
        };
        // The API rejects a body without members, and a name that stays changes nothing.
        const body = { name: after.name, ...differences(after, account), ...(limits && { limits }) };
        return api.change('PATCH', `/accounts/${account.id}`, body);
      }}
    >
      <NameFields name={account.name} externalId={account.external_id} />
      <Field label="Plan">
        {(ids) => (
          <select {...ids} name="plan" key={names.join()} defaultValue={account.plan ?? ''}>
            <option value="">none</option>
            {[...new Set([...names, ...(account.plan === null ? [] : [account.plan])])].map((name) => (
              <option selected={name === account.plan}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      <LimitsFields limits={account.limits} allowsUnlimited />
    </ChangeDialog>
  );
}
