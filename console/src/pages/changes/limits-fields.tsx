import type { JSX } from 'preact';
import { textOf } from '../../form.ts';
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
  readonly limits: Limits;
  /** Whether an account may be `unlimited` although its plan has a limit. */
  readonly allowsUnlimited: boolean;
}

/** Controls for limits. An empty one is no limit, or that of the plan. */
export function LimitsFields({ limits: now, allowsUnlimited }: LimitsFieldsProps): JSX.Element {
  return (
    <fieldset>
      <legend>Limits</legend>
      <p class="hint">
        {allowsUnlimited ? (
          <>
            Empty: the limit of the plan, if there is one. <code>unlimited</code>: none, whatever the plan
            says.
          </>
        ) : (
          'Empty: no limit of its own.'
        )}
      </p>
      <div class="columns">
        {limits.map(([name, text]) => (
          <Field label={text}>
            {(ids) => (
              <input
                {...ids}
                name={name}
                inputMode="numeric"
                pattern={allowsUnlimited && name !== 'burst' ? '[0-9]*|unlimited' : '[0-9]*'}
                defaultValue={now[name] === null ? '' : String(now[name])}
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
  const read = limits.map(([name]): [LimitName, Limits[LimitName]] => {
    const text = textOf(form, name);
    return [name, text === null || text === 'unlimited' ? text : Number(text)];
  });
  const changed = read.filter(([name, value]) => value !== before[name]);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
