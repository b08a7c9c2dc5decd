import type { JSX, TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '../api/api-client.ts';
import type { HeldApiKey } from '../../../src/api/reference/documents/operator-types.ts';
import { textOf } from '../form.ts';
import { keyDigest } from '../key-digest.ts';
import { goTo, linkTo } from '../route.ts';
import { useSession } from '../session.ts';
import { Field } from '../ui/field.tsx';
import { Heading } from '../ui/heading.tsx';
import { Paged } from '../ui/paged.tsx';
import { KeyTable } from './parts/keys.tsx';

/** Finds keys by their digest, or by their first and last characters. A pasted key never leaves the browser. */
export function FindKeyPage({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const { api } = useSession();
  const by = {
    sha256: query.get('sha256') ?? '',
    prefix: query.get('prefix') ?? '',
    last4: query.get('last4') ?? '',
  };
  const isAsked = Object.values(by).some((value) => value !== '');
  return (
    <>
      <Heading title="Find a key" />
      <FindForm by={by} />
      {isAsked && (
        <section aria-label="Found keys" aria-live="polite">
          <Paged<HeldApiKey>
            load={(cursor) => api.get('/api-keys', { ...by, limit: 50, cursor })}
            inputs={[by]}
          >
            {(rows) => (
              <KeyTable rows={rows} none="No key matches. Is it a key of this gateway, and complete?" />
            )}
          </Paged>
        </section>
      )}
    </>
  );
}

interface FindFormProps {
  readonly by: { readonly prefix: string; readonly last4: string };
}

/** The controls of the search. A pasted key becomes its digest here. */
function FindForm({ by }: FindFormProps): JSX.Element {
  const { api } = useSession();
  const [pasted, setPasted] = useState('');
  const find = async (form: FormData): Promise<void> => {
    const key = pasted.trim();
    if (key === '')
      return goTo(
        linkTo(['keys'], { prefix: textOf(form, 'prefix') ?? '', last4: textOf(form, 'last4') ?? '' }),
      );
    setPasted('');
    // The digest finds the key alone; other characters may be left from an earlier search.
    const sha256 = keyDigest(key);
    const found = await api.get<Page<HeldApiKey>>('/api-keys', { sha256 }).catch(() => null);
    const [only] = found?.data ?? [];
    // If there is none, or no response, the list says so.
    goTo(only === undefined ? linkTo(['keys'], { sha256 }) : linkTo(['keys', only.id]));
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void find(new FormData(event.currentTarget));
  };
  return (
    <form class="find" onSubmit={submit}>
      <Field label="The key" hint="It is hashed here and never sent.">
        {(ids) => (
          <input
            {...ids}
            type="password"
            autoComplete="off"
            spellcheck={false}
            value={pasted}
            onInput={(event) => setPasted(event.currentTarget.value)}
          />
        )}
      </Field>
      <p class="or">or</p>
      <div class="columns">
        <Field label="Its first characters">
          {(ids) => (
            <input {...ids} key={by.prefix} name="prefix" defaultValue={by.prefix} autoComplete="off" />
          )}
        </Field>
        <Field label="Its last four">
          {(ids) => (
            <input
              {...ids}
              key={by.last4}
              name="last4"
              defaultValue={by.last4}
              maxLength={4}
              autoComplete="off"
            />
          )}
        </Field>
      </div>
      <button type="submit" class="primary">
        Find
      </button>
    </form>
  );
}
