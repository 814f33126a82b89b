import type { AccountDetails } from '../../../../core/account-fields.ts';
import { requiredCurrency } from '../../../../core/currencies.ts';
import { accountPublicId } from '../../../../core/ids.ts';
import { visibleAccounts } from '../../../../domain/access/visible.ts';
import { displayName, maskedNumber } from '../../../../domain/accounts/account-names.ts';
import { type Beneficiary, createExternalAccount } from '../../../../domain/accounts/external-accounts.ts';
import { whereAccounts } from '../../../../domain/commands/filters.ts';
import { trustedJson } from '../../../../infra/database/trusted-json.ts';
import type { PaymentInstruction as PaymentInstructionShape } from '../../../../rails/rail.ts';
import { planned } from '../../reading/planned.ts';
import { jsonList, jsonObject, leaf, pageOf, reads, toOne } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { BeneficiaryVerificationStatus, ExternalAccountStatus } from '../enums.ts';
import { AccountFilter } from '../filters.ts';
import { connection, listArgs } from '../list.ts';
import { mutation } from '../mutation.ts';
import { Account, Customer, ExternalAccount, InternalAccount } from '../nouns.ts';
import {
  MetadataEntry,
  MetadataInput,
  metadataDescription,
  metadataEntries,
  metadataOf,
  metadataRead,
  newMetadata,
} from '../values/metadata.ts';
import { CurrencyType, currencyRead, MoneyType, money, moneyRead } from '../values/money.ts';
import { ExternalAccountInfo, ExternalAccountInfoInput, readAccountInfo } from './account-info.ts';
import { BeneficiaryInput, BeneficiaryType, BeneficiaryVerifiedData, readBeneficiary } from './beneficiary.ts';
import { PaymentInstruction } from './payment-instruction.ts';

/** Writes SQL for the end of an account's number. */
const numberOf = (row = '') => `account_number(${row}.kind, ${row}.id, ${row}.identifier)`;

builder.prismaInterfaceFields(Account, (t) => ({
  displayName: t.string({
    description: 'Its name for people: who owns an account outside, or what the account is ("USD account").',
    ...reads(
      leaf.of(({ row }) => [`to_json(account_name(${row}.beneficiary, ${row}.account_type, ${row}.currency))::text`]),
    ),
    resolve: displayName,
  }),
  maskedNumber: t.string({
    description:
      'The end of its number, for people: "•••• 6789". Of a short number fewer than four characters; of an internal account, which has no number, the end of its id.',
    ...reads(leaf.of(({ row }) => [`to_json(${numberOf(row)})::text`])),
    resolve: maskedNumber,
  }),
  currency: t.field({
    type: CurrencyType,
    description: 'Its one currency.',
    ...reads(currencyRead(({ row }) => `${row}.currency`)),
    resolve: (account) => requiredCurrency(account.currency),
  }),
  customer: t.field({
    type: Customer,
    nullable: true,
    description: "Its owner; null when it is the platform's own.",
    ...planned(toOne('Customer', 'customer_id')),
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
  id: t.id({
    description: 'Its public id.',
    ...reads(leaf.id('InternalAccount')),
    resolve: (account) => accountPublicId('INTERNAL', account.id),
  }),
  balance: t.field({
    type: MoneyType,
    description: 'What can be spent.',
    ...reads(moneyRead('posted', 'currency')),
    resolve: (account) => money(account.posted, account.currency),
  }),
  fundingPaymentInstructions: t.field({
    type: [PaymentInstruction],
    description: 'How to bring money in from outside; any one of them.',
    ...reads(jsonList(({ row }) => `coalesce(${row}.funding_instructions, '[]')`)),
    // The rail wrote it in this form when the account was created.
    resolve: (account) => trustedJson<PaymentInstructionShape[]>(account.fundingInstructions),
  }),
}));

/** Returns a column that every external account has: the constraint account_sound requires it. */
function requireColumn<T>(value: T | null, account: { readonly id: string }, column: string): T {
  if (value === null) throw new Error(`external account ${account.id} has no ${column}`);
  return value;
}

builder.prismaObjectFields(ExternalAccount, (t) => ({
  id: t.id({
    description: 'Its public id.',
    ...reads(leaf.id('ExternalAccount')),
    resolve: (account) => accountPublicId('EXTERNAL', account.id),
  }),
  status: t.field({
    type: ExternalAccountStatus,
    description: 'Only an ACTIVE one can be paid or pulled from.',
    ...reads(leaf.enumValue('status')),
    resolve: (account) => requireColumn(account.status, account, 'status'),
  }),
  statusReason: t.exposeString('statusReason', {
    nullable: true,
    description: 'Why it has its status and verification, in words; null where there is nothing to explain.',
  }),
  accountInfo: t.field({
    type: ExternalAccountInfo,
    description: 'Its details, by its kind.',
    ...reads({
      kind: 'value',
      env: ({ row }) => ({
        json: `${row}.account_info`,
        accountType: `${row}.account_type`,
        number: numberOf(row),
      }),
    }),
    resolve: (account) => ({
      accountType: requireColumn(account.accountType, account, 'accountType'),
      // checkAccountInfo has checked that it has this form.
      details: trustedJson<AccountDetails>(requireColumn(account.accountInfo, account, 'accountInfo')),
      maskedNumber: maskedNumber(account),
    }),
  }),
  platformAccountId: t.exposeString('platformAccountId', {
    nullable: true,
    description: "The platform's own id of it.",
  }),
}));

builder.prismaObjectFields(ExternalAccount, (t) => ({
  metadata: t.field({
    type: [MetadataEntry],
    description: metadataDescription,
    ...reads(metadataRead),
    resolve: metadataEntries,
  }),
  beneficiary: t.field({
    type: BeneficiaryType,
    nullable: true,
    description: 'Who owns it; null for a wallet.',
    ...reads(jsonObject('beneficiary')),
    // createExternalAccount wrote it in this form.
    resolve: (account) => trustedJson<Beneficiary | null>(account.beneficiary),
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
  beneficiaryVerifiedData: t.field({
    type: BeneficiaryVerifiedData,
    nullable: true,
    description: 'What the payment rail says of the owner; null where it says nothing.',
    ...reads({
      kind: 'value',
      env: (env) => env,
      unless: ({ row }) => [`${row}.beneficiary_verified_name is null`],
    }),
    resolve: ({ beneficiaryVerifiedName: fullName }) => (fullName === null ? null : { fullName }),
  }),
}));

export const AccountConnection = connection(
  Account,
  'Account',
  { page: 'A page of accounts.', edge: 'An account in a page.' },
  [InternalAccount, ExternalAccount],
);

/** Reads a page of the accounts that match a filter. */
export const accountsRead = pageOf('Account', visibleAccounts, whereAccounts);

builder.queryFields((t) => ({
  account: t.field({
    type: Account,
    nullable: true,
    description: 'An account by its id, or null.',
    ...planned({ kind: 'node', types: ['InternalAccount', 'ExternalAccount'] }),
    args: { id: t.arg.id({ required: true, description: 'InternalAccount:… or ExternalAccount:…' }) },
  }),
  accounts: t.field({
    type: AccountConnection,
    description: "The platform's accounts and its customers'.",
    ...planned(accountsRead),
    args: listArgs(t.arg, AccountFilter),
  }),
}));

mutation('createExternalAccount', {
  description:
    'Registers a bank account or wallet to pay to or pull from (specification 4.8). In the sandbox it is ACTIVE at once, unless its suffix says otherwise. The app of a customer may where its token has the grant ADD_BENEFICIARIES, for that customer.',
  input: (t) => ({
    currency: t.string({ required: true, description: 'ISO 4217 code or asset code.' }),
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
  success: { account: { type: ExternalAccount, description: 'The new account.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, accountInfo, beneficiary, ...input }, { payments, viewer }) => {
    const { accountType, details } = readAccountInfo(accountInfo);
    const result = await createExternalAccount(
      payments,
      viewer,
      {
        ...input,
        defaultUmaDepositAccount: input.defaultUmaDepositAccount ?? false,
        metadata: metadataOf(input.metadata),
        accountType,
        details,
        beneficiary: beneficiary ? readBeneficiary(beneficiary) : null,
      },
      idempotencyKey,
    );
    return { account: result.row, replayed: result.replayed };
  },
});
