import { type Data, quoteAndTransaction, quoteMutation, refused, selection, type WrittenStep } from './step.ts';

/** Checks whether an account can make the journey's payments: it has enough money and is neither frozen nor limited. */
const canPay = ({ node: { frozenAt, customer, balance } }: Data) =>
  frozenAt === null &&
  customer?.frozenAt === null &&
  customer.policy === null &&
  customer.kycStatus === 'APPROVED' &&
  BigInt(balance?.amount ?? 0) >= 500_00n;

/** A first payment in one request, its history, and then the same payment in several steps. */
export const firstSteps: readonly WrittenStep[] = [
  {
    title: 'First payment',
    about: 'Pays 100.00 USD to a euro account: one request locks the rate and executes the quote. Press ▶ to send it.',
    docs: 'docs/guides/concepts.md',
    query: quoteMutation({
      head: 'Pay($source: ID!, $destination: ID!)',
      amount: '"100.00"',
      more: ['immediatelyExecute: true'],
      fields: 'exchangeRate feesIncluded { formatted } totalReceivingAmount { formatted }',
    }),
    gives: ({ createQuote: { quote } }) => ({ transaction: quote?.transaction.id }),
  },
  {
    title: 'Watch',
    about:
      'Follows the payment: first its current state, then every change, until it is final. The stream continues while you are in other tabs.',
    docs: 'docs/streams.md',
    query: `subscription Watch($transaction: ID!) {
  transactionUpdates(of: { transactionId: $transaction }, until: FINAL) ${selection('previousStatus status terminal occurredAt cursor')}
}
`,
    gives: ({ transactionUpdates }) => ({ cursor: transactionUpdates.cursor }),
  },
  {
    title: 'Timeline',
    about: 'What happened to the payment and why, and the ledger entries behind it.',
    query: `query Timeline($transaction: ID!) {
  transaction(id: $transaction) ${selection(`status final failureReason approvalDueAt expectedSettlementAt
    sentAmount { formatted } receivedAmount { formatted } refund { settledAt }
    timeline { status reason occurredAt }
    ledgerEntries { kind system account { displayName } amount { amount formatted currency { code } } }`)}
}
`,
  },
  {
    title: 'Look around',
    about:
      'Who you are, and the newest accounts: dollar accounts to pay from, euro accounts to pay to. If the account that the other tabs use is listed but cannot pay, they switch to one that can.',
    query: `query LookAround {
  viewer ${selection('kind serverTime')}
  internal: accounts(
    first: 20
    filter: { kind: INTERNAL, currency: "USD", platformOwned: false }
  ) ${selection(`edges { node {
      id frozenAt
      customer { id name isDeleted frozenAt kycStatus policy { id } }
      ... on InternalAccount { balance { amount formatted } }
    } }`)}
  external: accounts(
    first: 20
    filter: {
      kind: EXTERNAL
      currency: "EUR"
      platformOwned: false
      status: [ACTIVE]
    }
  ) ${selection('edges { node { id frozenAt displayName maskedNumber customer { id name } } }')}
}
`,
    gives: ({ internal, external }, payer) => {
      const known = internal.edges.find(({ node }: Data) => node.id === payer);
      if (known ? canPay(known) : payer) return undefined;
      const source = internal.edges.find(canPay)?.node;
      const owned = ({ node }: Data) => node.customer?.id === source?.customer?.id && node.frozenAt === null;
      const destination = external.edges.find(owned)?.node.id;
      return (
        source && { source: source.id, customer: source.customer.id, payerName: source.customer.name, destination }
      );
    },
  },
  {
    title: 'Add a beneficiary',
    about:
      'Registers the account that the next quote pays into. The last three characters of its number determine the outcome of payments to it. CONFLICT means that the account is already registered, which is fine.',
    docs: 'src/rails/sandbox/README.md',
    query: `mutation AddBeneficiary($customer: ID!, $iban: String!) {
  createExternalAccount(
    input: {
      customerId: $customer
      currency: "EUR"
      accountInfo: { iban: { iban: $iban, swiftBic: "CAIXESBB" } }
      beneficiary: {
        individual: {
          fullName: "New Payee"
          birthDate: "1988-03-04"
          nationality: "ES"
        }
      }
    }
  ) ${selection(`... on CreateExternalAccountSuccess { account { id status displayName maskedNumber } }
    ... on ConflictError { existing { id } }
    ${refused}`)}
}
`,
    variables: { iban: 'ES9121000418450200051332' },
    gives: ({ createExternalAccount: { account, existing } }) => ({ destination: account?.id ?? existing?.id }),
  },
  {
    title: 'Quote',
    about: 'Locks the rate and fees for sending 100.00 USD to a euro account. The sandbox keeps them for five minutes.',
    docs: 'docs/interface-specification.md',
    query: quoteMutation({
      head: 'LockRate($source: ID!, $destination: ID!, $amount: Decimal!)',
      amount: '$amount',
      fields: `id expiresAt exchangeRate
        totalSendingAmount { formatted } feesIncluded { formatted } totalReceivingAmount { formatted }`,
    }),
    variables: { amount: '100.00' },
    gives: quoteAndTransaction,
  },
  {
    title: 'Execute',
    about: 'Executes the quote before it expires. The events show how the payment progresses.',
    query: `mutation Execute($quote: ID!) {
  executeQuote(input: { quoteId: $quote }) ${selection(`... on ExecuteQuoteSuccess { replayed quote { status transaction { id status } } } ${refused}`)}
}
`,
    gives: ({ executeQuote: { quote } }) => ({ transaction: quote?.transaction.id }),
  },
];
