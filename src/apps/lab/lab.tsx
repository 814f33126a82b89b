import { DOC_EXPLORER_PLUGIN, DocExplorerStore } from '@graphiql/plugin-doc-explorer';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN, HistoryStore } from '@graphiql/plugin-history';
import { GraphiQLProvider, Tooltip } from '@graphiql/react';
import { type FormEvent, useMemo, useState } from 'react';
import { CarriedValues } from './carried.ts';
import { EventPane } from './event-pane.tsx';
import { Feed, paymentOf } from './feed.ts';
import { journey } from './further-steps.ts';
import { Operations } from './operations.ts';
import { Session } from './session.tsx';
import { basicAuthorization, type Settings } from './settings.ts';

/** The plugins beside the editors: a schema explorer and the history of requests. */
const plugins = [explorerPlugin({ showAttribution: false }), HISTORY_PLUGIN];

/** The key under which the credentials are stored until the browser tab is closed. */
const storedCredentials = 'lab:authorization';

/** Renders GraphiQL with the journey in its tabs, and the platform's events beside them. */
export function Lab({ settings }: { readonly settings: Settings }) {
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
      settings={settings}
      authorization={authorization}
      {...(!sandbox && { onSignOut: () => signIn(undefined) })}
    />
  );
}

interface SignedInProps {
  readonly settings: Settings;
  readonly authorization: string;
  readonly onSignOut?: () => void;
}

function SignedIn({ settings, authorization, onSignOut }: SignedInProps) {
  const { carried, operations, feed } = useMemo(() => connect(settings, authorization), [settings, authorization]);
  const [picked, setPicked] = useState<{ readonly operation: string }>();
  const { query, variables } = useMemo(() => linkedOperation(), []);
  return (
    <GraphiQLProvider
      // GraphiQL's fetcher type wants its own kind of observable; it uses only `subscribe`, which this one has.
      fetcher={operations.fetcher as never}
      plugins={[DOC_EXPLORER_PLUGIN, ...plugins]}
      referencePlugin={DOC_EXPLORER_PLUGIN}
      defaultTabs={journey.map((step) => ({
        query: step.query,
        variables: step.variables ? JSON.stringify(step.variables, null, 2) : '',
      }))}
      {...(query !== undefined && { initialQuery: query, initialVariables: variables ?? '' })}
      schemaDescription
      inputValueDeprecation
    >
      <HistoryStore>
        <DocExplorerStore>
          <Tooltip.Provider>
            <div className="graphiql-container lab">
              <Session
                {...{ settings, authorization, carried, operations, picked }}
                {...(onSignOut && { onSignOut })}
              />
              <EventPane
                feed={feed}
                onPick={(event) => {
                  carried.set('transaction', paymentOf(event));
                  carried.set('cursor', event.cursor);
                  setPicked({ operation: paymentOf(event) ? 'Timeline' : 'Resume' });
                }}
              />
            </div>
          </Tooltip.Provider>
        </DocExplorerStore>
      </HistoryStore>
    </GraphiQLProvider>
  );
}

/** Creates the state that the tabs and the pane share. */
function connect({ sandbox }: Settings, authorization: string) {
  const carried = new CarriedValues();
  carried.set('customer', sandbox?.customerId);
  carried.set('source', sandbox?.sourceAccountId);
  carried.set('destination', sandbox?.destinationAccountId);
  const operations = new Operations({
    authorization: () => authorization,
    onResult: (operationName, data) => carried.takeAnswer(operationName, data),
  });
  return { carried, operations, feed: new Feed(operations.socket(authorization)) };
}

/** Returns the operation in a link to this page. */
function linkedOperation(): { readonly query?: string; readonly variables?: string } {
  const parameters = new URLSearchParams(location.search);
  const [query, variables] = [parameters.get('query'), parameters.get('variables')];
  return { ...(query && { query }), ...(variables && { variables }) };
}

/** Asks for the credentials of an API token. They stay in this browser tab. */
function SignIn({ onSignIn }: { readonly onSignIn: (authorization: string) => void }) {
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
