import { visibleAccounts } from '../../../../domain/access/visible.ts';
import { accountWarnings } from '../../../../domain/accounts/account-details.ts';
import { displayName, maskedNumber } from '../../../../domain/accounts/account-names.ts';
import { createExternalAccount } from '../../../../domain/accounts/external-accounts.ts';
import { whereAccounts } from '../../../../domain/commands/filters.ts';
import { alsoInDatabase } from '../../reading/computed.ts';
import { builder } from '../builder.ts';
import { BeneficiaryVerificationStatus, ExternalAccountStatus } from '../enums.ts';
import { AccountFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';
import { Account, Customer, ExternalAccount, InternalAccount } from '../nouns.ts';
import { asRefusedFields, RefusedFieldType } from '../refusals.ts';
import { MetadataEntry, MetadataInput, metadataOf, newMetadata, noted } from '../values/metadata.ts';
import { ExternalAccountInfo, ExternalAccountInfoInput, readAccountInfo } from './account-info.ts';
import { BeneficiaryInput, BeneficiaryType, BeneficiaryVerifiedData, readBeneficiary } from './beneficiary.ts';
import { PaymentInstruction } from './payment-instruction.ts';

builder.prismaInterfaceFields(Account, (t) => ({
  displayName: t.string({
    description: 'Its name for people: who owns an account outside, or what the account is ("USD account").',
    select: { beneficiary: true, accountType: true, currency: true },
    ...alsoInDatabase('account_name'),
    resolve: displayName,
  }),
  maskedNumber: t.string({
    description:
      'The end of its number, for people: "•••• 6789". Of a short number fewer than four characters; of an internal account, which has no number, the end of its id.',
    select: { kind: true, id: true, identifier: true },
    ...alsoInDatabase('account_number'),
    resolve: maskedNumber,
  }),
  currency: t.currency('currency', { description: 'Its one currency.' }),
  customer: t.relation('customer', {
    type: Customer,
    nullable: true,
    description: "Its owner; null when it is the platform's own.",
  }),
  frozenAt: t.expose('frozenAt', {
    type: 'DateTime',
    nullable: true,
    description:
      'Since when the operator of the service has frozen it: nobody pays from it or to it. Null when it is not frozen. That of its owner is apart.',
  }),
  version: t.exposeInt('version', { description: 'Rises with each change.' }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
}));

builder.prismaObjectFields(InternalAccount, (t) => ({
  balance: t.money('posted', 'currency', { description: 'What can be spent.' }),
  fundingPaymentInstructions: t.json('fundingInstructions', [PaymentInstruction], {
    description: 'How to bring money in from outside; any one of them.',
  }),
}));

builder.prismaObjectFields(ExternalAccount, (t) => ({
  status: t.required('status', ExternalAccountStatus, {
    description: 'Only an ACTIVE one can be paid or pulled from.',
  }),
  statusReason: t.exposeString('statusReason', {
    nullable: true,
    description:
      'Why it has its status and verification, in words, with the names that were compared where they differ; null where there is nothing to explain.',
  }),
  accountInfo: t.sameRow(ExternalAccountInfo, { description: 'Its details, by its kind.' }),
  platformAccountId: t.exposeString('platformAccountId', {
    nullable: true,
    description: "The platform's own id of it.",
  }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
  beneficiary: t.json('beneficiary', BeneficiaryType, {
    nullable: true,
    description: 'Who owns it; null for a wallet.',
  }),
  defaultUmaDepositAccount: t.exposeBoolean('defaultUmaDepositAccount', {
    description: "Whether incoming UMA payments of its customer go here; at most one of a customer's accounts.",
  }),
  isDeleted: t.exposeBoolean('isDeleted', {
    description: 'Whether it was deleted: it stays in old payments, INACTIVE for ever, and lists leave it out.',
  }),
  beneficiaryVerificationStatus: t.expose('beneficiaryVerificationStatus', {
    type: BeneficiaryVerificationStatus,
    nullable: true,
    description: 'Whether the owner is who the platform says.',
  }),
  beneficiaryVerifiedData: t.sameRow(BeneficiaryVerifiedData, {
    nullIf: 'beneficiaryVerifiedName',
    nullable: true,
    description: 'What the payment rail says of the owner; null where it says nothing.',
  }),
}));

export const accounts = listOf(Account, {
  name: 'Account',
  visible: visibleAccounts,
  filter: AccountFilter,
  where: whereAccounts,
  page: 'A page of accounts.',
  edge: 'An account in a page.',
  inPayloads: [InternalAccount, ExternalAccount],
});

builder.queryFields((t) => ({
  account: t.byId(Account, ['InternalAccount', 'ExternalAccount'], {
    id: 'InternalAccount:… or ExternalAccount:…',
    description: 'An account by its id, or null.',
  }),
  accounts: t.page(accounts, { description: "The platform's accounts and its customers'." }),
}));

mutation('createExternalAccount', {
  description:
    'Registers a bank account or wallet to pay to or pull from (specification 4.8). In the sandbox it is ACTIVE at once, unless its suffix says otherwise. The app of a customer may where its token has the grant ADD_BENEFICIARIES, for that customer.',
  input: (t) => ({
    currency: t.field({ type: 'CurrencyCode', required: true, description: 'Its currency.' }),
    accountInfo: t.field({
      type: ExternalAccountInfoInput,
      required: true,
      description: 'Its details: exactly one kind.',
    }),
    beneficiary: t.field({
      type: BeneficiaryInput,
      description: 'Who owns it: required for bank accounts, not for wallets.',
    }),
    customerId: t.id({
      description: 'Its owner; without one it is the platform’s own, or that of the customer whose app this is.',
    }),
    platformAccountId: t.string({ description: "The platform's own id of it." }),
    defaultUmaDepositAccount: t.boolean({
      defaultValue: false,
      description: 'Let incoming UMA payments of the customer go here. Replaces an earlier default.',
    }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  success: {
    account: { type: ExternalAccount, description: 'The new account.' },
    warnings: {
      type: [RefusedFieldType],
      description:
        'What to know before somebody pays to it: how SEPA or ACH carries the name of its owner, and in the sandbox what PRODUCTION would refuse, such as wrong check digits. Empty where there is nothing.',
    },
  },
  refusals: ['NotFoundError'],
  resolve: async (given, { payments, viewer }) => {
    const { idempotencyKey, accountInfo, beneficiary, ...input } = given;
    const { accountType, details } = readAccountInfo(accountInfo);
    const owner = beneficiary ? readBeneficiary(beneficiary) : null;
    const result = await createExternalAccount(
      payments,
      viewer,
      {
        ...input,
        defaultUmaDepositAccount: input.defaultUmaDepositAccount ?? false,
        metadata: metadataOf(input.metadata),
        accountType,
        details,
        beneficiary: owner,
      },
      idempotencyKey,
    );
    const warnings = accountWarnings({ accountType, details, beneficiary: owner }, viewer.environment);
    return {
      account: result.row,
      warnings: asRefusedFields(warnings, 'createExternalAccount', given),
      replayed: result.replayed,
    };
  },
});
