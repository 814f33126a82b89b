import type { GraphiQLOptions } from 'graphql-yoga';

/** The credentials of an API token. */
export interface Credentials {
  readonly clientId: string;
  readonly secret: string;
}

/** Returns the value of the Authorization header for these credentials. */
export function basicAuthorization({ clientId, secret }: Credentials): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}

const listAccounts = `# 1. The accounts of the sandbox. Press the button.
query Accounts {
  internal: accounts(first: 100, filter: { kind: INTERNAL, currency: "USD" }) {
    edges { node { id customer { name } ... on InternalAccount { balance { formatted } } } }
  }
  external: accounts(first: 100, filter: { kind: EXTERNAL }) {
    edges { node { id currency { code } customer { name } ... on ExternalAccount { status } } }
  }
}
`;

const createQuote = `# 2. Lock a rate: 100.00 USD to a euro account. Copy the quote's id and its transaction's from the answer.
mutation Quote($source: ID!, $destination: ID!) {
  createQuote(input: {
    source: { account: { accountId: $source } }
    destination: { account: { accountId: $destination } }
    lockedCurrencySide: SENDING
    lockedCurrencyAmount: "10000"
  }) {
    ... on CreateQuoteSuccess {
      quote {
        id
        expiresAt
        exchangeRate
        totalSendingAmount { formatted }
        feesIncluded { formatted }
        totalReceivingAmount { formatted }
        transaction { id }
      }
    }
    ... on UserError { code message path }
  }
}
`;

const executeQuote = `# 3. Put the quote's id into the variables and execute it before it expires.
mutation Execute($quote: ID!) {
  executeQuote(input: { quoteId: $quote }) {
    ... on ExecuteQuoteSuccess { quote { status transaction { id status } } }
    ... on UserError { code message path }
  }
}
`;

const follow = `# 4. Put the transaction's id into the variables and watch it: the present state first, then every change.
subscription Follow($transaction: ID!) {
  transactionUpdates(transactionId: $transaction) {
    previousStatus
    status
    terminal
    occurredAt
    cursor
  }
}
`;

/** The data that GraphiQL has ready for a newcomer: credentials, and the two accounts of a first payment. */
export interface Newcomer {
  readonly credentials: Credentials;
  readonly sourceAccountId: string;
  readonly destinationAccountId: string;
}

/** Returns the options of GraphiQL, with a tab for each step of a first payment, and with credentials where there are any. */
export function graphiqlOptions(newcomer: Newcomer | undefined): GraphiQLOptions {
  const credentials = newcomer?.credentials;
  const headers = JSON.stringify({ authorization: credentials ? basicAuthorization(credentials) : 'Basic …' }, null, 2);
  const tab = (query: string, variables?: object) => ({
    query,
    headers,
    ...(variables && { variables: JSON.stringify(variables, null, 2) }),
  });
  return {
    title: 'Payments',
    defaultQuery: listAccounts,
    headers,
    defaultHeaders: headers,
    shouldPersistHeaders: true,
    defaultTabs: [
      tab(listAccounts),
      tab(createQuote, {
        source: newcomer?.sourceAccountId ?? 'InternalAccount:…',
        destination: newcomer?.destinationAccountId ?? 'ExternalAccount:…',
      }),
      tab(executeQuote, { quote: 'Quote:…' }),
      tab(follow, { transaction: 'Transaction:…' }),
    ],
    ...(credentials && { additionalHeaders: { authorization: basicAuthorization(credentials) } }),
    // Its WebSocket does not send the headers of the editor; its event stream does.
    subscriptionsProtocol: 'SSE',
  };
}
