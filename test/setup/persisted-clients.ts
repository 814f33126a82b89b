import { hash } from 'node:crypto';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import { type PersistedExchangeOptions, persistedExchange } from '@urql/exchange-persisted';
import { parse } from 'graphql';
import type { Data } from './gateway.ts';

/** Client libraries that send document hashes, used as an app would use them. */

/** How a request is sent: its method, and whether it contains the text or the hash of its document. */
export interface SentForm {
  readonly method: string;
  readonly text: boolean;
  readonly hash: boolean;
}

interface Served {
  readonly url: string;
  readonly authorization: string;
}

/** Sends a query twice, bypassing any cache, and returns the form of each request. */
export type SendTwice = (served: Served, query: string) => Promise<SentForm[]>;

/** Returns a `fetch` that records the form of each request. */
function noting(forms: SentForm[]): typeof fetch {
  return (url, init) => {
    const { method = 'GET', body } = init ?? {};
    const { searchParams } = new URL(String(url));
    const sent: Data = typeof body === 'string' ? JSON.parse(body) : Object.fromEntries(searchParams);
    const extensions = typeof sent.extensions === 'string' ? JSON.parse(sent.extensions) : sent.extensions;
    forms.push({ method, text: sent.query !== undefined, hash: extensions?.persistedQuery !== undefined });
    return fetch(url, init);
  };
}

export function urqlClient({ url, authorization }: Served, forms: SentForm[], options?: PersistedExchangeOptions) {
  return new UrqlClient({
    url: `${url}/graphql`,
    preferGetMethod: false,
    fetchSubscriptions: true,
    requestPolicy: 'network-only',
    fetchOptions: { headers: { authorization } },
    fetch: noting(forms),
    exchanges: [persistedExchange(options), fetchExchange],
  });
}

const withApollo: SendTwice = async ({ url, authorization }, query) => {
  const forms: SentForm[] = [];
  const http = new HttpLink({ uri: `${url}/graphql`, headers: { authorization }, fetch: noting(forms) });
  const persisted = new PersistedQueryLink({ sha256: async (text: string) => hash('sha256', text) });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: ApolloLink.from([persisted, http]) });
  const request = { query: parse(query), fetchPolicy: 'network-only' } as const;
  for (let time = 0; time < 2; time += 1) await client.query(request);
  client.stop();
  return forms;
};

const withUrql: SendTwice = async (served, query) => {
  const forms: SentForm[] = [];
  const client = urqlClient(served, forms, { preferGetForPersistedQueries: false });
  for (let time = 0; time < 2; time += 1) {
    const { error } = await client.query(query, {}).toPromise();
    if (error) throw error;
  }
  return forms;
};

/** Clients that use automatic persisted queries (without a manifest), each with the name of its library. */
export const automaticClients = [
  ['Apollo', withApollo],
  ['urql', withUrql],
] as const;
