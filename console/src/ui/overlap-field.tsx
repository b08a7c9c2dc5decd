import type { JSX } from 'preact';
import { Field } from './field.tsx';

const overlaps = [
  [0, 'at once'],
  [3_600, 'in an hour'],
  [86_400, 'in a day'],
  [604_800, 'in a week'],
  [2_592_000, 'in 30 days'],
] as const;

/** Seconds that are chosen unless somebody chooses others. */
export const usualOverlapS = 86_400;

interface OverlapFieldProps {
  /** Called with the seconds that are chosen. */
  readonly onChange?: (seconds: number) => void;
}

/** Asks how long the old key of a rotation keeps working (`expires_in`, in seconds). */
export function OverlapField({ onChange }: OverlapFieldProps): JSX.Element {
  return (
    <Field label="This key ends">
      {(ids) => (
        <select
          {...ids}
          name="expires_in"
          onChange={(event) => onChange?.(Number(event.currentTarget.value))}
        >
          {overlaps.map(([seconds, text]) => (
            <option value={seconds} selected={seconds === usualOverlapS}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
