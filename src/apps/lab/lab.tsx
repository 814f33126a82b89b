import { type FormEvent, lazy, Suspense, useMemo, useState } from 'react';
import { CarriedValues } from './carried.ts';
import type { Linked } from './copies.ts';
import { EventPane, paymentOf } from './event-pane.tsx';
import { Opening } from './frame.tsx';
import { Operations } from './operations.ts';
import type { SessionProps } from './session.tsx';
import { basicAuthorization, type Settings } from './settings.ts';

/** GraphiQL, loaded later because its editor is large. */
const Workbench = lazy(() => import('./workbench.tsx'));

/** The key under which the credentials are stored until the browser tab is closed. */
const storedCredentials = 'lab:authorization';

/** Renders GraphiQL with the journey in its tabs, and the platform's events next to them. */
export function Lab({ settings, linked }: { readonly settings: Settings; readonly linked: Linked | undefined }) {
  const { sandbox } = settings;
  const [authorization, setAuthorization] = useState<string | undefined>(() =>
    sandbox
      ? basicAuthorization(sandbox.clientId, sandbox.secret)
      : (sessionStorage.getItem(storedCredentials) ?? undefined),
  );
  const signIn = (value: string | undefined) => {
    if (value === undefined) sessionStorage.removeItem(storedCredentials);
    else sessionStorage.setItem(storedCredentials, value);
    setAuthorization(value);
  };
  if (authorization === undefined) return <SignIn onSignIn={signIn} />;
  return (
    <SignedIn
      key={authorization}
      {...{ settings, linked, authorization }}
      onSignOut={sandbox ? undefined : () => signIn(undefined)}
    />
  );
}

type SignedInProps = Pick<SessionProps, 'settings' | 'linked' | 'authorization' | 'onSignOut'>;

function SignedIn({ settings, linked, authorization, onSignOut }: SignedInProps) {
  const { carried, operations, socket } = useMemo(() => connect(settings, authorization), [settings, authorization]);
  const [picked, setPicked] = useState<{ readonly operation: string }>();
  return (
    <div className="graphiql-container lab">
      <Suspense fallback={<Opening {...{ settings, picked }} onPick={setPicked} />}>
        <Workbench {...{ settings, linked, authorization, carried, operations, picked, onSignOut }} />
      </Suspense>
      <EventPane
        socket={socket}
        onPick={(event) => {
          carried.set('transaction', paymentOf(event));
          carried.set('cursor', event.cursor);
          setPicked({ operation: paymentOf(event) ? 'Timeline' : 'Resume' });
        }}
      />
    </div>
  );
}

/** Creates the state that the tabs and the event pane share. */
function connect({ sandbox }: Settings, authorization: string) {
  const carried = new CarriedValues();
  carried.set('customer', sandbox?.customerId);
  carried.set('source', sandbox?.sourceAccountId);
  carried.set('destination', sandbox?.destinationAccountId);
  const operations = new Operations({
    authorization: () => authorization,
    onResult: (operationName, data) => carried.takeAnswer(operationName, data),
  });
  return { carried, operations, socket: operations.socket(authorization) };
}

/** Asks for the credentials of an API token. They stay in this browser tab. */
function SignIn({ onSignIn }: { readonly onSignIn: (authorization: string) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    onSignIn(basicAuthorization(String(fields.get('clientId')), String(fields.get('secret'))));
  };
  return (
    <main className="page">
      <h1>Lab</h1>
      <form onSubmit={submit}>
        <p>Sign in with an API token. Its credentials stay in this tab of the browser until it is closed.</p>
        <label>
          clientId <input name="clientId" required autoComplete="username" spellCheck={false} />
        </label>
        <label>
          secret <input name="secret" type="password" required autoComplete="current-password" />
        </label>
        <button type="submit">Sign in</button>
      </form>
    </main>
  );
}
