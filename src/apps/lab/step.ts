/** The building blocks of the lab's journey. */

/** For each variable, the placeholder shown until a response provides its value, and the tab that gets the response. */
const open = {
  customer: ['Customer:…', 'the “Look around” tab'],
  payerName: ['…', 'the “Look around” tab'],
  source: ['InternalAccount:…', 'the “Look around” tab'],
  destination: ['ExternalAccount:…', 'the “Look around” tab'],
  quote: ['Quote:…', 'the tab before this one'],
  transaction: ['Transaction:…', 'the “First payment” tab'],
  cursor: ['…', 'the Watch tab'],
  lookup: ['Lookup:…', 'the “UMA: look up” tab'],
  endpoint: ['WebhookEndpoint:…', 'the Webhooks tab'],
} as const;

/** The name of a variable whose value a response can provide. */
export type CarriedName = keyof typeof open;

/** Returns a message if a variable still has its placeholder. */
export function missingIn(variables: Readonly<Record<string, unknown>>): string | undefined {
  const [name, [, tab] = []] =
    Object.entries(open).find(([one, [placeholder]]) => variables[one] === placeholder) ?? [];
  return name && `The variable $${name} has no value yet: run ${tab} first, or enter a value`;
}

/** The `data` of a response. */
// biome-ignore lint/suspicious/noExplicitAny: a query's result depends on its document
export type Data = any;

/** A step as declared in the journey. */
export interface WrittenStep {
  readonly title: string;
  /** What the step does, in a sentence or two. */
  readonly about: string;
  /** The page below /docs that explains the step. */
  readonly docs?: string;
  readonly query: string;
  /** Values for the variables that get none from a response. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * Returns the values in the step's response that other tabs use, or undefined if they use none.
   * @param source the id of the paying account
   */
  readonly gives?: (
    data: Data,
    source: string | undefined,
  ) => Partial<Record<CarriedName, string | undefined>> | undefined;
}

/** A step with its operation's name, which identifies the tab, and its variables as JSON, in declaration order. */
export type Step = ReturnType<typeof stepFrom>;

export function stepFrom({ variables: given, ...written }: WrittenStep) {
  const [, operation = ''] = /^\w+ (\w+)/.exec(written.query) ?? [];
  const names = Array.from(written.query.matchAll(/\$(\w+): /g), ([, name = '']) => name);
  // A variable without a given value gets one from another step's response.
  const values = Object.fromEntries(names.map((name) => [name, given?.[name] ?? open[name as CarriedName][0]]));
  return { ...written, operation, variables: names.length > 0 ? JSON.stringify(values, null, 2) : '' };
}

/** Writes the selection set of a root field, with one field per line, as Prettier does. */
export function selection(fields: string): string {
  let [written, depth] = ['{', 2];
  for (const [token] of fields.matchAll(/[{}]|\.\.\. on \w+|(?:\w+: )?\w+(?:\([^()]*\))?/g)) {
    if (token === '}') depth -= 1;
    written += token === '{' ? ' {' : `\n${'  '.repeat(depth)}${token}`;
    if (token === '{') depth += 1;
  }
  return `${written}\n  }`;
}

/** The fields to select from a refusal. */
export const refused = '... on UserError { code message path }';

interface QuoteMutation {
  /** The mutation's name and variables. */
  readonly head: string;
  readonly source?: string;
  readonly destination?: string;
  readonly amount: string;
  /** Further fields of the input. */
  readonly more?: readonly string[];
  readonly scenario?: string;
  /** The fields to select in addition to the payment. */
  readonly fields: string;
}

/** Writes a mutation that creates a quote, by default from one account to another. */
export function quoteMutation({
  head,
  source,
  destination,
  amount,
  more = [],
  scenario,
  fields,
}: QuoteMutation): string {
  const input = [
    `source: ${source ?? '{ account: { accountId: $source } }'}`,
    `destination: ${destination ?? '{ account: { accountId: $destination } }'}`,
    'lockedCurrencySide: SENDING',
    `lockedCurrencyAmount: { decimal: ${amount} }`,
    ...more,
  ];
  return `mutation ${head} {
  createQuote(
    input: {
      ${input.join('\n      ')}
    }${scenario === undefined ? '' : `\n    sandboxScenario: ${scenario}`}
  ) ${selection(`... on CreateQuoteSuccess { quote { ${fields} transaction { id status } } } ${refused}`)}
}
`;
}

/** Returns the ids of a new quote. */
export const quoteAndTransaction = ({ createQuote: { quote } }: Data) => ({
  quote: quote?.id,
  transaction: quote?.transaction.id,
});
