import { ApolloClient, ApolloLink, type FieldMergeFunction, HttpLink, InMemoryCache } from '@apollo/client';
import { ServerError } from '@apollo/client/errors';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { useEffect, useEffectEvent } from 'react';
import { newestVersions } from '../client/apollo.ts';
import { apolloCache } from '../client/apollo-cache.ts';
import { openPayments } from '../client/payments.ts';
import { useConnectionState } from '../client/react.ts';

/** Sets up the clients. The token comes from the wallet's own server (src/api/pages/pages.ts in the sandbox). */
export function openService() {
  const payments = openPayments({
    url: new URL('graphql', location.href).href,
    fetch: network.fetch,
    webSocketImpl: class extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols);
        if (network.isCut) this.close();
      }
    },
    async token(signal) {
      const response = await network.fetch('wallet/token', { method: 'POST', signal });
      if (!response.ok) throw new Error(`Signing in failed (${response.status}). Please reload the page.`);
      return response.json();
    },
  });
  const settings = apolloCache();
  const accounts = settings.typePolicies.Customer?.fields?.accounts as { merge: FieldMergeFunction } | undefined;
  if (accounts) accounts.merge = keepingPages(accounts.merge);
  const apollo = new ApolloClient({
    // A list that is read again after a change needs a new request: the response to an earlier one may lack the change.
    queryDeduplication: false,
    cache: new InMemoryCache(settings),
    link: ApolloLink.from([
      new ApolloLink(newestVersions()),
      ApolloLink.split(
        ({ operationType }) => operationType === 'subscription',
        new GraphQLWsLink(payments.socket.client),
        new HttpLink({ uri: payments.url, fetch: payments.fetch }),
      ),
    ]),
  });
  return { payments, apollo };
}

/** Keeps the later pages when the first page is read again, which happens after each payment. */
function keepingPages(merge: FieldMergeFunction): FieldMergeFunction {
  return (known, page, options) => {
    const last = page?.edges?.at(-1)?.cursor;
    const at = known?.edges.findIndex(({ cursor }: { cursor: string }) => cursor === last) ?? -1;
    const before = at < 0 || options.args?.after ? undefined : known.edges[at + 1]?.cursor;
    return merge(known, page, before ? { ...options, args: { ...options.args, before } } : options);
  };
}

/** The locale in which amounts and times are formatted. */
export const locale = navigator.language;

const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

/** Describes a payment's status, including the deadline if the payment awaits approval. */
export function statusText({ status, approvalDueAt }: { status: string; approvalDueAt?: string | null }): string {
  return status === 'CREATED' && approvalDueAt ? `waiting for approval until ${timeText(approvalDueAt)}` : status;
}

/** Returns why a request failed. Without a connection, `fetch` throws a TypeError with the browser's own text. */
export function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return noConnectionText();
  if (ServerError.is(error)) return 'The service is busy. Please try again.';
  return messageText(error instanceof Error ? error.message : String(error));
}

export const noConnection = 'There is no connection.';
export const noConnectionText = () =>
  `${noConnection} ${network.isCut ? 'Restore the network to continue.' : 'Check your network, and try again.'}`;

/** Calls `act` whenever the connection is restored, for example to remove messages about a lost connection. */
export function useReconnected(act: () => void): void {
  const state = useConnectionState();
  const reconnected = useEffectEvent(act);
  useEffect(() => {
    if (state === 'OPEN') reconnected();
    addEventListener(recovered, reconnected);
    return () => removeEventListener(recovered, reconnected);
  }, [state]);
}

/** Formats a message from the service like the wallet's own: with a period and localized amounts. */
export const messageText = (message: string) =>
  message
    // A range such as "0.10 to 5.00 USD" names its currency only once.
    .replace(/\d(?= to [\d.]+ ([A-Z]{3,4})\b)/g, '$& $1')
    .replace(/\b(\d+(?:\.(\d+))?) ([A-Z]{3,4})\b/g, amountText)
    .replace(/[^.?!]$/, '$&.');

/** Formats an amount such as "0.01 USD". Intl accepts only three-letter codes; XTS, a test code, replaces others. */
function amountText(_all: string, decimal: `${number}`, { length } = '', code: string): string {
  const digits = { minimumFractionDigits: length, maximumFractionDigits: length };
  const currency = code.length === 3 ? code : 'XTS';
  return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(decimal).replace('XTS', code);
}

/** Lets a formatted amount break before its currency where the two do not fit on one line. */
export const breakable = (formatted: string) => formatted.replaceAll('\u00a0', ' ');

/** The account of one of a payment's parties. */
export interface Account {
  readonly displayName: string;
  readonly maskedNumber: string | null;
}

/**
 * Names an account in a way that distinguishes it from the same person's others: "Ada Muster •••• 1234". An address may
 * break after its "@".
 */
export const accountText = (account: Account | null) =>
  [account?.displayName ?? '…', account?.maskedNumber?.replace(' ', '\u00a0').replace('@', '@\u200b')]
    .filter(Boolean)
    .join(' ');

/** Formats a time for the reader's locale. */
export function timeText(time: string): string {
  return times.format(new Date(time));
}

/** Dispatched when a request succeeds after one has failed. The socket may not have noticed the interruption. */
const recovered = 'wallet-recovered';

/** Cuts and restores the wallet's network, to show what happens when a phone is in a tunnel. */
class Network {
  isCut = false;
  #hasFailed = false;

  readonly fetch: typeof fetch = async (input, init) => {
    try {
      if (this.isCut) throw new TypeError('the network is cut');
      const response = await fetch(input, init);
      if (this.#hasFailed) dispatchEvent(new Event(recovered));
      this.#hasFailed = false;
      return response;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  };
}

export const network = new Network();
