import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperatorApi } from '../api/operator-api.ts';
import type { ApiProblem } from '../api/problem.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { asProblem } from '../use-load.ts';

interface SignInProps {
  readonly api: OperatorApi;
  readonly onSignedIn: () => Promise<void>;
}

/** Exchanges an operator's token for a session. The token is forgotten once that is done. */
export function SignInPage({ api, onSignedIn }: SignInProps): JSX.Element {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await api.signIn(token.trim());
      await onSignedIn();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <h1>
        <img src="icon.svg" alt="" width={32} height={32} /> Tenancy Gateway
      </h1>
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
    </main>
  );
}
