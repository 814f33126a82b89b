/** What the steps of the lab's journey are made of. */

/** A value that answers give and variables take, by the name of the variable. */
export type CarriedName =
  | 'customer'
  | 'source'
  | 'destination'
  | 'quote'
  | 'transaction'
  | 'cursor'
  | 'lookup'
  | 'endpoint';

export type Variables = Readonly<Record<string, string>>;

/** The `data` of an answer: its shape is that of the document. */
// biome-ignore lint/suspicious/noExplicitAny: what a query answers depends on its text
type Data = any;

export interface Step {
  /** The name of its operation, which identifies its tab. */
  readonly operation: string;
  readonly title: string;
  /** Its effect, in a sentence or two. */
  readonly about: string;
  /** Where the documentation explains it, below /docs. */
  readonly docs?: string;
  readonly query: string;
  readonly variables?: Variables;
  /** The values that its answer has for other tabs; undefined where it has none of them. */
  readonly gives?: (data: Data) => Partial<Record<CarriedName, string | undefined>>;
}

/** The contents of a variable until an answer has its value. */
export const open = {
  customer: 'Customer:…',
  source: 'InternalAccount:…',
  destination: 'ExternalAccount:…',
  quote: 'Quote:…',
  transaction: 'Transaction:…',
  cursor: '…',
  lookup: 'Lookup:…',
  endpoint: 'WebhookEndpoint:…',
} as const satisfies Record<CarriedName, string>;

/** Returns the ids of a new quote. */
export const quoteAndTransaction = ({ createQuote: { quote } }: Data) => ({
  quote: quote?.id,
  transaction: quote?.transaction.id,
});
