import type { FormEvent } from 'react';
import { basicAuthorization } from './settings.ts';

/** Asks for the credentials of an API token. They stay in this tab of the browser. */
export function SignIn({ onSignIn }: { readonly onSignIn: (authorization: string) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    onSignIn(basicAuthorization(String(fields.get('clientId')), String(fields.get('secret'))));
  };
  return (
    <div className="graphiql-container lab-sign-in">
      <form onSubmit={submit}>
        <h1>Lab</h1>
        <p>Sign in with an API token. Its credentials stay in this tab of the browser until it is closed.</p>
        <label>
          clientId <input name="clientId" required autoComplete="username" spellCheck={false} />
        </label>
        <label>
          secret <input name="secret" type="password" required autoComplete="current-password" />
        </label>
        <button type="submit">Sign in</button>
      </form>
    </div>
  );
}
