/** The building blocks of the lab's journey. */

/** The name of a variable whose value responses can provide. */
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

/** The `data` of a response. Its shape follows the document. */
// biome-ignore lint/suspicious/noExplicitAny: what a query answers depends on its text
type Data = any;

export interface Step {
  /** The name of its operation, which identifies its tab. */
  readonly operation: string;
  readonly title: string;
  /** Its effect, in a sentence or two. */
  readonly about: string;
  /** The page that explains it, below /docs. */
  readonly docs?: string;
  readonly query: string;
  readonly variables?: Variables;
  /** Extracts the values that its response provides to other tabs; undefined if it contains none of them. */
  readonly gives?: (data: Data) => Partial<Record<CarriedName, string | undefined>> | undefined;
}

/** The placeholder of a variable until a response provides its value. */
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
