import { GraphQLObjectType, GraphQLSchema, GraphQLString, getNamedType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { derive } from '../../src/api/graphql/reading/derive.ts';
import { plainReadText } from '../../src/api/graphql/reading/reads.ts';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { columnName } from '../../src/infra/database/rows.ts';

/** Builds a schema in which quotes have one field, in the form that the Pothos plug-ins produce. */
function schemaWith(extensions: Readonly<Record<string, unknown>>): GraphQLSchema {
  const Quote = new GraphQLObjectType({
    name: 'Quote',
    extensions: { pothosPrismaModel: 'Quote' },
    fields: { label: { type: GraphQLString, extensions: { ...extensions } } },
  });
  const quote = { type: Quote, extensions: { executed: true } } as const;
  return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { quote } }) });
}

const resolve = () => 'a quote';

test.each([
  ['no statement can read Quote.label', {}],
  ['no statement can read Quote.label', { pothosOptions: { resolve } }],
  ['Quote has no column nickname', { pothosExposedField: 'nickname' }],
  ['Quote has no column nickname', { pothosOptions: { resolve, select: { nickname: true } } }],
])('startup fails if a field cannot be read: %s', (message, extensions) => {
  expect(() => derive(schemaWith(extensions))).toThrow(message);
});

test('a type whose rows are read by id must declare who may see which rows', () => {
  expect(() => derive(schemaWith({ made: () => ({ kind: 'node', types: ['Quote'] }) }))).toThrow(
    'reads rows of Quote, which has no table, or no rule for who may see its rows',
  );
});

test('a field that graphql-js executes must be declared as such', () => {
  expect(() => derive(schemaWith({ executed: true }))).not.toThrow();
  const executed = Object.values(schema.getQueryType()?.getFields() ?? {}).filter((field) => field.extensions.executed);
  expect(executed.map(({ name }) => name).sort()).toEqual([
    'currencies',
    'exchangeRates',
    'externalAccountForms',
    'mutationReceipt',
    'viewer',
  ]);
});

const sums = { transactionTotals: 'status type sent_currency received_currency sent_amount received_amount' };
const accepted = { minAmount: 'min_amount code', maxAmount: 'max_amount code', currency: 'code' };

/** Fields that are not read from the column or JSON member of the same name, with their actual sources. */
const readFrom: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Query: sums,
  Transaction: {
    sentAmount: 'sent_amount sent_currency',
    receivedAmount: 'received_amount received_currency',
    fees: 'fees sent_currency',
    refund: 'refund_reference',
    source: 'source_kind',
    // The destination is never null, because it is read from the payment's own row.
    destination: '',
    reconciliationReference: 'reference status CREATED',
    requestedReceiverInformation: 'requested_information',
    timeline: 'event transaction_id OUTGOING_PAYMENT INCOMING_PAYMENT sequence',
    ledgerEntries: 'journal posting transaction_id journal_id id leg',
  },
  Refund: {
    reference: 'refund_reference',
    // The field shows the first of these that is not null.
    amount: 'refund_amount sent_currency,.r.received_currency',
    initiatedAt: 'refund_initiated_at',
    settledAt: 'refund_settled_at',
  },
  UmaSource: { currency: 'sent_currency received_currency', umaAddress: 'source_uma_address' },
  RealtimeFundingSource: { currency: 'sent_currency received_currency' },
  AccountSource: { account: 'source_account_id' },
  UmaDestination: { currency: 'received_currency', umaAddress: 'destination_uma_address' },
  AccountDestination: { account: 'destination_account_id' },
  Quote: {
    totalSendingAmount: 'total_sending_amount sending_currency',
    totalReceivingAmount: 'total_receiving_amount receiving_currency',
    feesIncluded: 'fees_included sending_currency',
    pricingSteps: 'pricing steps',
    source: 'transaction transaction_id',
    destination: 'transaction transaction_id',
  },
  RateDetails: {
    counterpartyFixedFee: 'counterpartyFixedFee receiving',
    serviceApiFixedFee: 'serviceApiFixedFee sending',
    serviceApiVariableFeeAmount: 'serviceApiVariableFeeAmount sending',
  },
  Customer: { ...sums, details: '' },
  ApiToken: { replacedBy: 'api_token platform_id replaces_id id' },
  IndividualDetails: { fullName: 'name' },
  BusinessDetails: { legalName: 'name' },
  InternalAccount: {
    ...sums,
    balance: 'posted currency',
    fundingPaymentInstructions: 'funding_instructions',
    statement: 'period_from period_to',
  },
  ExternalAccount: { ...sums, accountInfo: '', beneficiaryVerifiedData: 'beneficiary_verified_name' },
  BeneficiaryVerifiedData: { fullName: 'beneficiary_verified_name' },
  AccountStatement: {
    from: 'period_from',
    to: 'period_to',
    openingBalance: 'balance_after opening_version',
    closingBalance: 'balance_after closing_version',
    credits: 'amount opening_version closing_version',
    debits: 'amount opening_version closing_version',
  },
  LedgerEntry: { id: 'journal_id leg' },
  Lookup: { supportedCurrencies: 'currencies', requiredPayerFields: 'required_fields' },
  ReceiverCurrency: accepted,
  Platform: { supportedCurrencies: 'currencies' },
  PlatformCurrency: accepted,
  Event: { subject: 'snapshot', webhookBody: '', deliveries: 'webhook_delivery event_sequence id' },
  WebhookEndpoint: { tokenId: 'token_id ApiToken' },
  WebhookDelivery: { attempts: 'webhook_attempt delivery_id number', endpoint: 'webhook_endpoint endpoint_id' },
  ClientToken: { active: '' },
  Policy: { limits: '' },
};

test('a field shows the column or JSON member of the same name, and an amount also shows its currency', () => {
  const wrong: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || ['Money', 'Currency'].includes(type.name)) continue;
    for (const { name, type: shown, extensions } of Object.values(type.getFields())) {
      const { read, made, pothosExposedField: exposed } = extensions;
      if (!read && exposed && exposed !== name) wrong.push(`${type.name}.${name} shows ${exposed}`);
      // Computed fields, lists and totals have their own tests.
      if (!read || !(made || exposed) || read.kind === 'page' || read.kind === 'node') continue;
      const text = plainReadText(read);
      const own = getNamedType(shown).name === 'Money' ? `${name} currency` : name;
      const columns = (readFrom[type.name]?.[name] ?? own).split(' ').filter(Boolean);
      const isThere = (column: string) => new RegExp(`[.'"](${column}|${columnName(column)})\\b`).test(text);
      if (!columns.every(isThere))
        wrong.push(`${type.name}.${name} is read from ${text.replace(/\s+/g, ' ').slice(0, 150)}`);
    }
  }
  expect(wrong).toEqual([]);
});
