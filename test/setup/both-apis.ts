import { expect } from 'vitest';
import type { Data } from './gateway.ts';

/** Selects in GraphQL every field that REST returns, and converts records to REST form without the service's code. */

const money = '{ amount currency { code name symbol decimals } }';
const rateDetails = `{ counterpartyMultiplier counterpartyFixedFee ${money} serviceApiMultiplier serviceApiFixedFee ${money} serviceApiVariableFeeRate serviceApiVariableFeeAmount ${money} }`;
export const instruction = `{ __typename
  ... on UsAccountInstruction { accountType accountNumber routingNumber accountCategory bankName reference }
  ... on ClabeInstruction { accountType clabeNumber reference }
  ... on IbanInstruction { accountType iban swiftBic reference }
  ... on NgnAccountInstruction { accountType accountNumber bankName reference }
  ... on PhpAccountInstruction { accountType accountNumber bankName reference }
  ... on CadAccountInstruction { accountType bankCode branchCode accountNumber bankName reference }
  ... on GbpAccountInstruction { accountType sortCode accountNumber bankName reference }
  ... on SgdAccountInstruction { accountType accountNumber swiftCode bankName reference }
  ... on PixInstruction { accountType pixKey pixKeyType taxId }
  ... on UpiInstruction { accountType vpa }
  ... on LightningInstruction { accountType invoice }
  ... on Layer2WalletInstruction { accountType address invoice assetType }
  ... on SolanaWalletInstruction { accountType address assetType }
  ... on TronWalletInstruction { accountType address assetType }
  ... on PolygonWalletInstruction { accountType address assetType }
  ... on BaseWalletInstruction { accountType address assetType } }`;
const source = `{ __typename ... on AccountSource { accountId currency { code } account { customer { id } } }
  ... on RealtimeFundingSource { customer { id } currency { code } } ... on UmaSource { umaAddress currency { code } } }`;
const destination = `{ __typename ... on AccountDestination { accountId currency { code } }
  ... on UmaDestination { umaAddress currency { code } } }`;

const quoteFields = `id status createdAt expiresAt source ${source} destination ${destination}
  sendingCurrency { code name symbol decimals } receivingCurrency { code name symbol decimals }
  totalSendingAmount ${money} totalReceivingAmount ${money} exchangeRate feesIncluded ${money}
  rateDetails ${rateDetails} description metadata { key value } paymentInstructions ${instruction} transaction { id }`;

const transactionFields = `id status type sentAmount ${money} receivedAmount ${money} source ${source}
  destination ${destination} customer { id platformCustomerId } quote { id } exchangeRate fees ${money}
  rateDetails ${rateDetails} reconciliationReference failureReason refund { reference initiatedAt settledAt }
  counterpartyInformation { name value } description metadata { key value } settledAt createdAt updatedAt
  approvalDueAt createdById decidedById`;

const internalAccountFields = `id customer { id } balance ${money}
  fundingPaymentInstructions ${instruction} createdAt updatedAt`;

const address = '{ line1 line2 city state postalCode country }';

const customerFields = `id platformCustomerId customerType umaAddress kycStatus isDeleted createdAt updatedAt
  metadata { key value }
  details { __typename ... on IndividualDetails { fullName birthDate nationality address ${address} }
    ... on BusinessDetails { legalName registrationNumber taxId address ${address} beneficialOwners {
      fullName individualType emailAddress phoneNumber taxId birthDate nationality percentageOwnership title address ${address} } } }`;

const externalAccountFields = `id status statusReason currency { code } customer { id } platformAccountId defaultUmaDepositAccount
  beneficiaryVerificationStatus beneficiaryVerifiedData { fullName } metadata { key value }
  accountInfo { ... on UsAccountInfo { accountType accountNumber routingNumber accountCategory bankName }
    ... on IbanAccountInfo { accountType iban swiftBic bankName } }
  beneficiary { __typename ... on IndividualBeneficiary { fullName birthDate nationality address ${address} }
    ... on BusinessBeneficiary { legalName registrationNumber taxId address ${address} } }`;

/** Removes nulls at any depth: REST omits them. */
function bare(value: Data): Data {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null && field !== undefined)
      .map(([key, field]) => [key, bare(field)]),
  );
}

const amountOf = (value: Data) => value && { amount: Number(value.amount), currency: value.currency };

/** Converts rate details. REST omits their currencies, so this checks that GraphQL returns the documented ones. */
function rateDetailsOf({ rateDetails, ...payment }: Data) {
  if (!rateDetails) return rateDetails;
  const sending = payment.sendingCurrency ?? payment.sentAmount.currency;
  const { counterpartyFixedFee, serviceApiFixedFee, serviceApiVariableFeeAmount } = rateDetails;
  expect(counterpartyFixedFee.currency).toEqual(payment.receivingCurrency ?? payment.receivedAmount.currency);
  for (const { currency } of [serviceApiFixedFee, serviceApiVariableFeeAmount]) expect(currency).toEqual(sending);
  return Object.fromEntries(
    Object.entries<Data>(rateDetails).map(([key, field]) => [key, Number(field.amount ?? field)]),
  );
}

/** The fields that REST shows at the top level of an instruction (specification 2.4). */
const shownFlat: Readonly<Record<string, readonly string[]>> = {
  US_ACCOUNT: ['accountNumber', 'routingNumber', 'bankName'],
  LAYER2_WALLET: ['address', 'invoice'],
};

function instructionsOf(list: Data[]) {
  return list.map(({ __typename, ...info }) => {
    const shown = Object.fromEntries((shownFlat[info.accountType] ?? []).map((name) => [name, info[name]]));
    const { accountType, reference } = info;
    return { accountType, ...shown, referenceCode: reference, accountOrWalletInfo: info };
  });
}

function sourceOf(value: Data, withCustomer: boolean) {
  if (value.__typename === 'RealtimeFundingSource') {
    return { sourceType: 'REALTIME_FUNDING', customerId: value.customer?.id, currency: value.currency.code };
  }
  if (value.__typename === 'UmaSource') {
    return { sourceType: 'UMA_ADDRESS', umaAddress: value.umaAddress, currency: value.currency.code };
  }
  const { accountId, account, currency } = value;
  const owner = withCustomer ? { customerId: account.customer?.id } : {};
  return { sourceType: 'ACCOUNT', accountId, ...owner, currency: currency.code };
}

function destinationOf({ __typename, umaAddress, currency, accountId }: Data) {
  return __typename === 'UmaDestination'
    ? { destinationType: 'UMA_ADDRESS', umaAddress, currency: currency.code }
    : { destinationType: 'ACCOUNT', accountId, currency: currency.code };
}

/** Converts metadata to a map, or to null if there is none. */
const mapOf = (entries: Data[]) =>
  entries.length > 0 ? Object.fromEntries(entries.map(({ key, value }) => [key, value])) : null;

function quoteAsRest({ id, transaction, ...quote }: Data): Data {
  return bare({
    ...quote,
    ...{ quoteId: id, transactionId: transaction.id },
    source: sourceOf(quote.source, true),
    destination: destinationOf(quote.destination),
    totalSendingAmount: Number(quote.totalSendingAmount.amount),
    totalReceivingAmount: Number(quote.totalReceivingAmount.amount),
    exchangeRate: Number(quote.exchangeRate),
    feesIncluded: Number(quote.feesIncluded.amount),
    paymentInstructions: quote.paymentInstructions.length > 0 ? instructionsOf(quote.paymentInstructions) : null,
    rateDetails: rateDetailsOf(quote),
    metadata: mapOf(quote.metadata),
  });
}

function transactionAsRest(made: Data): Data {
  const { customer, quote, settledAt, reconciliationReference: reference, ...transaction } = made;
  return {
    ...bare({
      ...transaction,
      sentAmount: amountOf(transaction.sentAmount),
      receivedAmount: amountOf(transaction.receivedAmount),
      source: transaction.source && sourceOf(transaction.source, false),
      destination: destinationOf(transaction.destination),
      quoteId: quote?.id,
      exchangeRate: transaction.exchangeRate && Number(transaction.exchangeRate),
      fees: transaction.fees && Number(transaction.fees.amount),
      rateDetails: rateDetailsOf(transaction),
      reconciliationInstructions: reference && { reference },
      counterpartyInformation: mapOf(
        transaction.counterpartyInformation.map(({ name: key, value }: Data) => ({ key, value })),
      ),
      metadata: mapOf(transaction.metadata),
    }),
    settledAt,
    customerId: customer?.id ?? null,
    platformCustomerId: customer?.platformCustomerId ?? null,
  };
}

function internalAccountAsRest({ customer, ...account }: Data): Data {
  return bare({
    ...account,
    customerId: customer?.id,
    balance: amountOf(account.balance),
    fundingPaymentInstructions: instructionsOf(account.fundingPaymentInstructions),
  });
}

function externalAccountAsRest({ customer, beneficiary, ...account }: Data): Data {
  const { __typename, ...owner } = beneficiary ?? {};
  const beneficiaryType = __typename === 'BusinessBeneficiary' ? 'BUSINESS' : 'INDIVIDUAL';
  return {
    ...bare({
      ...account,
      metadata: mapOf(account.metadata),
      currency: account.currency.code,
      accountInfo: { ...account.accountInfo, beneficiary: beneficiary && { beneficiaryType, ...owner } },
    }),
    customerId: customer?.id ?? null,
  };
}

function customerAsRest({ details, metadata, ...customer }: Data): Data {
  const { __typename, legalName, registrationNumber, taxId, ...rest } = details;
  const business = __typename === 'BusinessDetails' ? { businessInfo: { legalName, registrationNumber, taxId } } : {};
  const beneficialOwners = rest.beneficialOwners?.map(({ percentageOwnership: share, ...owner }: Data) => ({
    ...owner,
    percentageOwnership: share === null ? null : Number(share),
  }));
  return bare({ ...customer, ...rest, ...business, beneficialOwners, metadata: mapOf(metadata) });
}

/** For each type of record that calls return: the field that contains it, the fields to select, and its REST form. */
export const results = {
  quote: { name: 'quote', fields: quoteFields, asRest: quoteAsRest },
  transaction: { name: 'transaction', fields: transactionFields, asRest: transactionAsRest },
  customer: { name: 'customer', fields: customerFields, asRest: customerAsRest },
  internalAccount: { name: 'account', fields: internalAccountFields, asRest: internalAccountAsRest },
  externalAccount: { name: 'account', fields: externalAccountFields, asRest: externalAccountAsRest },
} as const;
