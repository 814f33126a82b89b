import { type AccountName, accountNameIn, uuidOf } from '../../core/ids.ts';
import { type FieldPath, Refusal } from '../../core/refusal.ts';
import { type Account, type Customer, trustedJson } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { RailAccount } from '../../rails/rail-parts.ts';
import { type Scope, sharedForCallers, visibleRow } from '../access/visible.ts';

export interface TransferParties {
  readonly source: Account | null;
  readonly destination: Account | null;
  /** Ids derived from the database's clock, in ascending order. */
  readonly ids: readonly string[];
}

interface Named {
  readonly source?: AccountName | undefined;
  readonly destination?: AccountName | undefined;
  readonly ids: number;
}

export interface PlatformFeeTerms {
  /** In the sending currency's smallest unit. */
  readonly fixedFee: bigint;
  /** A fraction of the sending amount; see variableFeeRateFault. */
  readonly variableFeeRate: string;
}

/** A quote's accounts and its customer, who is named in the quote or owns the source or the destination. */
export interface Parties extends TransferParties {
  readonly customer: Customer | null;
  readonly platformFee: PlatformFeeTerms;
}

const namedAccount = (name: 'source' | 'destination') =>
  `public.account a where ${visibleRow('account', 'a')} and a.id = named.${name}`;

// The ids come from an array, because with generate_series, Postgres would plan the statements again for each call.
const transferPartiesSql = `
  (select account_snapshot(a) from ${namedAccount('source')}) as source,
  (select account_snapshot(a) from ${namedAccount('destination')}) as destination,
  array(select uuid_v7() from unnest(array_fill(0, array[named.ids]))) as ids`;

type PlatformFeeRow = Readonly<Record<'fixedFee' | 'variableFeeRate', string | null>>;

const transferPartiesStatement = sharedForCallers(
  statement<TransferParties>(
    'transfer_parties',
    `select ${transferPartiesSql} from unnest($4::uuid[], $5::uuid[], $6::int[])
     with ordinality as named (source, destination, ids, place) order by named.place`,
    { source: 'Account', destination: 'Account' },
  ),
);

const partiesStatement = sharedForCallers(
  statement<TransferParties & PlatformFeeRow & Pick<Parties, 'customer'>>(
    'parties',
    `select fee.fixed_fee::text, fee.variable_fee_rate::text, ${transferPartiesSql},
     (select to_jsonb(c) from customer c where ${visibleRow('customer', 'c')} and c.id = coalesce(named.customer,
        (select a.customer_id from ${namedAccount('source')}),
        (select a.customer_id from ${namedAccount('destination')}))) as customer
   from unnest($4::uuid[], $5::uuid[], $6::int[], $7::uuid[], $8::text[])
     with ordinality as named (source, destination, ids, customer, currency, place)
     left join platform_fee fee on fee.platform_id = $1 and fee.sending_currency = coalesce(
       named.currency, (select a.currency from ${namedAccount('source')}))
   order by named.place`,
    { source: 'Account', destination: 'Account', customer: 'Customer' },
  ),
);

/** Reads a transfer's accounts. An account is null if the caller may not see it, or if it is not of the given kind. */
export async function readTransferParties(on: Queryable, caller: Scope, names: Named): Promise<TransferParties> {
  const { source, destination, ids } = names;
  const row = await transferPartiesStatement(on, caller, source?.id ?? null, destination?.id ?? null, ids);
  return transferPartiesOf(row, names);
}

/** Reads a quote's parties. A party is null if the caller may not see it, or if it is an account of the wrong kind. */
export async function readParties(
  on: Queryable,
  caller: Scope,
  names: Named & { readonly customer?: string | undefined; readonly currency?: string | undefined },
): Promise<Parties> {
  const { source, destination, customer = null, currency = null, ids } = names;
  const accounts = [source?.id ?? null, destination?.id ?? null] as const;
  const row = await partiesStatement(on, caller, ...accounts, ids, customer, currency);
  return { ...transferPartiesOf(row, names), customer: row.customer, platformFee: feeOf(row) };
}

const platformFeeStatement = statement<PlatformFeeRow>(
  'platform_fee',
  'select fixed_fee::text, variable_fee_rate::text from platform_fee where platform_id = $1 and sending_currency = $2',
);

/** Returns a platform's fee for payments in a currency; zero if none is set. */
export async function readPlatformFee(on: Queryable, { platformId }: Scope, currency: string) {
  const [row] = await platformFeeStatement(on, platformId, currency);
  return feeOf(row);
}

function feeOf(row: PlatformFeeRow | undefined): PlatformFeeTerms {
  return { fixedFee: BigInt(row?.fixedFee ?? 0), variableFeeRate: row?.variableFeeRate ?? '0' };
}

/** Returns the currency of an account; undefined if the caller can see no account with that id. */
export async function currencyOfNamed(on: Queryable, caller: Scope, id: string): Promise<string | undefined> {
  const { source } = await readTransferParties(on, caller, { source: accountNameIn(id), ids: 0 });
  return source?.currency;
}

function transferPartiesOf({ source, destination, ids }: TransferParties, names: Named): TransferParties {
  return {
    source: source?.kind === names.source?.kind ? source : null,
    destination: destination?.kind === names.destination?.kind ? destination : null,
    // Ids generated in the same microsecond may be out of order.
    ids: ids.toSorted(),
  };
}

/** Returns one of the ids that were read together with the parties. @throws Error if there is none at `position` */
export function idAt(parties: Pick<TransferParties, 'ids'>, position: number): string {
  const id = parties.ids[position];
  if (id === undefined) throw new Error(`no id at ${position}`);
  return id;
}

/** @throws Refusal ACCOUNT_NOT_FOUND for a malformed id */
export function accountName(id: string, path: FieldPath): AccountName {
  return accountNameIn(id) ?? accountNotFound(path);
}

/** @throws Refusal ACCOUNT_NOT_FOUND */
export function accountNotFound(path: FieldPath): never {
  throw new Refusal('ACCOUNT_NOT_FOUND', 'no such account', path);
}

/** @throws Refusal USER_NOT_FOUND for a malformed id */
export function customerUuid(id: string, path: FieldPath): string {
  return uuidOf(id, 'Customer') ?? customerNotFound(path);
}

/** @throws Refusal USER_NOT_FOUND */
export function customerNotFound(path: FieldPath): never {
  throw new Refusal('USER_NOT_FOUND', 'no such customer', path);
}

export type Party = Pick<
  Account,
  'id' | 'kind' | 'customerId' | 'currency' | 'accountType' | 'identifier' | 'accountInfo'
>;

/** Converts an external account to the form that rails use; undefined for an internal account. */
export function toRailAccount(account: Party): RailAccount | undefined {
  return account.kind === 'EXTERNAL' && account.accountType !== null && account.identifier !== null
    ? {
        type: account.accountType,
        identifier: account.identifier,
        details: trustedJson<Readonly<Record<string, string>>>(account.accountInfo),
      }
    : undefined;
}
