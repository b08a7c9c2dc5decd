import type { JSX } from 'preact';
import { Field } from '../../ui/field.tsx';

interface NameFieldsProps {
  readonly name?: string;
  readonly externalId?: string | null;
}

/** Controls for the name and the external id of an account. */
export function NameFields({ name = '', externalId = null }: NameFieldsProps): JSX.Element {
  return (
    <>
      <Field label="Name">
        {(ids) => <input {...ids} name="name" required maxLength={256} defaultValue={name} />}
      </Field>
      <Field label="External id" hint="The id that your own systems have for it. May be empty.">
        {(ids) => <input {...ids} name="external_id" maxLength={256} defaultValue={externalId ?? ''} />}
      </Field>
    </>
  );
}
