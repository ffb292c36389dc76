/** Signing in: for whoever comes without a session to a server that wants to know them. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiProblem, sentenceOf } from '../problem.ts';
import { signIn } from '../state/session.ts';
import { TextField } from './field.tsx';

const wrongToken = 'This token is not valid here: look for a typing mistake, or ask for a new one.';

export function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const [error, setError] = useState<string | null>(null);
  const submit = async (): Promise<void> => {
    try {
      await signIn(token.trim());
    } catch (reason) {
      const isWrong = reason instanceof ApiProblem && reason.status === 401;
      setError(isWrong ? wrongToken : sentenceOf(reason));
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
        <p>This server wants to know who you are. Whoever runs it has a token for you.</p>
        <TextField
          label="Token" type="password" name="token" value={token} onInput={setToken} error={error} isRequired
        />
        <button type="submit" class="button" data-kind="primary">Sign in</button>
      </form>
    </main>
  );
}
