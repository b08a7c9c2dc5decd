import type { JSX, TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '../api/api-client.ts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { HeldApiKey } from '../../../src/generated/operator-types.ts';
import { textOf } from '../form.ts';
import { keyDigest } from '../key-digest.ts';
import { mayBeWhole, notAKey, shownEnd, shownStart, unwrapped } from '../key-text.ts';
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
    prefix: shownStart(query.get('prefix') ?? ''),
    last4: shownEnd(query.get('last4') ?? ''),
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

/** The controls of the search. Whatever may be a key becomes its digest here. */
function FindForm({ by }: FindFormProps): JSX.Element {
  const { api } = useSession();
  const [pasted, setPasted] = useState('');
  const [hint, setHint] = useState('');
  const find = async (form: FormData): Promise<void> => {
    setHint('');
    const start = textOf(form, 'prefix') ?? '';
    const shown = { prefix: shownStart(start), last4: shownEnd(textOf(form, 'last4') ?? '') };
    // A pasted key finds its key alone; other characters may be left from an earlier search.
    const text = pasted.trim() || (mayBeWhole(start) ? start : '');
    if (text === '')
      return shown.prefix + shown.last4 === '' ? setHint(hints.nothing) : goTo(linkTo(['keys'], shown));
    setPasted('');
    const sha256 = keyDigest(text);
    const key = (await keyOf(api, sha256)) ?? (await keyOf(api, keyDigest(unwrapped(text))));
    if (key !== undefined) return goTo(linkTo(['keys', key.id]));
    const other = notAKey(text);
    if (other.is === 'client-secret') return setHint(hints.clientSecret);
    if (other.is === 'id') return goTo(linkTo(['keys', other.id]));
    const { prefix, last4 } = other.is === 'hints' ? other : shown;
    // If there is none, or no response, the list says so.
    goTo(linkTo(['keys'], other.is === 'unknown' && text !== start ? { sha256 } : { prefix, last4 }));
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
            autoFocus
            spellcheck={false}
            value={pasted}
            onInput={(event) => setPasted(event.currentTarget.value)}
          />
        )}
      </Field>
      <p class="or">or</p>
      <ShownFields by={by} />
      {hint !== '' && (
        <p class="warning" role="alert">
          {hint}
        </p>
      )}
      <button type="submit" class="primary">
        Find
      </button>
    </form>
  );
}

/** What the form says itself. */
const hints = {
  nothing: 'Paste a key, or type its first or its last characters.',
  clientSecret:
    'This is a client secret, which no call of the gateway accepts. Paste the API key that was shown with it.',
} as const;

/** Returns the key with a digest; `undefined` if there is none, or no response. */
async function keyOf(api: OperatorApi, sha256: string): Promise<HeldApiKey | undefined> {
  const found = await api.get<Page<HeldApiKey>>('/api-keys', { sha256 }).catch(() => null);
  return found?.data[0];
}

/** Controls for the characters of a key that lists show. */
function ShownFields({ by }: FindFormProps): JSX.Element {
  return (
    <div class="columns">
      <Field
        label="Its first characters"
        hint={
          <>
            With their prefix, such as <code>tgw_1Le1</code>.
          </>
        }
      >
        {(ids) => (
          <input {...ids} key={by.prefix} name="prefix" defaultValue={by.prefix} autoComplete="off" />
        )}
      </Field>
      <Field label="Its last four">
        {(ids) => <input {...ids} key={by.last4} name="last4" defaultValue={by.last4} autoComplete="off" />}
      </Field>
    </div>
  );
}
