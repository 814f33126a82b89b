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
import { Operations } from '../../src/api/graphql/server/operations.ts';
import { SentDocuments } from '../../src/api/graphql/server/sent-documents.ts';
import { Turns } from '../../src/api/http/turns.ts';
import { TokenCap } from '../../src/domain/access/limits/rate-limits.ts';

export interface Params {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
}

/** Runs an operation. Returns the response, or the first message of a stream, as JSON in the protocol's format. */
export type Ask = (params: Params) => Promise<FormattedExecutionResult>;

/** Counts the work that the documents have caused. */
export const ran = { rules: 0, resolvers: 0 };

/** A deep query of the kind that an ordinary Relay client sends. */
export const relayQuery =
  '{ customers(first: 10) { edges { node { accounts(first: 5) { edges { node { id } } } transactions(first: 5) { edges { node { id } } } } } } }';

/** A small schema with connections, interfaces and cycles. Each of its resolvers increments `ran.resolvers`. */
export const schema = buildTestSchema();

/** Returns a function that runs operations on the small schema, in the same way as all of the gateway's transports. */
export function asking({ introspection }: { introspection: boolean }): Ask {
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
  return async (params) => {
    const prepared = await operations.prepare({}, () => params);
    if (!('document' in prepared)) return { errors: prepared.map((error) => error.toJSON()) };
    const isSubscription = prepared.operation.operation === 'subscription';
    const result = await (isSubscription ? operations.subscribe(prepared) : operations.execute(prepared));
    if (!(Symbol.asyncIterator in result)) return JSON.parse(JSON.stringify(result));
    for await (const { text } of result) return JSON.parse(text);
    throw new Error('the stream ended');
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
