import type { Account as AccountRow, Customer as CustomerRow } from '../database/rows.ts';
import type { Currency } from '../money/currencies.ts';
import { accountPublicId } from '../payments/ids.ts';
import { Account } from './account.ts';
import { builder } from './builder.ts';
import { Customer } from './customer.ts';
import { CurrencyType, currencyRead, knownCurrency } from './money.ts';
import { conditionsOf } from './reading/conditions.ts';
import { leaf, type Read, reads, sql, typeReads } from './reading/reads.ts';
import { maySeeAccount, maySeeCustomer, visibleAccounts, visibleCustomers } from './visible.ts';

/** Where money comes from and goes to: the two ends of quotes and transactions. */

/** What is always needed of an account or customer at an end of a payment: to name it, and to tell who may see it. */
export const accountColumns = { platformId: true, id: true, kind: true, customerId: true } as const;
export const customerColumns = { platformId: true, id: true } as const;

/** An account or customer at an end of a payment, with what the document asks of it besides. */
export type NamedAccount = Pick<AccountRow, keyof typeof accountColumns>;
type NamedCustomer = Pick<CustomerRow, keyof typeof customerColumns>;

interface AccountEnd {
  readonly kind: 'ACCOUNT';
  readonly account: NamedAccount;
}

interface RealtimeFunding {
  readonly kind: 'REALTIME_FUNDING';
  readonly customer: NamedCustomer | null;
  readonly currency: Currency;
}

interface UmaEnd {
  readonly kind: 'UMA_ADDRESS';
  readonly umaAddress: string;
  readonly currency: Currency;
}

type Source = AccountEnd | RealtimeFunding | UmaEnd;
type Destination = AccountEnd | UmaEnd;

/** The customer of a payment, where the caller may see it. */
export const customerRead: Read = {
  kind: 'row',
  model: 'Customer',
  where: ({ row }, alias) =>
    sql`${alias}.platform_id = ${row ?? ''}.platform_id and ${alias}.id = ${row ?? ''}.customer_id and ${(run) => conditionsOf('Customer', alias, visibleCustomers(run.viewer), run)}`,
};

/** The source of a payment, from its columns: in the currency, from the UMA address. */
export const sourceRead = (currency: (row: string) => string, umaAddress: (row: string) => string): Read => ({
  kind: 'value',
  env: ({ row = '' }) => ({
    row,
    platform: `${row}.platform_id`,
    account: `${row}.source_account_id`,
    umaAddress: umaAddress(row),
    currency: currency(row),
  }),
});

/** The destination of a payment, from its columns. */
export const destinationRead = (currency: string): Read => ({
  kind: 'value',
  env: ({ row = '' }) => ({
    row,
    platform: `${row}.platform_id`,
    account: `${row}.destination_account_id`,
    umaAddress: `${row}.destination_uma_address`,
    currency: `${row}.${currency}`,
  }),
});

const accountEnd = (name: string, description: string) =>
  builder.objectRef<AccountEnd>(name).implement({
    description,
    fields: (t) => ({
      accountId: t.id({
        description: "The account's public id.",
        ...reads(
          leaf.of((env) => [
            `(select case a.kind when 'INTERNAL' then '"InternalAccount:' else '"ExternalAccount:' end || a.id || '"' from account a where a.platform_id = ${env.platform} and a.id = ${env.account})`,
          ]),
        ),
        resolve: ({ account }) => accountPublicId(account.kind, account.id),
      }),
      account: t.field({
        type: Account,
        nullable: true,
        description: 'The account; null where the caller may not see it.',
        ...reads({
          kind: 'row',
          model: 'Account',
          where: (env, alias) =>
            sql`${alias}.platform_id = ${env.platform ?? ''} and ${alias}.id = ${env.account ?? ''} and ${(run) => conditionsOf('Account', alias, visibleAccounts(run.viewer), run)}`,
        }),
        resolve: ({ account }, _args, { viewer }) => (maySeeAccount(viewer, account) ? account : null),
      }),
    }),
  });

const umaEnd = (name: string, description: string) =>
  builder.objectRef<UmaEnd>(name).implement({
    description,
    fields: (t) => ({
      umaAddress: t.exposeString('umaAddress', {
        description: '$name@domain.',
        ...reads(leaf.of((env) => [`to_json(${env.umaAddress})::text`])),
      }),
      currency: t.expose('currency', {
        type: CurrencyType,
        description: 'In which currency.',
        ...reads(currencyRead((env) => env.currency ?? '')),
      }),
    }),
  });

const AccountSource = accountEnd('AccountSource', 'The money comes from an account.');
const UmaSource = umaEnd('UmaSource', 'The money comes from a UMA address.');
const AccountDestination = accountEnd('AccountDestination', 'The money goes to an account.');
const UmaDestination = umaEnd('UmaDestination', 'The money goes to a UMA address.');

const RealtimeFundingSource = builder.objectRef<RealtimeFunding>('RealtimeFundingSource').implement({
  description: 'The money comes in from outside for this payment alone.',
  fields: (t) => ({
    customer: t.field({
      type: Customer,
      nullable: true,
      description: 'The customer who pays it in; null where the caller may not see it.',
      ...reads(customerRead),
      resolve: ({ customer }, _args, { viewer }) => (customer && maySeeCustomer(viewer, customer) ? customer : null),
    }),
    currency: t.expose('currency', {
      type: CurrencyType,
      description: 'In which currency.',
      ...reads(currencyRead((env) => env.currency ?? '')),
    }),
  }),
});

export const PaymentSource = builder.unionType('PaymentSource', {
  description: 'Where the money comes from.',
  types: [AccountSource, RealtimeFundingSource, UmaSource],
  ...typeReads({
    variants: ({ row, account, umaAddress }) => [
      { type: 'AccountSource', when: `${row}.source_kind = 'ACCOUNT' and ${account} is not null` },
      { type: 'UmaSource', when: `${row}.source_kind = 'UMA_ADDRESS' and ${umaAddress} is not null` },
      { type: 'RealtimeFundingSource', when: 'true' },
    ],
  }),
  resolveType: (source) =>
    ({ ACCOUNT: 'AccountSource', REALTIME_FUNDING: 'RealtimeFundingSource', UMA_ADDRESS: 'UmaSource' })[source.kind],
});

export const PaymentDestination = builder.unionType('PaymentDestination', {
  description: 'Where the money goes.',
  types: [AccountDestination, UmaDestination],
  ...typeReads({
    variants: ({ umaAddress }) => [
      { type: 'UmaDestination', when: `${umaAddress} is not null` },
      { type: 'AccountDestination', when: 'true' },
    ],
  }),
  resolveType: (destination) => ({ ACCOUNT: 'AccountDestination', UMA_ADDRESS: 'UmaDestination' })[destination.kind],
});

/** Paths below a source or destination to the rows that it shows, for the statement that reads its payment. */
export const sourceAccountPath = [{ type: 'AccountSource', name: 'account' }];
export const sourceCustomerPath = [{ type: 'RealtimeFundingSource', name: 'customer' }];
export const destinationAccountPath = [{ type: 'AccountDestination', name: 'account' }];

/**
 * What a payment selects of a row below one of these paths: these columns, and what the document asks for there. Only
 * the columns are promised; the rest is for the fields that asked.
 */
export function rowWith<Columns extends Readonly<Record<string, true>>>(
  columns: Columns,
  asked: unknown,
): { readonly select: Columns } {
  const select = Object(Object(asked).select) as object;
  return { select: { ...select, ...columns } };
}

interface SourceColumns {
  readonly sourceKind: 'ACCOUNT' | 'REALTIME_FUNDING' | 'UMA_ADDRESS' | null;
  readonly sourceAccount: NamedAccount | null;
  readonly customer: NamedCustomer | null;
}

/** The source of a payment, from its columns. */
export function sourceOf(payment: SourceColumns, umaAddress: string | null, currency: string | null): Source | null {
  if (payment.sourceKind === 'ACCOUNT' && payment.sourceAccount)
    return { kind: 'ACCOUNT', account: payment.sourceAccount };
  if (currency === null) return null;
  if (payment.sourceKind === 'UMA_ADDRESS' && umaAddress !== null)
    return { kind: 'UMA_ADDRESS', umaAddress, currency: knownCurrency(currency) };
  return { kind: 'REALTIME_FUNDING', customer: payment.customer, currency: knownCurrency(currency) };
}

/** The destination of a payment, from its columns. */
export function destinationOf(
  payment: { readonly destinationAccount: NamedAccount | null; readonly destinationUmaAddress: string | null },
  currency: string,
): Destination {
  if (payment.destinationUmaAddress !== null) {
    return { kind: 'UMA_ADDRESS', umaAddress: payment.destinationUmaAddress, currency: knownCurrency(currency) };
  }
  if (!payment.destinationAccount) throw new Error('a payment goes to an account or to a UMA address');
  return { kind: 'ACCOUNT', account: payment.destinationAccount };
}
