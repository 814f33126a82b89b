import { createServer } from 'node:http';
import {
  buildSchema,
  type FormattedExecutionResult,
  type GraphQLError,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
  specifiedRules,
  type ValidationRule,
} from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { createYoga } from 'graphql-yoga';
import { WebSocket, WebSocketServer } from 'ws';
import { Operations } from '../../src/api/graphql/server/operations.ts';
import { SentDocuments } from '../../src/api/graphql/server/sent-documents.ts';
import { useOperations } from '../../src/api/graphql/server/server.ts';
import { asResults } from '../../src/api/graphql/server/streams.ts';
import { Turns } from '../../src/api/http/turns.ts';
import { TokenCap } from '../../src/domain/access/limits/token-caps.ts';
import { listen } from '../setup/free-port.ts';

export interface Params {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
}

/** Sends a request over one transport of the server, and returns the answer as JSON of the protocol. */
export type Ask = (params: Params) => Promise<FormattedExecutionResult>;

/** How much work documents caused. */
export const ran = { rules: 0, resolvers: 0 };

/** The deep query that an ordinary Relay client sends. */
export const relayQuery =
  '{ customers(first: 10) { edges { node { accounts(first: 5) { edges { node { id } } } transactions(first: 5) { edges { node { id } } } } } } }';

/** A small graph with connections, interfaces and cycles. Each of its resolvers increments `ran.resolvers`. */
export const schema = buildTestSchema();

/** Serves the small graph through Yoga and over a socket. */
export function startServer({ introspection }: { introspection: boolean }) {
  const turns = new Turns(8, 8);
  const operations = new Operations({
    schema,
    introspection,
    rules: [...specifiedRules, countRule],
    sent: new SentDocuments({} as never, false),
    operationMs: 10_000,
    reportsCost: false,
    // No operation here follows events or reads a database.
    sessions: {} as never,
    streams: new TokenCap('subscriptions', { apiToken: 1_000, clientToken: 1_000 }),
    takeTurn: () => turns.takeTurn('nobody'),
    countMore: async () => undefined,
    expensive: turns,
    contextOf: async () => ({ viewer: { permissions: [] }, closeForRetry: () => undefined }) as never,
    present: (error) => error as GraphQLError,
  });
  const yoga = createYoga({
    schema,
    parserAndValidationCache: false,
    context: async ({ params }) => {
      const prepared = await operations.prepare({}, () => params);
      if ('document' in prepared) return prepared.contextValue;
      throw prepared[0];
    },
    plugins: [useOperations(operations)],
    logging: false,
  });
  const server = createServer(yoga);
  const sockets = useServer(
    {
      execute: (args) => operations.execute(args),
      subscribe: async (args) => asResults(await operations.subscribe(args)),
      onSubscribe: async (_context, _id, params) => {
        const prepared = await operations.prepare({}, () => params);
        return prepared as Exclude<typeof prepared, readonly unknown[]>;
      },
    },
    new WebSocketServer({ server, path: '/graphql' }),
  );
  let client: ReturnType<typeof createClient> | undefined;

  async function post(params: Params, accept: string): Promise<Response> {
    return yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(params),
    });
  }

  const http: Ask = async (params) => {
    if (!params.query.startsWith('subscription')) {
      return (await post(params, 'application/graphql-response+json')).json();
    }
    const events = await (await post(params, 'text/event-stream')).text();
    return JSON.parse(/^data: (.+)$/m.exec(events)?.[1] ?? '{}');
  };

  const socket: Ask = (params) =>
    new Promise((resolve, reject) => {
      if (client === undefined) throw new Error('The server is not listening yet.');
      client.subscribe(params, {
        next: ({ data, errors }) => resolve({ ...(data && { data }), ...(errors && { errors }) }),
        error: (error) => (Array.isArray(error) ? resolve({ errors: error }) : reject(error)),
        complete: () => {},
      });
    });

  return {
    post,
    http,
    socket,
    async listen(): Promise<void> {
      client = createClient({ url: `ws://127.0.0.1:${await listen(server)}/graphql`, webSocketImpl: WebSocket });
    },
    async close(): Promise<void> {
      await client?.dispose();
      await sockets.dispose();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const countRule: ValidationRule = () => {
  ran.rules++;
  return {};
};

function buildTestSchema(): GraphQLSchema {
  const page = 'first: Int, after: String, last: Int, before: String';
  const schema = buildSchema(`
    type Query {
      version: String!
      echo(values: [Int!]): Int
      node(id: ID!): Node
      nodes(ids: [ID!]!): [Node]!
      customer: Customer
      customers(${page}, status: Status, filter: CustomerFilter): CustomerConnection!
      currencies: [Currency!]!
    }
    type Mutation { pay: String! refund: String! cancel: String! }
    type Subscription { ticks(status: Status): Int! }
    interface Node { id: ID! }
    enum Status { ACTIVE CLOSED }
    input CustomerFilter { name: String }
    type Customer implements Node {
      id: ID!
      name: String
      parent: Customer
      friends(${page}): CustomerConnection!
      accounts(${page}): AccountConnection!
      transactions(${page}): TransactionConnection!
    }
    type Account implements Node { id: ID! }
    type Transaction implements Node { id: ID! }
    type Currency { code: String! decimals: Int! }
    type PageInfo { hasNextPage: Boolean! }
    type CustomerConnection { edges: [CustomerEdge!]! pageInfo: PageInfo! }
    type CustomerEdge { cursor: String! node: Customer! }
    type AccountConnection { edges: [AccountEdge!]! pageInfo: PageInfo! }
    type AccountEdge { cursor: String! node: Account! }
    type TransactionConnection { edges: [TransactionEdge!]! pageInfo: PageInfo! }
    type TransactionEdge { cursor: String! node: Transaction! }
  `);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type)) type.resolveType = () => 'Customer';
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      field.resolve = () => {
        ran.resolvers++;
        return sample(field.type);
      };
      if (type === schema.getSubscriptionType()) {
        field.subscribe = async function* () {
          ran.resolvers++;
          yield {};
        };
      }
    }
  }
  return schema;
}

function sample(type: GraphQLOutputType): unknown {
  if (isNonNullType(type)) return sample(type.ofType);
  if (isListType(type)) return [sample(type.ofType)];
  switch (getNamedType(type).name) {
    case 'Int':
      return 1;
    case 'Boolean':
      return true;
    case 'String':
    case 'ID':
      return 'x';
    default:
      return {};
  }
}
