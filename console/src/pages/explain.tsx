import type { JSX, TargetedSubmitEvent } from 'preact';
import type { Explanation } from '../../../src/generated/operator-types.ts';
import { textOf } from '../form.ts';
import { formatCount, formatLimit } from '../format.ts';
import { goTo, linkTo } from '../route.ts';
import { useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Field } from '../ui/field.tsx';
import { Heading } from '../ui/heading.tsx';
import { Show } from '../ui/loaded.tsx';
import { Time } from '../ui/time.tsx';
import { useLoad } from '../use-load.ts';

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Shows who a request would act as, without sending it. The address keeps the question. */
export function ExplainPage({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const asked: Question = {
    keyId: query.get('keyId') ?? '',
    method: query.get('method') ?? 'POST',
    path: query.get('path') ?? '',
    acting: query.get('acting') ?? '',
  };
  return (
    <>
      <Heading title="Explain a request" />
      <QuestionForm key={JSON.stringify(asked)} asked={asked} />
      {asked.keyId !== '' && asked.path !== '' && <Answer question={asked} />}
    </>
  );
}

/** The controls of a question. */
function QuestionForm({ asked }: { readonly asked: Question }): JSX.Element {
  const ask = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const names = ['keyId', 'method', 'path', 'acting'] as const;
    goTo(linkTo(['explain'], Object.fromEntries(names.map((name) => [name, textOf(form, name) ?? '']))));
  };
  return (
    <form class="find" onSubmit={ask}>
      <Field
        label="Id of the key"
        hint={
          <>
            <a href={linkTo(['keys'])}>Find a key</a> shows it.
          </>
        }
      >
        {(ids) => <input {...ids} name="keyId" required defaultValue={asked.keyId} />}
      </Field>
      <div class="columns">
        <Field label="Method">
          {(ids) => (
            <select {...ids} name="method">
              {methods.map((method) => (
                <option selected={method === asked.method}>{method}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Path">
          {(ids) => (
            <input
              {...ids}
              name="path"
              required
              pattern="/.*"
              placeholder="/orders"
              defaultValue={asked.path}
            />
          )}
        </Field>
        <Field
          label="Acting header"
          hint={
            <>
              <code>self</code>, the id of a sub-account, or <code>ext:</code> and its external id. Empty: not
              sent.
            </>
          }
        >
          {(ids) => <input {...ids} name="acting" defaultValue={asked.acting} />}
        </Field>
      </div>
      <button type="submit" class="primary">
        Explain
      </button>
    </form>
  );
}

interface Question {
  readonly keyId: string;
  readonly method: string;
  readonly path: string;
  readonly acting: string;
}

function Answer({ question }: { readonly question: Question }): JSX.Element {
  const { api } = useSession();
  const explanation = useLoad(async () => {
    const { keyId, method, path, acting } = question;
    const body = { key_id: keyId, method, path, ...(acting !== '' && { acting_tenant: acting }) };
    return api.ask<Explanation>('/explain', body);
  }, [question]);
  return (
    <section aria-label="Explanation" aria-live="polite">
      <Show of={explanation}>{(value) => <Steps explanation={value} />}</Show>
    </section>
  );
}

function Steps({ explanation }: { readonly explanation: Explanation }): JSX.Element {
  const { allowed, acts_as, because, status, request, limits, ended_by, reason, facts } = explanation;
  return (
    <>
      <p class={allowed ? 'verdict good' : 'verdict bad'}>
        <Badge state={allowed ? 'permit' : 'refuse'} />{' '}
        {allowed ? (
          acts_as === null ? (
            'The path is open: no key is checked.'
          ) : (
            <>
              It would act as <code>{acts_as}</code>.
            </>
          )
        ) : (
          <>
            It would be rejected with {status} <code>{reason}</code>.
          </>
        )}
      </p>
      <ol class="steps">
        <li>
          <strong>Destination.</strong> <code>{`${request.method} ${request.path}`}</code> goes to{' '}
          <code>{request.route}</code>.
        </li>
        <li>
          <strong>Key.</strong> <KeyStep {...explanation} />
        </li>
        {ended_by !== null && (
          <li>
            <strong>Ended by.</strong> <code>{ended_by.type}</code>, <Time at={ended_by.at} />, by{' '}
            {ended_by.name ?? ended_by.by}.
          </li>
        )}
        <li>
          <strong>Decision.</strong> {because}
        </li>
        {limits.map(({ limited, per, unit, quota, remaining }) => (
          <li>
            <strong>Limit of the {limited.replace('_', '-').replace('api-key', 'key')}.</strong>{' '}
            {formatCount(remaining)} of {formatLimit(quota, { unit, per })} are left.
          </li>
        ))}
      </ol>
      {facts && <FactsUsed {...facts} />}
    </>
  );
}

/** Says whose key it is. A refused key has no caller, even if it is valid: its account may be suspended. */
function KeyStep({ allowed, caller, reason }: Explanation): JSX.Element {
  if (caller !== null)
    return (
      <>
        It belongs to a {caller.kind}, <code>{caller.account_id}</code>, and has the scopes{' '}
        {caller.scopes.length === 0 ? 'none' : caller.scopes.join(', ')}.
      </>
    );
  if (allowed) return <>The path checks none.</>;
  return (
    <>
      The request is refused with <code>{reason}</code>, so the key acts for nobody.
    </>
  );
}

/** Says how new the facts were that the decision used. */
function FactsUsed({ replica_id, applied, age_ms }: NonNullable<Explanation['facts']>): JSX.Element {
  return (
    <p class="soft">
      Replica <code>{replica_id}</code> decided by every change up to position {formatCount(applied)}, which
      it had read {formatCount(age_ms)} ms before.
    </p>
  );
}
