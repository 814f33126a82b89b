import { accountPublicId } from '../../../../core/ids.ts';
import type { Viewer } from '../../../../domain/access/caller.ts';
import { maySee, visibleAccounts, visibleCustomers } from '../../../../domain/access/visible.ts';
import type { Account as AccountRow, Transaction } from '../../../../infra/database/generated/client/client.ts';
import { trustedJson } from '../../../../infra/database/rows.ts';
import { firstOf } from '../../reading/paths.ts';
import { variantsBy } from '../../reading/words.ts';
import { builder } from '../builder.ts';
import { Account, Customer } from '../nouns.ts';

/** The source and the destination of payments and quotes. Each shows one side of a transaction's row. */

const displayName = "The party's display name at the time of the payment. Later changes do not affect it.";
const accountName = `${displayName} A client token that is bound to a single payment sees the kind of account instead ("USD account").`;
const maskedNumber =
  'The account number, masked for display, such as "•••• 6789". Null if the party is not an account, or is an account that the viewer may not see.';

/** Returns the account name that a payment shows. A token bound to one payment must not learn whose payment it is. */
const nameOf = (name: string | null, currency: string, { bound }: Viewer) =>
  (bound.kind === 'PAYMENT' ? null : name) ?? `${currency} account`;

/** Returns the account number that a payment shows, which is null unless the caller may see the account. */
const numberOf = (number: string | null, account: Pick<AccountRow, 'customerId'> | null, viewer: Viewer) =>
  account && maySee('account', viewer, account) ? number : null;

const noNumber = (reason: string) =>
  ({ nullable: true, description: `Always null: ${reason}.`, select: {}, resolve: () => null }) as const;

const idOf = (account: Pick<AccountRow, 'kind' | 'id'> | null) =>
  account ? accountPublicId(account.kind, account.id) : '';

/** Returns a party's name: the full name if it was provided, otherwise the UMA address. */
const umaName = (
  { counterpartyInformation }: Pick<Transaction, 'counterpartyInformation'>,
  umaAddress: string | null,
) => trustedJson<Readonly<Record<string, string>>>(counterpartyInformation).FULL_NAME ?? umaAddress ?? '';

const umaDescription = "The party's full name if it was provided, otherwise the UMA address.";

export const PaymentSource = builder.prismaInterface('Transaction', {
  variant: 'PaymentSource',
  description: 'The source of a payment: an account, a UMA address or an external deposit.',
  ...variantsBy<Transaction>('sourceKind', {
    ACCOUNT: 'AccountSource',
    UMA_ADDRESS: 'UmaSource',
    REALTIME_FUNDING: 'RealtimeFundingSource',
  }),
  fields: (t) => ({
    displayName: t.required('sourceName', 'String', { description: displayName }),
    maskedNumber: t.exposeString('sourceNumber', { nullable: true, description: maskedNumber }),
    currency: t.currency(firstOf('sentCurrency', 'receivedCurrency'), {
      description: 'The currency in which the source pays.',
    }),
  }),
});

export const PaymentDestination = builder.prismaInterface('Transaction', {
  variant: 'PaymentDestination',
  description: 'The destination of a payment: an account or a UMA address.',
  ...variantsBy<Transaction>('destinationKind', { ACCOUNT: 'AccountDestination', UMA_ADDRESS: 'UmaDestination' }),
  fields: (t) => ({
    displayName: t.required('destinationName', 'String', { description: displayName }),
    maskedNumber: t.exposeString('destinationNumber', { nullable: true, description: maskedNumber }),
    currency: t.currency('receivedCurrency', { description: 'The currency in which the destination is paid.' }),
  }),
});

builder.prismaObject('Transaction', {
  variant: 'AccountSource',
  description: 'An account as the source of a payment.',
  interfaces: [PaymentSource],
  fields: (t) => ({
    displayName: t.string({
      description: accountName,
      select: { sourceName: true, sentCurrency: true, receivedCurrency: true },
      resolve: ({ sourceName, sentCurrency, receivedCurrency }, _args, { viewer }) =>
        nameOf(sourceName, sentCurrency ?? receivedCurrency, viewer),
    }),
    maskedNumber: t.string({
      nullable: true,
      description: maskedNumber,
      select: { sourceNumber: true, sourceAccount: { select: { customerId: true } } },
      resolve: ({ sourceNumber, sourceAccount }, _args, { viewer }) => numberOf(sourceNumber, sourceAccount, viewer),
    }),
    accountId: t.id({
      description: "The account's public id (`InternalAccount:…` or `ExternalAccount:…`).",
      select: { sourceAccount: { select: { kind: true, id: true } } },
      resolve: ({ sourceAccount }) => idOf(sourceAccount),
    }),
    account: t.seen('sourceAccount', Account, visibleAccounts, {
      description: "The account's current state; null if the caller may not see it.",
    }),
    currency: t.currency(['sourceAccount', 'currency'], { description: "The account's currency." }),
  }),
});

builder.prismaObject('Transaction', {
  variant: 'AccountDestination',
  description: 'An account as the destination of a payment.',
  interfaces: [PaymentDestination],
  fields: (t) => ({
    displayName: t.string({
      description: accountName,
      select: { destinationName: true, receivedCurrency: true },
      resolve: ({ destinationName, receivedCurrency }, _args, { viewer }) =>
        nameOf(destinationName, receivedCurrency, viewer),
    }),
    maskedNumber: t.string({
      nullable: true,
      description: maskedNumber,
      select: { destinationNumber: true, destinationAccount: { select: { customerId: true } } },
      resolve: ({ destinationNumber, destinationAccount }, _args, { viewer }) =>
        numberOf(destinationNumber, destinationAccount, viewer),
    }),
    accountId: t.id({
      description: "The account's public id (`InternalAccount:…` or `ExternalAccount:…`).",
      select: { destinationAccount: { select: { kind: true, id: true } } },
      resolve: ({ destinationAccount }) => idOf(destinationAccount),
    }),
    account: t.seen('destinationAccount', Account, visibleAccounts, {
      description: "The account's current state; null if the caller may not see it.",
    }),
    currency: t.currency(['destinationAccount', 'currency'], { description: "The account's currency." }),
  }),
});

builder.prismaObject('Transaction', {
  variant: 'UmaSource',
  description: 'A UMA address as the source of a payment.',
  interfaces: [PaymentSource],
  fields: (t) => ({
    displayName: t.string({
      description: umaDescription,
      select: { counterpartyInformation: true, sourceUmaAddress: true },
      resolve: (row) => umaName(row, row.sourceUmaAddress),
    }),
    maskedNumber: t.string(noNumber('a UMA address has no account number')),
    umaAddress: t.required('sourceUmaAddress', 'String', {
      description: 'The UMA address that the money comes from: $name@domain.',
    }),
  }),
});

builder.prismaObject('Transaction', {
  variant: 'UmaDestination',
  description: 'A UMA address as the destination of a payment.',
  interfaces: [PaymentDestination],
  fields: (t) => ({
    displayName: t.string({
      description: umaDescription,
      select: { counterpartyInformation: true, destinationUmaAddress: true },
      resolve: (row) => umaName(row, row.destinationUmaAddress),
    }),
    maskedNumber: t.string(noNumber('a UMA address has no account number')),
    umaAddress: t.required('destinationUmaAddress', 'String', {
      description: 'The UMA address that the money goes to: $name@domain.',
    }),
  }),
});

builder.prismaObject('Transaction', {
  variant: 'RealtimeFundingSource',
  description: 'An external deposit as the source of a payment. It is made solely for this payment.',
  interfaces: [PaymentSource],
  fields: (t) => ({
    displayName: t.string({
      description: 'The display name of the source, such as "USDC deposit".',
      select: { sentCurrency: true, receivedCurrency: true },
      resolve: ({ sentCurrency, receivedCurrency }) => `${sentCurrency ?? receivedCurrency} deposit`,
    }),
    maskedNumber: t.string(noNumber('the account that the deposit comes from is not known')),
    customer: t.seen('customer', Customer, visibleCustomers, {
      description: 'The customer who makes the deposit; null if the caller may not see the customer.',
    }),
  }),
});
