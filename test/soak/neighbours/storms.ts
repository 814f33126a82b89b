import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import WebSocket from 'ws';

/** The kinds of storms. In each, every connection keeps repeating certain requests, regardless of the responses. */
export const kinds = [
  'queries',
  'documents',
  'mutations',
  'sockets',
  'streams',
  'uploads',
  'wrong credentials',
] as const;
export type Kind = (typeof kinds)[number];

export interface Storm {
  readonly url: string;
  readonly authorization: string;
  readonly connections: number;
  readonly kind: Kind;
  /** The number of acts per second, over all connections. If undefined, each act is repeated as soon as it ends. */
  readonly perSecond: number | undefined;
  /** The accounts between which the storm moves money. It also reads `from`. */
  readonly from: string;
  readonly to: string;
}

export interface Raging {
  /** Performs the storm's act once. Returns the result, such as an HTTP status or a WebSocket close code. */
  act(): Promise<string>;
  close?(): Promise<void>;
}

export function accountQuery(id: string): string {
  return `{ account(id: "${id}") { id currency { code } ... on InternalAccount { balance { amount } } } }`;
}

export const payment = `mutation ($input: TransferOutInput!) { transferOut(input: $input) { __typename } }`;

/** An expensive document: fifty payments, each with its timeline, its ledger entries and its customer's accounts. */
export const expensive = `{ transactions(first: 50) { edges { node { id status sentAmount { amount } timeline { status reason }
  ledgerEntries { amount { amount currency { code } } account { id } system }
  customer { id platformCustomerId accounts(first: 3) { edges { node { id displayName } } } } } } } }`;

export function connection(storm: Storm): Raging {
  const accounts = { sourceAccountId: storm.from, destinationAccountId: storm.to };
  switch (storm.kind) {
    case 'queries':
      return posting(storm, () => ({ query: accountQuery(storm.from) }));
    case 'documents':
      return posting(storm, () => ({ query: expensive }));
    case 'mutations':
      return posting(storm, () => ({
        query: payment,
        variables: { input: { ...accounts, amount: { units: 1 }, idempotencyKey: randomUUID() } },
      }));
    case 'wrong credentials':
      return posting({ ...storm, authorization: `Basic ${btoa(`${randomUUID()}:wrong`)}` }, () => ({
        query: '{ __typename }',
      }));
    case 'uploads':
      return { act: () => upload(storm) };
    case 'streams':
      return { act: () => openStream(storm) };
    case 'sockets':
      return { act: () => openSocket(storm) };
  }
}

function posting({ url, authorization }: Storm, body: () => object): Raging {
  const client = new Client(url);
  const headers = { authorization, 'content-type': 'application/json' };
  return {
    async act() {
      const answer = await client.request({ path: '/graphql', method: 'POST', headers, body: JSON.stringify(body()) });
      const text = await answer.body.text();
      return `${answer.statusCode}${/"errors"|Error"/.test(text) ? ' with errors' : ''}`;
    },
    close: () => client.close(),
  };
}

/** Sends a body of nearly 100 KiB, mostly spaces, in small pieces. */
function upload({ url, authorization }: Storm): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const headers = { authorization, 'content-type': 'application/json' };
  const request = httpRequest(`${url}/graphql`, { method: 'POST', headers }, (answer) => {
    answer.resume().once('close', () => resolve(String(answer.statusCode)));
  });
  request.once('error', () => resolve('broken off'));
  (async () => {
    const padding = ' '.repeat(4_000);
    for (let piece = 0; piece < 24 && !request.destroyed; piece += 1) {
      request.write(padding);
      await delay(1);
    }
    request.end('{"query": "{ __typename }"}');
  })();
  return promise;
}

/** Opens an event stream, and disconnects after the first message, which shows the current state. */
function openStream({ url, authorization, from }: Storm): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const headers = { authorization, 'content-type': 'application/json', accept: 'text/event-stream' };
  const request = httpRequest(`${url}/graphql`, { method: 'POST', headers }, (answer) => {
    const end = () => {
      resolve(String(answer.statusCode));
      request.destroy();
    };
    answer.once('data', end).once('end', end).once('error', end);
  });
  request.once('error', () => resolve('broken off'));
  request.end(JSON.stringify({ query: `subscription { accountUpdates(of: { accountId: "${from}" }) { cursor } }` }));
  return promise;
}

function openSocket({ url, authorization, from }: Storm): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on('open', () => send({ type: 'connection_init', payload: { authorization } }));
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data)) as { type: string };
    if (type === 'connection_ack') {
      send({ id: '1', type: 'subscribe', payload: { query: accountQuery(from) } });
      return;
    }
    if (type === 'complete' || type === 'error') {
      resolve(type);
      socket.close();
    }
  });
  socket.on('error', () => resolve('broken off'));
  socket.on('close', (code) => resolve(String(code)));
  return promise;
}
