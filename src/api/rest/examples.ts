import { hash } from 'node:crypto';
import { exampleId } from './schemas/fields.ts';

const customer = exampleId('Customer');
const account = exampleId('InternalAccount');
const payee = exampleId('ExternalAccount');

/** Returns an id of the given type other than the one that `exampleId` returns. */
const another = (type: string) => exampleId(type).replace(/.$/, '3');
/** A bank account in the payer's currency. */
const ownBank = another('ExternalAccount');
const platformAccount = another('InternalAccount');

const person = { fullName: 'Grace Hopper', birthDate: '1990-12-10', nationality: 'US' };
const address = { line1: '1 Main Street', city: 'Springfield', state: 'IL', postalCode: '62701', country: 'US' };
const payeeFacts = { FULL_NAME: person.fullName };
const amount = 10_000;

const transfer = (from: string, to: string, units = amount) => {
  return { source: { accountId: from }, destination: { accountId: to }, amount: units };
};

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

/** An operation's examples by name, each with a summary and a body. */
type Examples = Readonly<Record<string, readonly [summary: string, value: object]>>;

/**
 * Request bodies that the sandbox accepts, by operation id, with ids from `exampleId`. A value that contains `1001`
 * can be used only once.
 */
const bodies: Readonly<Record<string, Examples>> = {
  createQuote: {
    fromAccount: ['From a balance to a bank account, sending 100.00 USD', { ...quote, description: 'Invoice 42' }],
    receiving: [
      'From a balance to a bank account, delivering 50.00 EUR; executed immediately',
      { ...quote, lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: 5_000, immediatelyExecute: true },
    ],
    toUma: [
      'To a UMA address that was looked up',
      {
        ...quote,
        destination: { destinationType: 'UMA_ADDRESS', umaAddress: '$success.eur@sandbox.uma.money', currency: 'EUR' },
        lookupId: exampleId('Lookup'),
        senderCustomerInfo: { FULL_NAME: person.fullName, BIRTH_DATE: person.birthDate },
      },
    ],
    realTimeFunding: [
      'With real-time funding: paid by a deposit, which POST /sandbox/send simulates',
      { ...quote, source: { sourceType: 'REALTIME_FUNDING', customerId: customer, currency: 'USD' } },
    ],
  },
  sandboxSend: {
    deposit: [
      'The deposit for a quote. First create the quote with POST /quotes (example “With real-time funding”) and insert its id',
      { quoteId: exampleId('Quote'), currencyCode: 'USD' },
    ],
  },
  transferOut: {
    toBank: ['100.00 USD from a balance to a bank account in the same currency', transfer(account, ownBank)],
  },
  transferIn: { fromBank: ['100.00 USD from a bank account to a balance', transfer(ownBank, account)] },
  transferInternal: {
    toPlatform: ['1.00 USD from a customer to the platform, such as a fee', transfer(account, platformAccount, 100)],
  },
  createCustomer: {
    person: ['A person', { customerType: 'INDIVIDUAL', platformCustomerId: 'user-1001', ...person, address }],
    company: [
      'A company',
      {
        customerType: 'BUSINESS',
        platformCustomerId: 'company-1001',
        businessInfo: { legalName: 'Acme Inc.', registrationNumber: '42', taxId: '12-3456789' },
        address,
      },
    ],
  },
  updateCustomer: {
    move: ['A new address', { customerType: 'INDIVIDUAL', address: { ...address, line1: '2 Side Street' } }],
  },
  createExternalAccount: {
    us: ['A bank account in the United States', { customerId: customer, currency: 'USD', accountInfo: usAccount }],
    iban: ['A bank account with an IBAN', { customerId: customer, currency: 'EUR', accountInfo: ibanAccount }],
  },
  updateExternalAccount: { ownId: ["The platform's own id for the account", { platformAccountId: 'payee-1001' }] },
  createPlatformExternalAccount: {
    us: [
      "The platform's own bank account",
      { currency: 'USD', accountInfo: usAccount, platformAccountId: 'treasury-1001' },
    ],
  },
  sandboxFundAccount: { fund: ['A deposit of 100.00 USD', { amount }] },
  sandboxReceiveUma: {
    announce: [
      '5.00 USD from a UMA address; approve it within seconds with approveTransaction',
      {
        senderUmaAddress: '$success.usd@sandbox.uma.money',
        customerId: customer,
        receivingCurrencyCode: 'USD',
        receivingCurrencyAmount: 500,
      },
    ],
  },
  approveTransaction: {
    withFacts: ['With the information that the sending side requests', { receiverCustomerInfo: payeeFacts }],
  },
  rejectTransaction: { reason: ['With a reason', { reason: 'The account is closed.' }] },
  sandboxSetKycStatus: { approve: ['The customer may move money', { kycStatus: 'APPROVED' }] },
  updateConfig: {
    webhooks: ['Webhooks to a program on this machine', { webhookEndpoint: 'http://127.0.0.1:3000/webhooks' }],
    documents: ['Apps may send any document', { trustedDocuments: 'OPTIONAL' }],
  },
  testWebhook: {
    ofSettings: ['To the endpoint in the settings', {}],
    registered: ['To another endpoint', { url: 'http://127.0.0.1:3000/webhooks' }],
  },
  createToken: { view: ['A read-only token', { name: 'reports', permissions: ['VIEW'] }] },
  rotateToken: { day: ['The old one stays valid for a day', { overlapHours: 24 }] },
  registerTrustedDocuments: { manifest: ['As relay-compiler writes it', { [hash('sha256', document)]: document }] },
};

/** Returns the examples for an operation's body in OpenAPI's format. */
export function examplesOf(operationId: string) {
  const examples = Object.entries(bodies[operationId] ?? {});
  return Object.fromEntries(examples.map(([name, [summary, value]]) => [name, { summary, value }]));
}

/**
 * Tells the console how to replace the ids in the examples with the platform's own. `payer` lists the example ids for
 * which the sandbox's paying customer has a replacement. `ids` pairs the others with requests that return an id of the
 * same type. Later entries override earlier ones.
 */
export const exampleGuide = {
  unique: '1001',
  payer: { [customer]: 'customerId', [account]: 'sourceAccountId', [payee]: 'destinationAccountId' },
  ids: [
    [ownBank, `/customers/external-accounts?currency=USD&status=ACTIVE&limit=1&customerId=${customer}`],
    [platformAccount, '/platform/internal-accounts?currency=USD'],
    [exampleId('Lookup'), `/receiver/uma/$success.eur@sandbox.uma.money?customerId=${customer}`],
    // A pending quote is preferred, because it can also be executed.
    [exampleId('Quote'), '/quotes?limit=1'],
    [exampleId('Quote'), '/quotes?status=PENDING&limit=1'],
    [exampleId('Transaction'), '/transactions?limit=1'],
    [exampleId('ApiToken'), '/tokens?limit=1'],
  ],
} as const;
