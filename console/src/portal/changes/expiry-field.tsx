import type { JSX } from 'preact';
import { Field } from '../../ui/field.tsx';

/** Asks when a new key expires. */
export function ExpiryField({ label }: { readonly label: string }): JSX.Element {
  return (
    <Field label={label} hint="In your time zone. Empty: never.">
      {(ids) => <input {...ids} name="expires_at" type="datetime-local" />}
    </Field>
  );
}
