import type { JSX } from 'preact';
import { differences, textOf } from '../../form.ts';
import { Field } from '../../ui/field.tsx';

/** Names of limits, with texts. */
const limits = [
  ['requests_per_second', 'Requests a second'],
  ['burst', 'Burst'],
  ['requests_per_minute', 'Requests a minute'],
  ['requests_per_day', 'Requests a day'],
  ['requests_per_month', 'Requests a month'],
  ['units_per_month', 'Units a month'],
] as const;

type LimitName = (typeof limits)[number][0];

/** Limits as an account has them. */
export type Limits = Readonly<Record<LimitName, number | 'unlimited' | null>>;

interface LimitsFieldsProps {
  /** The limits as they are; `null` if there are none yet. */
  readonly limits: Limits | null;
  /** Who has the limits. Only an account may be `unlimited`, although its plan has a limit. */
  readonly of: keyof typeof hints;
}

/** What an empty control means. */
const hints = {
  account: (
    <>
      Empty: the limit of the plan, if there is one. <code>unlimited</code>: none, whatever the plan says.
    </>
  ),
  'sub-account': 'Empty: no limit of its own.',
  plan: 'Empty: no limit.',
} as const;

/** Controls for limits. An empty one is no limit, or that of the plan. */
export function LimitsFields({ limits: now, of }: LimitsFieldsProps): JSX.Element {
  return (
    <fieldset>
      <legend>Limits</legend>
      <p class="hint">{hints[of]}</p>
      <div class="columns">
        {limits.map(([name, text]) => (
          <Field label={text}>
            {(ids) => (
              <input
                {...ids}
                name={name}
                inputMode="numeric"
                pattern={of === 'account' && name !== 'burst' ? '[0-9]*|unlimited' : '[0-9]*'}
                defaultValue={String(now?.[name] ?? '')}
              />
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  );
}

/** Reads {@link LimitsFields}. Returns only limits that differ from `before`; undefined if none does. */
export function changedLimits(form: FormData, before: Limits): Partial<Limits> | undefined {
  const changed = differences(limitsIn(form), before);
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** Reads all of {@link LimitsFields}. */
export function limitsIn(form: FormData): Limits {
  const read = limits.map(([name]): [LimitName, Limits[LimitName]] => {
    const text = textOf(form, name);
    return [name, text === null || text === 'unlimited' ? text : Number(text)];
  });
  return Object.fromEntries(read) as Limits;
}
