/** The sign-in form, shown when the server requires a token and there is no session. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiProblem, messageOf } from '../problem.ts';
import { signIn } from '../state/session.ts';
import { TextField } from './field.tsx';

const wrongToken = 'This token is not valid. Check it for typing errors, or ask your administrator for a new one.';

export function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const [error, setError] = useState<string | null>(null);
  const submit = async (): Promise<void> => {
    try {
      await signIn(token.trim());
    } catch (reason) {
      const isWrong = reason instanceof ApiProblem && reason.status === 401;
      setError(isWrong ? wrongToken : messageOf(reason));
    }
  };
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>Stint</h1>
        <p>Sign in with an access token. Ask your administrator for one.</p>
        <TextField
          label="Token" type="password" name="token" value={token} onInput={setToken} error={error} isRequired
        />
        <button type="submit" class="button" data-kind="primary">Sign in</button>
      </form>
    </main>
  );
}
