import { hash } from 'node:crypto';
import { exampleId } from './schemas/fields.ts';

interface Example {
  readonly summary: string;
  readonly value: object;
}

/** Returns an id of this type that differs from the one that `exampleId` returns. */
const another = (type: string) => exampleId(type).replace(/.$/, '3');

const [customer, account, payee] = ['Customer', 'InternalAccount', 'ExternalAccount'].map(exampleId);
/** A bank account in the payer's currency, and the platform's own account. */
const [ownBank, platformAccount] = [another('ExternalAccount'), another('InternalAccount')];
/** A quote that waits for a deposit. */
const unfunded = another('Quote');

const person = { fullName: 'Grace Hopper', birthDate: '1990-12-10', nationality: 'US' };
const address = { line1: '1 Main Street', city: 'Springfield', state: 'IL', postalCode: '62701', country: 'US' };
const amount = 10_000;

const quote = {
  source: { sourceType: 'ACCOUNT', accountId: account },
  destination: { destinationType: 'ACCOUNT', accountId: payee },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: amount,
};
const usAccount = {
  accountType: 'US_ACCOUNT',
  accountNumber: '1001000',
  routingNumber: '021000021',
  accountCategory: 'CHECKING',
  bankName: 'First Bank',
  beneficiary: { beneficiaryType: 'INDIVIDUAL', ...person },
};
const ibanAccount = {
  accountType: 'IBAN',
  iban: 'ES9121000418450200051332',
  swiftBic: 'CAIXESBB',
  beneficiary: {
    beneficiaryType: 'BUSINESS',
    legalName: 'Acme S.L.',
    address: { line1: 'Calle Mayor 1', postalCode: '28013', country: 'ES' },
  },
};
const document = '{ viewer { kind } }';

/**
 * Request bodies that the sandbox accepts, by operation id, with ids from `exampleId`. A name with `1001` can be used
 * only once.
 */
export const examples: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  createQuote: {
    fromAccount: {
      summary: 'From a balance to a bank account: 100.00 USD are sent',
      value: { ...quote, description: 'Invoice 42' },
    },
    receiving: {
      summary: '50.00 EUR arrive; executed immediately',
      value: { ...quote, lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: 5_000, immediatelyExecute: true },
    },
    toUma: {
      summary: 'To a UMA address that was looked up',
      value: {
        ...quote,
        destination: { destinationType: 'UMA_ADDRESS', umaAddress: '$success.eur@sandbox.uma.money', currency: 'EUR' },
        lookupId: exampleId('Lookup'),
        senderCustomerInfo: { FULL_NAME: person.fullName, BIRTH_DATE: person.birthDate },
      },
    },
    realTimeFunding: {
      summary: 'With real-time funding: paid by a deposit, which POST /sandbox/send simulates',
      value: { ...quote, source: { sourceType: 'REALTIME_FUNDING', customerId: customer, currency: 'USD' } },
    },
  },
  sandboxSend: {
    deposit: {
      summary: 'The deposit for a quote: first create one with POST /quotes, example “With real-time funding”',
      value: { quoteId: unfunded, currencyCode: 'USD' },
    },
  },
  transferOut: {
    toBank: {
      summary: '100.00 USD from a balance to a bank account in the same currency',
      value: { source: { accountId: account }, destination: { accountId: ownBank }, amount },
    },
  },
  transferIn: {
    fromBank: {
      summary: '100.00 USD from a bank account to a balance',
      value: { source: { accountId: ownBank }, destination: { accountId: account }, amount },
    },
  },
  transferInternal: {
    toPlatform: {
      summary: '1.00 USD from a customer to the platform, such as a fee',
      value: { source: { accountId: account }, destination: { accountId: platformAccount }, amount: 100 },
    },
  },
  createCustomer: {
    person: {
      summary: 'A person',
      value: { customerType: 'INDIVIDUAL', platformCustomerId: 'user-1001', ...person, address },
    },
    company: {
      summary: 'A company',
      value: {
        customerType: 'BUSINESS',
        platformCustomerId: 'company-1001',
        businessInfo: { legalName: 'Acme Inc.', registrationNumber: '42', taxId: '12-3456789' },
        address,
      },
    },
  },
  updateCustomer: {
    move: {
      summary: 'A new address',
      value: { customerType: 'INDIVIDUAL', address: { ...address, line1: '2 Side Street' } },
    },
  },
  createExternalAccount: {
    us: {
      summary: 'A bank account in the United States',
      value: { customerId: customer, currency: 'USD', accountInfo: usAccount },
    },
    iban: {
      summary: 'A bank account with an IBAN',
      value: { customerId: customer, currency: 'EUR', accountInfo: ibanAccount },
    },
  },
  updateExternalAccount: {
    ownId: { summary: "The platform's own id for the account", value: { platformAccountId: 'payee-1001' } },
  },
  createPlatformExternalAccount: {
    us: {
      summary: "The platform's own bank account",
      value: { currency: 'USD', accountInfo: usAccount, platformAccountId: 'treasury-1001' },
    },
  },
  sandboxFundAccount: { fund: { summary: '100.00 USD arrive', value: { amount } } },
  sandboxReceiveUma: {
    announce: {
      summary: '5.00 USD arrive from a UMA address; decide within seconds with approveTransaction',
      value: {
        senderUmaAddress: '$success.usd@sandbox.uma.money',
        customerId: customer,
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 500,
      },
    },
  },
  approveTransaction: {
    withFacts: {
      summary: 'With the information that the sending side requests',
      value: { receiverCustomerInfo: { FULL_NAME: person.fullName } },
    },
  },
  rejectTransaction: { reason: { summary: 'With a reason', value: { reason: 'The account is closed.' } } },
  sandboxSetKycStatus: {
    approve: { summary: 'The customer may move money', value: { kycStatus: 'APPROVED' } },
  },
  updateConfig: {
    webhooks: {
      summary: 'Webhooks to a program on this machine',
      value: { webhookEndpoint: 'http://127.0.0.1:3000/webhooks' },
    },
    documents: { summary: 'Apps may send any document', value: { trustedDocuments: 'OPTIONAL' } },
  },
  testWebhook: {
    ofSettings: { summary: 'To the endpoint in the settings', value: {} },
    registered: { summary: 'To another endpoint', value: { url: 'http://127.0.0.1:3000/webhooks' } },
  },
  createToken: {
    view: { summary: 'A read-only token', value: { name: 'reports', permissions: ['VIEW'] } },
  },
  rotateToken: { day: { summary: 'The old one stays valid for a day', value: { overlapHours: 24 } } },
  registerTrustedDocuments: {
    manifest: { summary: 'As relay-compiler writes it', value: { [hash('sha256', document)]: document } },
  },
};

/**
 * The requests that find a platform's real ids. `at` is the path of the id in the response or, with `most`, in the item
 * with the largest value at the path `most`, or in the first item with the values of `with`. `payer` maps ids to those
 * of the local sandbox's paying customer, which the console uses instead.
 */
export const exampleGuide = {
  unique: '1001',
  payer: { [customer ?? '']: 'customerId', [account ?? '']: 'sourceAccountId', [payee ?? '']: 'destinationAccountId' },
  ids: [
    {
      find: '/customers/internal-accounts?currency=USD&limit=100',
      most: '/balance/amount',
      at: { [account ?? '']: '/id', [customer ?? '']: '/customerId' },
    },
    {
      find: `/customers/external-accounts?currency=EUR&status=ACTIVE&limit=1&customerId=${customer}`,
      at: { [payee ?? '']: '/data/0/id' },
    },
    {
      find: `/customers/external-accounts?currency=USD&status=ACTIVE&limit=1&customerId=${customer}`,
      at: { [ownBank]: '/data/0/id' },
    },
    { find: '/platform/internal-accounts?currency=USD', at: { [platformAccount]: '/data/0/id' } },
    {
      find: `/receiver/uma/$success.eur@sandbox.uma.money?customerId=${customer}`,
      at: { [exampleId('Lookup')]: '/lookupId' },
    },
    // Any quote can be read, but only a pending one can be executed.
    { find: '/quotes?limit=1', at: { [exampleId('Quote')]: '/data/0/quoteId' } },
    { find: '/quotes?status=PENDING&limit=1', at: { [exampleId('Quote')]: '/data/0/quoteId' } },
    {
      find: '/quotes?status=PENDING&limit=100',
      with: { '/source/sourceType': 'REALTIME_FUNDING' },
      at: { [unfunded]: '/quoteId' },
    },
    { find: '/transactions?limit=1', at: { [exampleId('Transaction')]: '/data/0/id' } },
    { find: '/tokens?limit=1', at: { [exampleId('ApiToken')]: '/data/0/id' } },
    { find: '/webhooks/deliveries?limit=1', at: { [exampleId('WebhookDelivery')]: '/data/0/id' } },
  ],
} as const;
