import { firstSteps } from './first-steps.ts';
import {
  quoteAndTransaction,
  quoteMutation,
  refused,
  type Step,
  selection,
  stepFrom,
  type WrittenStep,
} from './step.ts';

/** Other ways to pay, and what can follow a payment. */
const furtherSteps: readonly WrittenStep[] = [
  {
    title: 'Fund in real time: quote',
    about: 'A quote to be funded by a deposit. The answer says where to send the money, and with which reference.',
    query: quoteMutation({
      head: 'QuoteForDeposit($customer: ID!, $destination: ID!)',
      source: '{ realtimeFunding: { customerId: $customer, currency: "USD" } }',
      amount: '"50.00"',
      fields: `id expiresAt totalSendingAmount { formatted }
        paymentInstructions { accountType reference ... on UsAccountInstruction { routingNumber accountNumber } }`,
    }),
    gives: quoteAndTransaction,
  },
  {
    title: 'Fund in real time: deposit',
    about: 'Sends that deposit, as a bank would. The quote is then executed automatically.',
    docs: 'src/rails/sandbox/README.md',
    query: `mutation Deposit($quote: ID!) {
  sandboxSend(input: { quoteId: $quote, currency: "USD" }) ${selection(`... on SandboxSendSuccess { transaction { id status } } ${refused}`)}
}
`,
    gives: ({ sandboxSend: { transaction } }) => ({ transaction: transaction?.id }),
  },
  {
    title: 'UMA: look up',
    about:
      'Looks up a UMA address: which currencies its receiver accepts, and what the receiver wants to know about the payer.',
    query: `mutation FindReceiver($customer: ID!, $address: String!) {
  lookUpReceiver(
    input: { umaAddress: $address, sender: { customerId: $customer } }
  ) ${selection(`... on LookUpReceiverSuccess { lookup {
      id vaspName
      supportedCurrencies { currency { code } minAmount { formatted } maxAmount { formatted } }
      requiredPayerFields { name mandatory }
    } }
    ${refused}`)}
}
`,
    variables: { address: '$success.eur@sandbox.uma.money' },
    gives: ({ lookUpReceiver: { lookup } }) => ({ lookup: lookup?.id }),
  },
  {
    title: 'UMA: pay',
    about: 'Pays to that address in one request, with the information that its receiver requires.',
    query: quoteMutation({
      head: 'PayToUma(\n  $source: ID!\n  $payerName: String!\n  $lookup: ID!\n  $address: String!\n)',
      destination: '{ uma: { umaAddress: $address, currency: "EUR" } }',
      amount: '"20.00"',
      more: [
        'lookupId: $lookup',
        `senderCustomerInfo: [
        { name: "FULL_NAME", value: $payerName }
        { name: "BIRTH_DATE", value: "1990-12-10" }
      ]`,
        'immediatelyExecute: true',
      ],
      fields: 'id exchangeRate totalReceivingAmount { formatted }',
    }),
    variables: { payerName: 'Sample Person', address: '$success.eur@sandbox.uma.money' },
    gives: quoteAndTransaction,
  },
  {
    title: 'Fail on purpose',
    about:
      'A payment whose scenario makes it fail after the debit. The Timeline tab says why, and shows the money coming back.',
    docs: 'src/rails/sandbox/README.md',
    query: quoteMutation({
      head: 'FailOnPurpose($source: ID!, $destination: ID!)',
      amount: '"10.00"',
      more: ['immediatelyExecute: true'],
      scenario: '{ failureReason: OFFRAMP_FAILED, delayMs: 2000 }',
      fields: 'id status',
    }),
    gives: quoteAndTransaction,
  },
  {
    title: 'Limit payments',
    about:
      'Limits what the customer may pay in a day, and makes large payments wait until somebody else approves them. Replaces any policy that the customer already has.',
    docs: 'docs/guides/keys.md',
    query: `mutation LimitPayments($customer: ID!) {
  setPolicy(
    input: {
      subjectId: $customer
      limits: [
        { period: DAY, currency: "USD", amount: { decimal: "5000.00" } }
        { period: DAY, payments: 100 }
      ]
      approval: { above: [{ currency: "USD", amount: { decimal: "1000.00" } }] }
    }
  ) ${selection(`... on SetPolicySuccess { policy { id version } } ${refused}`)}
}
`,
  },
  {
    title: 'Limits left',
    about:
      'How much of each limit is left (payments made before the policy was set do not count), and the payments that are waiting for approval. Another token that has APPROVE can approve them.',
    docs: 'docs/guides/keys.md',
    query: `query LimitsLeft($customer: ID!) {
  customer(id: $customer) ${selection(`policy { limits {
      period usedAmount { formatted } leftAmount { formatted } usedPayments leftPayments renewsAt
    } }
    waiting: transactions(filter: { status: [CREATED] }, first: 10) { edges { node {
      id sentAmount { formatted } approvalDueAt createdById
    } } }`)}
}
`,
  },
  {
    title: 'Lift limits',
    about:
      "Deletes the customer's policy, even if somebody else set it. The customer can then pay without limits again.",
    docs: 'docs/guides/keys.md',
    query: `mutation RemoveLimits($customer: ID!) {
  deletePolicy(input: { subjectId: $customer }) ${selection(`... on DeletePolicySuccess { replayed } ${refused}`)}
}
`,
  },
  {
    title: 'Resume',
    about:
      'Everything that happened after a cursor, each change once and in order. Use the cursor of an event, or the one from the Watch tab.',
    docs: 'docs/streams.md',
    query: `subscription Resume($cursor: String!) {
  events(after: $cursor) ${selection('type occurredAt transaction { id status } cursor')}
}
`,
  },
  {
    title: 'Webhooks',
    about:
      'Registers an endpoint; its secret is shown once. Nothing is listening there, so the next tab shows failures. The last tab removes the endpoint.',
    docs: 'src/api/webhooks/README.md',
    query: `mutation AddWebhook($url: String!) {
  createWebhookEndpoint(input: { url: $url }) ${selection(`... on CreateWebhookEndpointSuccess { secret endpoint { id url status eventTypes } } ${refused}`)}
}
`,
    variables: { url: 'http://127.0.0.1:4999/webhooks' },
    gives: ({ createWebhookEndpoint: { endpoint } }) => ({ endpoint: endpoint?.id }),
  },
  {
    title: 'Deliveries',
    about:
      'What was sent to the newest endpoints (first a test event, then events about the payments that you make), and how they responded.',
    docs: 'src/api/webhooks/README.md',
    query: `query Deliveries {
  webhookEndpoints(first: 5) ${selection(`edges { node {
      id url status
      deliveries(first: 5) { edges { node {
        id status nextAttemptAt event { type } attempts { at responseStatus error durationMs }
      } } }
    } }`)}
}
`,
    gives: ({ webhookEndpoints: { edges } }) => ({ endpoint: edges[0]?.node.id }),
  },
  {
    title: 'Remove the endpoint',
    about:
      'Deletes the endpoint that the Webhooks tab registered, or the newest one in the Deliveries tab, whoever registered it. This is the last step. The docs explain the rest.',
    query: `mutation RemoveWebhook($endpoint: ID!) {
  deleteWebhookEndpoint(input: { endpointId: $endpoint }) ${selection(`... on DeleteWebhookEndpointSuccess { replayed } ${refused}`)}
}
`,
  },
];

/** The steps of a first day with the service. Each has a tab with a document that is ready to send. */
export const journey: readonly Step[] = [...firstSteps, ...furtherSteps].map(stepFrom);

/** Returns the step of the journey whose document has this operation name. */
export function stepOf(operation: string | null | undefined): Step | undefined {
  return journey.find((step) => step.operation === operation);
}
