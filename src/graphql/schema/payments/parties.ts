import { visibleAccounts, visibleCustomers } from '../../../access/visible.ts';
import { planned } from '../../reading/planned.ts';
import { leaf, type Read, toOne, typeReads } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { Account, Customer } from '../nouns.ts';
import { CurrencyType, currencyRead } from '../values/money.ts';

/**
 * The source and the destination of quotes and transactions. Only plans read them. Their environment has the payment's `row`, the
 * `platform` and `account` of a party that is an account, or its `umaAddress`, and its `currency`.
 */

/** Reads the customer of a payment, where the caller may see it. */
export const customerRead = toOne('Customer', 'customer_id', visibleCustomers);

/** Reads the source of a payment. Its currency and its UMA address are SQL, made from the alias of the payment's row. */
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

/** Reads the destination of a payment, in the currency of this column. */
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

const accountParty = (name: string, description: string) =>
  builder.objectRef<never>(name).implement({
    description,
    fields: (t) => ({
      accountId: t.id({
        description: "The account's public id.",
        ...planned(
          leaf.of((env) => [
            `(select case a.kind when 'INTERNAL' then '"InternalAccount:' else '"ExternalAccount:' end || a.id || '"' from account a where a.platform_id = ${env.platform} and a.id = ${env.account})`,
          ]),
        ),
      }),
      account: t.field({
        type: Account,
        nullable: true,
        description: 'The account; null where the caller may not see it.',
        ...planned(toOne('Account', (env) => env.account ?? '', visibleAccounts)),
      }),
      currency: t.field({
        type: CurrencyType,
        description: "The account's currency.",
        ...planned(
          currencyRead(
            (env) =>
              `(select a.currency from account a where a.platform_id = ${env.platform} and a.id = ${env.account})`,
          ),
        ),
      }),
    }),
  });

const umaParty = (name: string, description: string) =>
  builder.objectRef<never>(name).implement({
    description,
    fields: (t) => ({
      umaAddress: t.string({
        description: '$name@domain.',
        ...planned(leaf.of((env) => [`to_json(${env.umaAddress})::text`])),
      }),
      currency: t.field({
        type: CurrencyType,
        description: 'In which currency.',
        ...planned(currencyRead((env) => env.currency ?? '')),
      }),
    }),
  });

const AccountSource = accountParty('AccountSource', 'The money comes from an account.');
const UmaSource = umaParty('UmaSource', 'The money comes from a UMA address.');
const AccountDestination = accountParty('AccountDestination', 'The money goes to an account.');
const UmaDestination = umaParty('UmaDestination', 'The money goes to a UMA address.');

const RealtimeFundingSource = builder.objectRef<never>('RealtimeFundingSource').implement({
  description: 'The money comes in from outside for this payment alone.',
  fields: (t) => ({
    customer: t.field({
      type: Customer,
      nullable: true,
      description: 'The customer who pays it in; null where the caller may not see it.',
      ...planned(customerRead),
    }),
    currency: t.field({
      type: CurrencyType,
      description: 'In which currency.',
      ...planned(currencyRead((env) => env.currency ?? '')),
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
});
