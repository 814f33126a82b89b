import { visibleAccounts } from '../../../../domain/access/visible.ts';
import {
  accountWarnings,
  type Beneficiary,
  displayName,
  maskedNumber,
} from '../../../../domain/accounts/account-details.ts';
import {
  createExternalAccount,
  deleteExternalAccount,
  updateExternalAccount,
} from '../../../../domain/accounts/external-accounts.ts';
import { whereAccounts } from '../../../../domain/commands/filters.ts';
import { alsoInDatabase } from '../../reading/computed.ts';
import { variantsBy } from '../../reading/words.ts';
import { builder, oneOf, required } from '../builder.ts';
import { ExternalAccountStatus } from '../enums.ts';
import { AccountFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';
import { Account, ExternalAccount, InternalAccount } from '../nouns.ts';
import { asRefusedFields, RefusedFieldType } from '../refusals.ts';
import { changedMetadata, MetadataEntry, MetadataInput, metadataOf, newMetadata, noted } from '../values/metadata.ts';
import { AddressInput, AddressType, owner } from '../values/people.ts';
import { ExternalAccountInfo, ExternalAccountInfoInput, readAccountInfo } from './account-info.ts';
import { PaymentInstruction } from './payment-instruction.ts';

const BeneficiaryVerifiedData = builder.prismaObject('Account', {
  variant: 'BeneficiaryVerifiedData',
  description: "Details about an account's owner, as reported by the payment rail.",
  fields: (t) => ({
    fullName: t.optional('beneficiaryVerifiedName', 'String', {
      description: "The owner's name in the bank's records; null if it was not reported.",
    }),
  }),
});

type Individual = Extract<Beneficiary, { beneficiaryType: 'INDIVIDUAL' }>;
type Business = Extract<Beneficiary, { beneficiaryType: 'BUSINESS' }>;

const IndividualBeneficiary = builder.objectRef<Individual>('IndividualBeneficiary').implement({
  description: 'A person who owns an external account.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: "The owner's full name." }),
    birthDate: t.optional('birthDate', 'Date', { description: 'Date of birth, if known.' }),
    nationality: t.optional('nationality', 'String', { description: 'Nationality (ISO 3166-1 alpha-2), if known.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address, if known.' }),
  }),
});

const BusinessBeneficiary = builder.objectRef<Business>('BusinessBeneficiary').implement({
  description: 'A company that owns an external account.',
  fields: (t) => ({
    legalName: t.exposeString('legalName', { description: "The company's legal name." }),
    registrationNumber: t.optional('registrationNumber', 'String', {
      description: 'Company registration number, if known.',
    }),
    taxId: t.optional('taxId', 'String', { description: 'Tax number, if known.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address, if known.' }),
  }),
});

const BeneficiaryType = builder.unionType('Beneficiary', {
  description: 'The owner of a bank account.',
  types: [IndividualBeneficiary, BusinessBeneficiary],
  ...variantsBy<Beneficiary>('beneficiaryType', {
    INDIVIDUAL: 'IndividualBeneficiary',
    BUSINESS: 'BusinessBeneficiary',
  }),
});

const IndividualBeneficiaryInput = builder.inputType('IndividualBeneficiaryInput', {
  description: 'A person who owns an external account.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: "The owner's full name." }),
    birthDate: t.field({ type: 'Date', description: 'Date of birth.' }),
    nationality: t.string({ description: "The owner's nationality (ISO 3166-1 alpha-2)." }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
});

const BusinessBeneficiaryInput = builder.inputType('BusinessBeneficiaryInput', {
  description: 'A company that owns an external account.',
  fields: (t) => ({
    legalName: t.string({ required: true, description: "The company's legal name." }),
    registrationNumber: t.string({ description: 'Company registration number.' }),
    taxId: t.string({ description: 'Tax number.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
});

const BeneficiaryInput = oneOf('BeneficiaryInput', 'The owner of a bank account', (t) => ({
  individual: t.field({ type: IndividualBeneficiaryInput, description: 'The owner is a person.' }),
  business: t.field({ type: BusinessBeneficiaryInput, description: 'The owner is a company.' }),
}));

const beneficiaryOf = (input: typeof BeneficiaryInput.$inferInput): Beneficiary =>
  input.individual
    ? { beneficiaryType: 'INDIVIDUAL', ...input.individual }
    : { beneficiaryType: 'BUSINESS', ...input.business };

builder.prismaInterfaceFields(Account, (t) => ({
  displayName: t.string({
    description:
      'The display name: the beneficiary\'s name or, for an account without a beneficiary, its kind ("USD account", "Solana wallet").',
    select: { beneficiary: true, accountType: true, currency: true },
    ...alsoInDatabase('account_name'),
    resolve: displayName,
  }),
  maskedNumber: t.string({
    description:
      'The account number, masked for display, such as "•••• 6789". For a short number, fewer than four characters are shown. For an address with a domain, its first characters and the domain are shown: "al••••@example.com". An internal account has no number, so the end of its id is shown.',
    select: { kind: true, id: true, identifier: true },
    ...alsoInDatabase('account_number'),
    resolve: maskedNumber,
  }),
  currency: t.currency('currency', { description: "The account's currency." }),
  owner: t.field(owner),
  customer: t.relation('customer', {
    nullable: true,
    description: 'The customer who owns the account; null if the platform itself owns it.',
  }),
  ...t.columns({
    frozenAt:
      "When the service's operator froze the account; null if it is not frozen. Payments to and from a frozen account are refused with ACCOUNT_FROZEN. The customer can be frozen separately.",
    version: 'Increases with each change to the account. Use it to discard older copies.',
    createdAt: 'When the account was created.',
    updatedAt: 'When the account last changed.',
  }),
}));

builder.prismaObjectFields(InternalAccount, (t) => ({
  balance: t.money('posted', 'currency', { description: 'The amount that can be spent.' }),
  fundingPaymentInstructions: t.json('fundingInstructions', [PaymentInstruction], {
    description: 'The ways to pay money into the account. Use any one of them.',
  }),
}));

builder.prismaObjectFields(ExternalAccount, (t) => ({
  status: t.required('status', ExternalAccountStatus, {
    description: "The account's status. Only an ACTIVE account can pay or be paid.",
  }),
  ...t.columns({
    statusReason:
      'A human-readable explanation of the status and the verification result, including the compared names if they differ; null if there is nothing to explain.',
    platformAccountId: "The platform's own id for the account; null if it has none.",
    defaultUmaDepositAccount:
      'Whether incoming UMA payments to the customer go to this account. True for at most one account per customer.',
    isDeleted:
      'Whether the account has been deleted. A deleted account stays INACTIVE and, by default, does not appear in lists, but old payments still refer to it.',
    beneficiaryVerificationStatus:
      "Whether the account's owner is the beneficiary named by the platform; null for a wallet.",
  }),
  accountInfo: t.sameRow(ExternalAccountInfo, { description: "The account's details, which depend on its type." }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
  beneficiary: t.json('beneficiary', BeneficiaryType, {
    nullable: true,
    description: "The bank account's owner; null for a wallet.",
  }),
  beneficiaryVerifiedData: t.sameRow(BeneficiaryVerifiedData, {
    nullIf: 'beneficiaryVerifiedName',
    nullable: true,
    description: 'Details about the owner, as reported by the payment rail; null if it reported none.',
  }),
}));

export const accounts = listOf(Account, {
  visible: visibleAccounts,
  filter: AccountFilter,
  where: whereAccounts,
  words: ['An account', 'accounts'],
  variants: [InternalAccount, ExternalAccount],
});

builder.queryFields((t) => ({
  account: t.byId(Account, ['InternalAccount', 'ExternalAccount'], { word: 'account' }),
  accounts: t.page(accounts, { description: 'The accounts of the platform and its customers.' }),
}));

mutation('createExternalAccount', {
  description:
    'Registers a bank account or wallet. Money can be sent to it and, if it is a bank account, pulled from it. In the sandbox, it is ACTIVE immediately, unless its magic suffix says otherwise. A client token that is bound to a customer needs the ADD_BENEFICIARIES grant and registers accounts for that customer.',
  input: (t) => ({
    currency: t.field(required('CurrencyCode', "The account's currency, as an ISO 4217 or asset code.")),
    accountInfo: t.field(
      required(ExternalAccountInfoInput, "The account's details. Set only the field that matches the account's type."),
    ),
    beneficiary: t.field({
      type: BeneficiaryInput,
      description: "The account's owner: required for bank accounts, not allowed for wallets.",
    }),
    customerId: t.id({
      description:
        "The customer who owns the account. If omitted, the owner is the platform or, if a client token is used, that token's customer.",
    }),
    platformAccountId: t.string({ description: "The platform's own id for the account." }),
    defaultUmaDepositAccount: t.boolean({
      defaultValue: false,
      description:
        'Whether incoming UMA payments to the customer go to this account. If true, the account replaces any earlier default.',
    }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  success: {
    account: { type: ExternalAccount, description: 'The new account.' },
    warnings: {
      type: [RefusedFieldType],
      description:
        "Warnings that do not prevent the registration, such as a note on how SEPA or ACH will show the owner's name. In the sandbox, they also point out details that production would refuse, such as wrong check digits.",
    },
  },
  resolve: async ({ accountInfo, beneficiary, ...given }, { payments, viewer }, key, argumentOf) => {
    const owner = beneficiary ? beneficiaryOf(beneficiary) : null;
    const account = { ...readAccountInfo(accountInfo), beneficiary: owner };
    const defaultUmaDepositAccount = given.defaultUmaDepositAccount ?? false;
    const input = { ...given, ...account, defaultUmaDepositAccount, metadata: metadataOf(given.metadata) };
    const { row, replayed } = await createExternalAccount(payments, viewer, input, key);
    const warnings = accountWarnings(account, viewer.environment, row.createdAt);
    return { account: row, warnings: asRefusedFields(warnings, argumentOf), replayed };
  },
});

mutation('updateExternalAccount', {
  description:
    "Changes the `platformAccountId` and the metadata of an external account, and whether it receives its customer's incoming UMA payments. The details that identify it at its bank cannot be changed: register another account instead.",
  input: (t) => ({
    accountId: t.id({ required: true, description: 'The account to change (`ExternalAccount:…`).' }),
    platformAccountId: t.string({
      description: "The platform's own id for the account. Null removes it; if omitted, it does not change.",
    }),
    defaultUmaDepositAccount: t.boolean({
      description:
        "If true, incoming UMA payments to the customer go to this account rather than the previous default. If false, they go to one of the customer's internal accounts. If omitted, nothing changes.",
    }),
    metadata: t.field({ type: [MetadataInput], description: changedMetadata }),
  }),
  success: { row: { as: 'account', type: ExternalAccount, description: 'The changed account.' } },
  resolve: ({ metadata, ...given }, { payments, viewer }, key) => {
    const input = { ...given, metadata: metadataOf(metadata) };
    return updateExternalAccount(payments, viewer, input, key);
  },
});

mutation('deleteExternalAccount', {
  description:
    'Deletes an external account, which becomes permanently INACTIVE. By default, lists no longer include it. Old payments still refer to it and payments in progress continue, but no new payment can use it. The same bank account or wallet can be registered again.',
  input: (t) => ({ accountId: t.id({ required: true, description: 'The account to delete (`ExternalAccount:…`).' }) }),
  success: { row: { as: 'account', type: ExternalAccount, description: 'The deleted account.' } },
  resolve: (input, { payments, viewer }, key) => deleteExternalAccount(payments, viewer, input, key),
});
