import type { JSX } from 'preact';
import type { OperatorApi } from '../../api/operator-api.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Plan } from '../../../../src/generated/operator-types.ts';
import { textOf } from '../../form.ts';
import { useSession } from '../../session.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import type { Closed } from '../../use-dialog.ts';
import { limitsIn, LimitsFields } from './limits-fields.tsx';

interface PutPlanProps {
  /** The plan to change; `null` for a new one. */
  readonly plan: Plan | null;
  readonly onClose: Closed;
}

/** Asks for a new plan, or for what a plan says from now on. */
export function PutPlan({ plan, onClose }: PutPlanProps): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<Plan>
      title={plan === null ? 'Create a plan' : `Edit ${plan.name}`}
      action={plan === null ? 'Create' : 'Save'}
      done={plan === null ? 'Created' : 'Saved'}
      onClose={onClose}
      change={async (form) => {
        const name = plan?.name ?? textOf(form, 'name') ?? '';
        if (plan === null) await mustBeNew(api, name);
        return api.change('PUT', `/plans/${encodeURIComponent(name)}`, {
          limits: limitsIn(form),
          max_sub_accounts: numberOf(form, 'max_sub_accounts'),
          max_api_keys: numberOf(form, 'max_api_keys'),
        });
      }}
    >
      {plan === null ? (
        <Field label="Name" hint="Lower-case letters, digits and hyphens. It cannot be changed later.">
          {(ids) => <input {...ids} name="name" required pattern="[a-z0-9][a-z0-9\-]{0,62}" />}
        </Field>
      ) : (
        <p>The change is in force for every account with this plan as soon as it is saved.</p>
      )}
      <LimitsFields limits={plan?.limits ?? null} of="plan" />
      <div class="columns">
        <NumberField label="Sub-accounts, at most" name="max_sub_accounts" value={plan?.max_sub_accounts} />
        <NumberField label="Active keys, at most" name="max_api_keys" value={plan?.max_api_keys} />
      </div>
    </ChangeDialog>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: number | null | undefined;
}

function NumberField({ label, name, value }: NumberFieldProps): JSX.Element {
  return (
    <Field label={label} hint="Empty: as configured.">
      {(ids) => (
        <input {...ids} name={name} inputMode="numeric" pattern="[0-9]*" defaultValue={value ?? ''} />
      )}
    </Field>
  );
}

function numberOf(form: FormData, name: string): number | null {
  const text = textOf(form, name);
  return text === null ? null : Number(text);
}

/** The API would replace a plan that is there. @throws {ApiProblem} if there is one */
async function mustBeNew(api: OperatorApi, name: string): Promise<void> {
  try {
    await api.get<Plan>(`/plans/${encodeURIComponent(name)}`);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return;
    throw error;
  }
  throw new ApiProblem(409, {
    code: 'name_taken',
    detail: 'There is a plan with this name. Edit it instead.',
  });
}
