import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperatorApi } from '../api/operator-api.ts';
import { ApiProblem } from '../api/problem.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { asProblem } from '../use-load.ts';

interface SignInProps {
  readonly api: OperatorApi;
  /** Called once a session has begun. Returns whether the browser has it. */
  readonly onSignedIn: () => Promise<boolean>;
}

/** The page of a browser that has no session. */
export function SignInPage(props: SignInProps): JSX.Element {
  return (
    <main class="sign-in">
      <h1>
        <img src="icon.svg" alt="" width={32} height={32} /> Tenancy Gateway
      </h1>
      <SignInForm {...props} />
    </main>
  );
}

/** Asks for the token again over a page whose session has ended, so that nothing on the page is lost. */
export function SignInAgain({
  onClose,
  ...props
}: SignInProps & { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Your session has ended" onClose={onClose}>
      {() => <SignInForm {...props} />}
    </Dialog>
  );
}

/** Exchanges an operator's token for a session. The page forgets the token once that is done. */
function SignInForm({ api, onSignedIn }: SignInProps): JSX.Element {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await api.signIn(token.trim());
      if (!(await onSignedIn())) setProblem(noCookie);
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Field
        label="Operator token"
        hint={
          <>
            <code>ADMIN_TOKEN</code>, or a token of <code>internal.admin_tokens</code>. On a laptop,{' '}
            <code>npm start</code> says which file has it.
          </>
        }
      >
        {(ids) => (
          <input
            {...ids}
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        )}
      </Field>
      {problem && <Problem problem={problem} />}
      <button type="submit" class="primary" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}

const noCookie = new ApiProblem(0, {
  code: 'no_session',
  detail: 'The browser did not keep the cookie of the session. Does it block cookies of this page?',
});
