import { visibleAccounts, visibleCustomers } from '../../../../domain/access/visible.ts';
import { planned } from '../../reading/planned.ts';
import { type Env, leaf, type Read, sql, type TypeRead, toOne, typeReads } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { Account, Customer } from '../nouns.ts';
import { CurrencyType, currencyRead } from '../values/money.ts';

/**
 * The source and the destination of quotes and transactions. Only plans read them. Their environment has the payment's `row`, the
 * `platform` and `account` of a party that is an account, or its `umaAddress`, its `currency`, and the stored `name` and `number`.
 */

/** Reads the customer of a payment, where the caller may see it. */
export const customerRead = toOne('Customer', 'customer_id', visibleCustomers);

/** Writes SQL for a column of the transaction, from the alias of the payment's row. */
type TransactionColumn = (row: string, column: string) => string;

/** The column is in the row of a transaction itself. */
export const ofTransaction: TransactionColumn = (row, column) => `${row}.${column}`;

/** The column is in the transaction of a quote. */
export const ofQuote: TransactionColumn = (row, column) =>
  `(select t.${column} from transaction t where t.platform_id = ${row}.platform_id and t.id = ${row}.transaction_id)`;

interface PartyColumns {
  /** The column of its currency, or SQL for it. */
  readonly currency: (row: string) => string;
  readonly umaAddress: (row: string) => string;
  readonly stored: TransactionColumn;
}

const partyRead =
  (end: 'source' | 'destination') =>
  ({ currency, umaAddress, stored }: PartyColumns): Read => ({
    kind: 'value',
    env: ({ row = '' }) => ({
      row,
      platform: `${row}.platform_id`,
      account: `${row}.${end}_account_id`,
      umaAddress: umaAddress(row),
      currency: currency(row),
      name: stored(row, `${end}_name`),
      number: stored(row, `${end}_number`),
      information: stored(row, 'counterparty_information'),
    }),
  });

/** Reads the source of a payment. */
export const sourceRead = partyRead('source');

/** Reads the destination of a payment. */
export const destinationRead = partyRead('destination');

const currencyOfParty = (env: Env) => env.currency ?? '';
const currencyOfPartyAccount = (env: Env) =>
  `(select a.currency from account a where a.platform_id = ${env.platform} and a.id = ${env.account})`;

/** Writes the name of a party that is not told to the token of one payment: what it is. */
const anonymous = (currency: string) => `${currency} || ' account'`;

/** Reads the name of an account at an end of a payment. The token of one payment does not learn whose payment it is. */
const accountNameRead = leaf.of((env) => {
  const unnamed = anonymous(currencyOfPartyAccount(env));
  return [
    (run) => [`to_json(${run.viewer.bound.kind === 'PAYMENT' ? unnamed : `coalesce(${env.name}, ${unnamed})`})::text`],
  ];
});

/** Reads the number of an account at an end of a payment, for callers who may see the account. */
const accountNumberRead = leaf.of((env) => [
  (run) => {
    const { bound } = run.viewer;
    if (bound.kind === 'PLATFORM') return [`to_json(${env.number})::text`];
    if (bound.kind === 'PAYMENT') return ['null::text'];
    const owner = `(select a.customer_id from account a where a.platform_id = ${env.platform} and a.id = ${env.account})`;
    return sql`case when ${owner} = ${run.bind(bound.customerId)}::uuid then to_json(${env.number ?? ''})::text end`;
  },
]);

const umaNameRead = leaf.of((env) => [
  `to_json(coalesce(${env.information} ->> 'FULL_NAME', ${env.umaAddress}))::text`,
]);

const displayName = 'Its name for people, as it was when the payment was made: later changes do not change it.';
const maskedNumber =
  'The end of the number of its account, for people: "•••• 6789". Null where it is no account, or one that the viewer may not see.';

/** Reads null: a name that only the types of an interface read, or a number that there is not. */
const nothing = leaf.of(() => ['null::text']);

const party = (name: string, description: string, variants: NonNullable<TypeRead['variants']>) =>
  builder.interfaceRef<object>(name).implement({
    description,
    ...typeReads({ variants }),
    fields: (t) => ({
      displayName: t.string({ description: displayName, ...planned(nothing) }),
      maskedNumber: t.string({ nullable: true, description: maskedNumber, ...planned(nothing) }),
      currency: t.field({
        type: CurrencyType,
        description: 'Its currency.',
        ...planned(currencyRead(currencyOfParty)),
      }),
    }),
  });

export const PaymentSource = party('PaymentSource', 'Where the money comes from.', ({ row, account, umaAddress }) => [
  { type: 'AccountSource', when: `${row}.source_kind = 'ACCOUNT' and ${account} is not null` },
  { type: 'UmaSource', when: `${row}.source_kind = 'UMA_ADDRESS' and ${umaAddress} is not null` },
  { type: 'RealtimeFundingSource', when: 'true' },
]);

export const PaymentDestination = party('PaymentDestination', 'Where the money goes.', ({ umaAddress }) => [
  { type: 'UmaDestination', when: `${umaAddress} is not null` },
  { type: 'AccountDestination', when: 'true' },
]);

const accountParty = (name: string, description: string, of: typeof PaymentSource) =>
  builder.objectRef<object>(name).implement({
    description,
    interfaces: [of],
    fields: (t) => ({
      displayName: t.string({
        description: `${displayName} To the token of one payment: what it is.`,
        ...planned({ ...accountNameRead, costs: 'rows' }),
      }),
      maskedNumber: t.string({
        nullable: true,
        description: maskedNumber,
        ...planned({ ...accountNumberRead, costs: 'rows' }),
      }),
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
        description: 'The account as it is now; null where the caller may not see it.',
        ...planned(toOne('Account', (env) => env.account ?? '', visibleAccounts)),
      }),
      currency: t.field({
        type: CurrencyType,
        description: "The account's currency.",
        ...planned(currencyRead(currencyOfPartyAccount)),
      }),
    }),
  });

const umaParty = (name: string, description: string, of: typeof PaymentSource) =>
  builder.objectRef<object>(name).implement({
    description,
    interfaces: [of],
    fields: (t) => ({
      displayName: t.string({
        description: 'The full name that its side gave, or else its UMA address.',
        ...planned(umaNameRead),
      }),
      maskedNumber: t.string({
        nullable: true,
        description: 'Null: a UMA address is no account.',
        ...planned(nothing),
      }),
      umaAddress: t.string({
        description: '$name@domain.',
        ...planned(leaf.of((env) => [`to_json(${env.umaAddress})::text`])),
      }),
    }),
  });

accountParty('AccountSource', 'The money comes from an account.', PaymentSource);
umaParty('UmaSource', 'The money comes from a UMA address.', PaymentSource);
accountParty('AccountDestination', 'The money goes to an account.', PaymentDestination);
umaParty('UmaDestination', 'The money goes to a UMA address.', PaymentDestination);

builder.objectRef<object>('RealtimeFundingSource').implement({
  description: 'The money comes in from outside for this payment alone.',
  interfaces: [PaymentSource],
  fields: (t) => ({
    displayName: t.string({
      description: 'What it is: "USDC deposit".',
      ...planned(leaf.of((env) => [`to_json(${env.currency} || ' deposit')::text`])),
    }),
    maskedNumber: t.string({
      nullable: true,
      description: 'Null: the account outside is not known.',
      ...planned(nothing),
    }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: 'The customer who pays it in; null where the caller may not see it.',
      ...planned(customerRead),
    }),
  }),
});
