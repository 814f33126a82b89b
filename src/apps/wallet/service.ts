import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { newestVersions } from '../client/apollo.ts';
import { apolloCache } from '../client/apollo-cache.ts';
import { openPayments, type Payments } from '../client/payments.ts';

/** The wallet's connections. */
export interface Service {
  readonly payments: Payments;
  readonly apollo: ApolloClient;
  readonly network: Network;
}

/** Opens the service. The token comes from the wallet's own server (src/api/pages/pages.ts in the sandbox). */
export function openService(): Service {
  const network = new Network();
  const payments = openPayments({
    url: new URL('graphql', location.href).href,
    fetch: network.fetch,
    webSocketImpl: network.WebSocket,
    async token(signal) {
      const response = await network.fetch('wallet/token', { method: 'POST', signal });
      if (!response.ok) throw new Error(`Signing in failed (${response.status}). Please reload the page.`);
      return response.json();
    },
  });
  const apollo = new ApolloClient({
    cache: new InMemoryCache(apolloCache()),
    link: ApolloLink.from([
      new ApolloLink(newestVersions()),
      ApolloLink.split(
        ({ operationType }) => operationType === 'subscription',
        new GraphQLWsLink(payments.socket.client),
        new HttpLink({ uri: payments.url, fetch: payments.fetch }),
      ),
    ]),
  });
  return { payments, apollo, network };
}

/** The locale in which amounts and times are formatted. */
export const locale = navigator.language;

const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

/** Returns a payment's status, in words if a person needs to know more than its name. */
export function statusText({ status, approvalDueAt }: { status: string; approvalDueAt?: string | null }): string {
  return status === 'CREATED' && approvalDueAt ? `waits for approval until ${timeText(approvalDueAt)}` : status;
}

/** Returns why a request failed. `fetch` throws a TypeError without a connection; each browser words it differently. */
export function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'There is no connection. Please try again.';
  return error instanceof Error ? error.message : String(error);
}

/** Formats a time for the reader's locale. */
export function timeText(time: string): string {
  return times.format(new Date(time));
}

/** Cuts and restores the wallet's network, to show what happens when a phone is in a tunnel. */
export class Network {
  isCut = false;

  /** Sends a request, unless the network is cut. */
  readonly fetch: typeof fetch = (input, init) =>
    this.isCut ? Promise.reject(new TypeError('the network is cut')) : fetch(input, init);

  /** Opens a socket, as WebSocket does; while the network is cut, returns a socket that closes at once. */
  readonly WebSocket = Object.assign(
    (() => {
      const isCut = () => this.isCut;
      return function open(url: string, protocols?: string) {
        return isCut() ? deadSocket() : new WebSocket(url, protocols);
      };
    })(),
    { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 },
  );
}

/** Creates the stand-in for a socket while the network is cut. */
function deadSocket() {
  const socket = {
    onclose: null as ((event: object) => void) | null,
    send() {},
    close() {},
  };
  queueMicrotask(() => socket.onclose?.({ code: 1006, reason: 'no network', wasClean: false }));
  return socket;
}
