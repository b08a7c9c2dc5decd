import type { JSX } from 'preact';
import { Field } from './field.tsx';

const overlaps = [
  [0, 'at once'],
  [3_600, 'in an hour'],
  [86_400, 'in a day'],
  [604_800, 'in a week'],
  [2_592_000, 'in 30 days'],
] as const;

/** Asks how long the old key of a rotation keeps working (`expires_in`, in seconds). */
export function OverlapField(): JSX.Element {
  return (
    <Field label="This key ends">
      {(ids) => (
        <select {...ids} name="expires_in" defaultValue="86400">
          {overlaps.map(([seconds, text]) => (
            <option value={seconds} selected={seconds === 86_400}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
