import type { JSX } from 'preact';
import { textOf } from '../../form.ts';
import { Field } from '../../ui/field.tsx';

interface NameFieldsProps {
  readonly name?: string;
  readonly externalId?: string | null;
}

/** Reads {@link NameFields}. An account without an external id has no such member. */
export function namesIn(form: FormData): { readonly name: string; readonly external_id?: string } {
  const externalId = textOf(form, 'external_id');
  return { name: textOf(form, 'name') ?? '', ...(externalId !== null && { external_id: externalId }) };
}

/** Controls for the name and the external id of an account. */
export function NameFields({ name = '', externalId = null }: NameFieldsProps): JSX.Element {
  return (
    <>
      <Field label="Name">
        {(ids) => <input {...ids} name="name" required maxLength={255} defaultValue={name} />}
      </Field>
      <Field label="External id" hint="The id that your own systems have for it. May be empty.">
        {(ids) => (
          <input
            {...ids}
            name="external_id"
            maxLength={255}
            pattern="[!-+\--~]*"
            title="Visible ASCII characters without blanks and commas"
            defaultValue={externalId ?? ''}
          />
        )}
      </Field>
    </>
  );
}
