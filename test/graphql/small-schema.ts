import { buildSchema } from 'graphql';

export interface Params {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
}

/** A deep query of the kind that an ordinary Relay client sends. */
export const relayQuery =
  '{ customers(first: 10) { edges { node { accounts(first: 5) { edges { node { id } } } transactions(first: 5) { edges { node { id } } } } } } }';

const page = 'first: Int, after: String, last: Int, before: String';

/** A small schema with connections, interfaces and cycles. */
export const schema = buildSchema(`
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
