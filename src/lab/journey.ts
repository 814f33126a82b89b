/** The steps of a first day with the service. Each has a tab, with a document that is ready to be sent. */

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

/** A step of the journey. */
export interface Step {
  /** The name of its operation, by which its tab is found again. */
  readonly operation: string;
  readonly title: string;
  /** What it does, in a sentence or two. */
  readonly about: string;
  /** Where the documentation explains it, below /docs. */
  readonly docs?: string;
  readonly query: string;
  readonly variables?: Variables;
  /** The values that its answer has for other tabs; undefined where it has none of them. */
  readonly gives?: (data: Data) => Partial<Record<CarriedName, string | undefined>>;
}

/** What stands in a variable until an answer has its value. */
const open = {
  customer: 'Customer:…',
  source: 'InternalAccount:…',
  destination: 'ExternalAccount:…',
  quote: 'Quote:…',
  transaction: 'Transaction:…',
  cursor: '…',
  lookup: 'Lookup:…',
  endpoint: 'WebhookEndpoint:…',
} as const satisfies Record<CarriedName, string>;

const quoteAndTransaction = ({ createQuote: { quote } }: Data) => ({
  quote: quote?.id,
  transaction: quote?.transaction.id,
});

export const journey: readonly Step[] = [
  {
    operation: 'LookAround',
    title: 'Look around',
    about: 'Who you are, and the accounts that can pay and be paid. Press the button to send it.',
    query: `query LookAround {
  viewer { kind serverTime }
  internal: accounts(first: 10, filter: { kind: INTERNAL, currency: "USD", platformOwned: false }) {
    edges { node { id customer { id name } ... on InternalAccount { balance { formatted } } } }
  }
  external: accounts(first: 20, filter: { kind: EXTERNAL, currency: "EUR", platformOwned: false }) {
    edges { node { id displayName maskedNumber customer { name } } }
  }
}
`,
    gives: ({ internal, external }) => ({
      source: internal.edges[0]?.node.id,
      customer: internal.edges[0]?.node.customer?.id,
      destination: external.edges[0]?.node.id,
    }),
  },
  {
    operation: 'AddBeneficiary',
    title: 'Add a beneficiary',
    about:
      'Registers a bank account to pay to. The next quote goes there. Its last three characters decide how payments end.',
    docs: 'src/rails/sandbox/README.md',
    query: `mutation AddBeneficiary($customer: ID!, $iban: String!) {
  createExternalAccount(input: {
    customerId: $customer
    currency: "EUR"
    accountInfo: { iban: { iban: $iban, swiftBic: "CAIXESBB" } }
    beneficiary: { individual: { fullName: "New Payee", birthDate: "1988-03-04", nationality: "ES" } }
  }) {
    ... on CreateExternalAccountSuccess { account { id status displayName maskedNumber } }
    ... on ConflictError { existing { id } }
    ... on UserError { code message path }
  }
}
`,
    variables: { customer: open.customer, iban: 'ES9121000418450200051332' },
    gives: ({ createExternalAccount: { account, existing } }) => ({ destination: account?.id ?? existing?.id }),
  },
  {
    operation: 'LockRate',
    title: 'Quote',
    about: 'Locks the rate and all fees for 100.00 USD to a euro account. The sandbox holds them for five minutes.',
    docs: 'docs/interface-specification.md',
    query: `mutation LockRate($source: ID!, $destination: ID!, $amount: Decimal!) {
  createQuote(input: {
    source: { account: { accountId: $source } }
    destination: { account: { accountId: $destination } }
    lockedCurrencySide: SENDING
    lockedCurrencyAmountDecimal: $amount
  }) {
    ... on CreateQuoteSuccess {
      quote {
        id
        expiresAt
        exchangeRate
        totalSendingAmount { formatted }
        feesIncluded { formatted }
        totalReceivingAmount { formatted }
        transaction { id status }
      }
    }
    ... on UserError { code message path }
  }
}
`,
    variables: { source: open.source, destination: open.destination, amount: '100.00' },
    gives: quoteAndTransaction,
  },
  {
    operation: 'Execute',
    title: 'Execute',
    about: 'Executes the quote before it expires. The events beside the tabs show the payment moving.',
    query: `mutation Execute($quote: ID!) {
  executeQuote(input: { quoteId: $quote }) {
    ... on ExecuteQuoteSuccess { replayed quote { status transaction { id status } } }
    ... on UserError { code message path }
  }
}
`,
    variables: { quote: open.quote },
    gives: ({ executeQuote: { quote } }) => ({ transaction: quote?.transaction.id }),
  },
  {
    operation: 'Watch',
    title: 'Watch',
    about:
      'Follows the payment: its present state first, then every change, until nothing can follow. It goes on while you are in other tabs.',
    docs: 'docs/streams.md',
    query: `subscription Watch($transaction: ID!) {
  transactionUpdates(transactionId: $transaction, until: FINAL) {
    previousStatus
    status
    terminal
    final
    occurredAt
    cursor
  }
}
`,
    variables: { transaction: open.transaction },
    gives: ({ transactionUpdates }) => ({ cursor: transactionUpdates.cursor }),
  },
  {
    operation: 'Timeline',
    title: 'Timeline',
    about: 'What happened to the payment and why, and the double-entry legs behind it.',
    query: `query Timeline($transaction: ID!) {
  transaction(id: $transaction) {
    status
    failureReason
    sentAmount { formatted }
    receivedAmount { formatted }
    timeline { status reason occurredAt }
    ledgerEntries { kind system account { id } amount { formatted } balanceAfter { formatted } }
  }
}
`,
    variables: { transaction: open.transaction },
  },
  {
    operation: 'QuoteForDeposit',
    title: 'Fund in real time: quote',
    about: 'A quote that a deposit pays. The answer says where the money is to be sent, and under which reference.',
    query: `mutation QuoteForDeposit($customer: ID!, $destination: ID!) {
  createQuote(input: {
    source: { realtimeFunding: { customerId: $customer, currency: "USD" } }
    destination: { account: { accountId: $destination } }
    lockedCurrencySide: SENDING
    lockedCurrencyAmountDecimal: "50.00"
  }) {
    ... on CreateQuoteSuccess {
      quote {
        id
        expiresAt
        totalSendingAmount { formatted }
        paymentInstructions { __typename accountType reference }
        transaction { id status }
      }
    }
    ... on UserError { code message path }
  }
}
`,
    variables: { customer: open.customer, destination: open.destination },
    gives: quoteAndTransaction,
  },
  {
    operation: 'Deposit',
    title: 'Fund in real time: deposit',
    about: 'Sends that deposit, as a bank would. The quote executes by itself.',
    docs: 'src/rails/sandbox/README.md',
    query: `mutation Deposit($quote: ID!) {
  sandboxSend(input: { quoteId: $quote, currencyCode: "USD" }) {
    ... on SandboxSendSuccess { transaction { id status } }
    ... on UserError { code message path }
  }
}
`,
    variables: { quote: open.quote },
    gives: ({ sandboxSend: { transaction } }) => ({ transaction: transaction?.id }),
  },
  {
    operation: 'FindReceiver',
    title: 'UMA: look up',
    about: 'Finds a UMA address: which currencies it takes, and what it wants to know of the payer.',
    query: `mutation FindReceiver($customer: ID!, $address: String!) {
  lookUpReceiver(input: { customerId: $customer, umaAddress: $address }) {
    ... on LookUpReceiverSuccess {
      lookup {
        id
        vaspName
        supportedCurrencies { currency { code } minAmount { formatted } maxAmount { formatted } }
        requiredPayerFields { name mandatory }
      }
    }
    ... on UserError { code message path }
  }
}
`,
    variables: { customer: open.customer, address: '$success.eur@sandbox.uma.money' },
    gives: ({ lookUpReceiver: { lookup } }) => ({ lookup: lookup?.id }),
  },
  {
    operation: 'QuoteToUma',
    title: 'UMA: quote',
    about: 'A quote to that address, with what its receiver wants to know. Execute it in the tab Execute.',
    query: `mutation QuoteToUma($source: ID!, $lookup: ID!, $address: String!) {
  createQuote(input: {
    source: { account: { accountId: $source } }
    destination: { uma: { umaAddress: $address, currency: "EUR" } }
    lookupId: $lookup
    senderCustomerInfo: [{ name: "FULL_NAME", value: "Sample Person" }, { name: "BIRTH_DATE", value: "1990-12-10" }]
    lockedCurrencySide: SENDING
    lockedCurrencyAmountDecimal: "20.00"
  }) {
    ... on CreateQuoteSuccess {
      quote { id expiresAt exchangeRate totalReceivingAmount { formatted } transaction { id status } }
    }
    ... on UserError { code message path }
  }
}
`,
    variables: { source: open.source, lookup: open.lookup, address: '$success.eur@sandbox.uma.money' },
    gives: quoteAndTransaction,
  },
  {
    operation: 'FailOnPurpose',
    title: 'Fail on purpose',
    about:
      'A payment that fails after its debit, in the way that its scenario says. The tab Timeline says why, and shows the money coming back.',
    docs: 'src/rails/sandbox/README.md',
    query: `mutation FailOnPurpose($source: ID!, $destination: ID!) {
  createQuote(
    input: {
      source: { account: { accountId: $source } }
      destination: { account: { accountId: $destination } }
      lockedCurrencySide: SENDING
      lockedCurrencyAmountDecimal: "10.00"
      immediatelyExecute: true
    }
    sandboxScenario: { failureReason: OFFRAMP_FAILED, delayMs: 2000 }
  ) {
    ... on CreateQuoteSuccess { quote { id status transaction { id status } } }
    ... on UserError { code message path }
  }
}
`,
    variables: { source: open.source, destination: open.destination },
    gives: quoteAndTransaction,
  },
  {
    operation: 'Resume',
    title: 'Resume',
    about:
      'Everything that came after a cursor, each change once and in order. Take the cursor of an event beside, or of the tab Watch.',
    docs: 'docs/streams.md',
    query: `subscription Resume($cursor: String!) {
  events(after: $cursor) {
    type
    occurredAt
    transaction { id status }
    cursor
  }
}
`,
    variables: { cursor: open.cursor },
  },
  {
    operation: 'AddWebhook',
    title: 'Webhooks',
    about:
      'Registers an endpoint of yours. Its secret is shown once. Nothing listens at this address, so the next tab shows failing attempts.',
    docs: 'src/webhooks/README.md',
    query: `mutation AddWebhook($url: String!) {
  createWebhookEndpoint(input: { url: $url }) {
    ... on CreateWebhookEndpointSuccess { secret endpoint { id url status eventTypes } }
    ... on UserError { code message path }
  }
}
`,
    variables: { url: 'http://127.0.0.1:4999/webhooks' },
    gives: ({ createWebhookEndpoint: { endpoint } }) => ({ endpoint: endpoint?.id }),
  },
  {
    operation: 'Deliveries',
    title: 'Deliveries',
    about: 'What was sent to each endpoint, and what it answered. Make a payment first.',
    docs: 'src/webhooks/README.md',
    query: `query Deliveries {
  webhookEndpoints(first: 5) {
    edges {
      node {
        id
        url
        status
        deliveries(first: 5) {
          edges {
            node { id status nextAttemptAt event { type } attempts { at responseStatus error durationMs } }
          }
        }
      }
    }
  }
}
`,
  },
];

/** The step of an operation, if it has one. */
export function stepOf(operation: string | null | undefined): Step | undefined {
  return journey.find((step) => step.operation === operation);
}
