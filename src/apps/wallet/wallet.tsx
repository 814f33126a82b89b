import { useApolloClient, useQuery, useSubscription } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { FollowAccounts, FollowTransactions, History, Home, PayeePicker } from '../client/generated/documents.ts';
import { useConnectionState, usePayments } from '../client/react.ts';
import { Payments } from './history.tsx';
import { Pay } from './pay.tsx';
import { breakable, locale, network, reasonOf, useReconnected } from './service.ts';
import { type Listed, Statement } from './statement.tsx';

/** Renders the wallet: balances, a payment, past payments, and a statement. */
export function Wallet() {
  const { data, error } = useQuery(Home, { variables: { locale } });
  const [extensions, setExtensions] = useState<{ readonly after: string }>();
  if (data && !extensions) setExtensions({ after: data.viewer.feedCursor });
  // Both subscriptions write to the cache, which updates every view of the accounts and payments. They begin at the
  // cursor read with the lists, so that no change is missed if the connection is lost before the first message.
  const from = { variables: { locale }, ...(extensions && { extensions }), skip: !extensions };
  useSubscription(FollowAccounts, from);
  useSubscription(FollowTransactions, {
    ...from,
    // Completing a payment changes neither the list of executed payments nor the limits. Other changes may affect them.
    onData: ({ client, data: { data } }) => {
      if (
        data &&
        (data.transactionUpdates.previousStatus !== 'PROCESSING' || data.transactionUpdates.status !== 'COMPLETED')
      )
        client.refetchQueries({ include: [History, PayeePicker] });
    },
  });
  const client = useApolloClient();
  // Retries the reads that failed.
  useReconnected(() =>
    client.refetchQueries({
      include: 'active',
      onQueryUpdated: (query) => query.getCurrentResult().error !== undefined,
    }),
  );
  const [statementOf, setStatementOf] = useState<Listed>();
  const customer = data?.viewer.customer;
  const all = customer?.accounts.edges.flatMap(({ node }) => ('balance' in node ? [node] : [])) ?? [];
  const empty = all.filter(({ balance }) => balance.amount === '0');
  const funded = all.filter((account) => !empty.includes(account));
  const cards = (accounts: typeof all) =>
    accounts.map((account) => (
      <li key={account.id}>
        <span>{account.displayName}</span>
        <strong>{breakable(account.balance.formatted)}</strong>
        <button type="button" onClick={() => setStatementOf(account)}>
          Statement<span className="hidden"> of {account.displayName}</span>
        </button>
      </li>
    ));
  return (
    <>
      <header>
        <h1>{customer?.name ?? 'Wallet'}</h1>
        <NetworkSwitch />
      </header>
      <main>
        {error && <p role="alert">{reasonOf(error)}</p>}
        <section aria-labelledby="balances">
          <h2 id="balances">Balances</h2>
          <ul className="cards balances" aria-busy={!data && !error}>
            {!data &&
              !error &&
              ['1', '2', '3'].map((place) => (
                <li key={place}>
                  <strong>…</strong>
                </li>
              ))}
            {cards(funded)}
          </ul>
          {empty.length > 0 && (
            <details open={funded.length === 0}>
              <summary>
                {empty.length} {empty.length === 1 ? 'account' : 'accounts'} without money
              </summary>
              <ul className="cards balances">{cards(empty)}</ul>
            </details>
          )}
        </section>
        {statementOf && <Statement key={statementOf.id} of={statementOf} onClose={() => setStatementOf(undefined)} />}
        <Pay />
        <Payments />
      </main>
    </>
  );
}

const states = { IDLE: 'not connected', CONNECTING: 'connecting …', OPEN: 'live' } as const;

/** Renders the switch that cuts and restores the network. Changes missed meanwhile are shown once it is restored. */
function NetworkSwitch() {
  const { socket } = usePayments();
  const state = useConnectionState();
  const [isCut, setCut] = useState(network.isCut);
  const [isOnline, setOnline] = useState(navigator.onLine);
  // The browser reports when the network is lost or restored. A socket does not notice.
  useEffect(() => {
    const change = () => {
      setOnline(navigator.onLine);
      socket.reconnect();
    };
    const control = new AbortController();
    for (const type of ['online', 'offline']) addEventListener(type, change, control);
    return () => control.abort();
  }, [socket]);
  return (
    <p className="network">
      <span role="status" data-state={state}>
        {isCut || !isOnline ? 'no network' : states[state]}
      </span>
      <button
        type="button"
        onClick={() => {
          network.isCut = !isCut;
          setCut(!isCut);
          socket.reconnect();
        }}
      >
        {isCut ? 'Restore the network' : 'Cut the network'}
      </button>
    </p>
  );
}
