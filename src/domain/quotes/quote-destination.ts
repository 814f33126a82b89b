import { type Currency, currencyOf, type GivenAmount, requiredCurrency } from '../../core/currencies.ts';
import { type FieldPath, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { type Account, type Lookup, type Quote, trustedJson } from '../../infra/database/rows.ts';
import type { RailAccount } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import type { Payments } from '../commands/command.ts';
import {
  checkApplicable,
  type Information,
  type InformationField,
  type Metadata,
  missingFields,
} from '../commands/information.ts';
import { accountNotFound, type Parties, toRailAccount } from '../commands/parties.ts';
import { checkUmaAddress } from '../commands/uma-addresses.ts';
import type { NewRow } from '../ledger/plan.ts';
import type { GivenScenario } from '../orders/orders.ts';
import { lookupCurrencies, lookupFields, readLookup } from '../receivers/lookups.ts';

export type DestinationInput =
  | { readonly kind: 'ACCOUNT'; readonly accountId: string }
  | { readonly kind: 'UMA_ADDRESS'; readonly umaAddress: string; readonly currency?: string | null | undefined };

export interface CreateQuote {
  readonly source:
    | { readonly kind: 'ACCOUNT'; readonly accountId: string }
    | { readonly kind: 'REALTIME_FUNDING'; readonly customerId: string; readonly currency: string };
  readonly destination: DestinationInput;
  readonly lockedCurrencySide: 'SENDING' | 'RECEIVING';
  /** From 1 to `maxAmount`, in the smallest unit of the locked side's currency. */
  readonly lockedCurrencyAmount: GivenAmount;
  readonly lookupId?: string | null | undefined;
  readonly immediatelyExecute: boolean;
  readonly description?: string | null | undefined;
  /** Information about the sender, including the fields that the lookup requires, and the payment's purpose. */
  readonly senderCustomerInfo?: readonly InformationField[] | null | undefined;
  readonly metadata?: Metadata | null | undefined;
  /** Sandbox only: what happens to the payment after its execution. */
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

export const at = pathsIn<CreateQuote>();

/** The party that the rail pays: an external account or a UMA address; neither if the destination is internal. */
export interface Target {
  readonly account: RailAccount | undefined;
  readonly umaAddress: string | undefined;
}

export interface Destination {
  readonly receiving: Currency;
  readonly columns: Pick<NewRow<Quote>, 'destinationKind' | 'destinationAccountId' | 'destinationUmaAddress'>;
  readonly lookupId: string | null;
  /** The UMA address of a receiver that the rail has found; undefined for any other receiver. */
  readonly elsewhere: string | undefined;
  readonly target: Target;
  /** The customers who must be able to receive money, and the accounts that must be ACTIVE. */
  readonly receivers: readonly string[];
  readonly accounts: readonly string[];
  /** The receiving internal account; undefined if the destination is an external account or a UMA address. */
  readonly internalAccountId: string | undefined;
  /** The range of amounts that can arrive, in the smallest unit; undefined if only the rate's limits apply. */
  readonly limits: { readonly min: bigint; readonly max: bigint } | undefined;
  readonly information: Information;
  /** The path of the currency or the account in the input. */
  readonly path: FieldPath;
}

/** A quote that is being created. */
export interface Draft {
  readonly payments: Payments;
  readonly caller: Caller;
  readonly input: CreateQuote;
  readonly parties: Parties;
  readonly sending: Currency;
  readonly to: Destination;
  /** The information about the sender. */
  readonly sender: Information;
  readonly orderId: string;
}

/**
 * Resolves a destination account that has already been read with the parties.
 * @throws Refusal ACCOUNT_NOT_FOUND, SELF_PAYMENT, INVALID_INPUT (information that does not apply to an account)
 */
export function accountDestination({ senderCustomerInfo }: CreateQuote, parties: Parties): Destination {
  const path = at('destination', 'accountId');
  const account = parties.destination ?? accountNotFound(path);
  if (account.id === parties.source?.id) {
    throw new Refusal('SELF_PAYMENT', 'source and destination are the same account', path);
  }
  const isInternal = account.kind === 'INTERNAL';
  checkApplicable(senderCustomerInfo, at('senderCustomerInfo'), { requested: undefined, isInternal });
  return {
    receiving: requiredCurrency(account.currency),
    columns: { destinationKind: 'ACCOUNT', destinationAccountId: account.id },
    lookupId: null,
    elsewhere: undefined,
    ...routeTo(account),
    limits: undefined,
    information: {},
    path,
  };
}

/** Returns a quote's destination: an account, or a UMA address. */
export function quotedDestination(quote: Pick<Quote, 'destinationUmaAddress'>, account: Account | null): Route {
  if (account) return routeTo(account);
  return { target: { account: undefined, umaAddress: quote.destinationUmaAddress ?? undefined }, ...outside };
}

/** The route to a UMA address, whose receiver is identified only by the lookup. */
const outside = { receivers: [], accounts: [], internalAccountId: undefined } as const;

export type Route = Pick<Destination, 'target' | 'receivers' | 'accounts' | 'internalAccountId'>;

function routeTo(account: Account): Route {
  return {
    target: { account: toRailAccount(account), umaAddress: undefined },
    receivers: account.customerId === null ? [] : [account.customerId],
    accounts: [account.id],
    internalAccountId: account.kind === 'INTERNAL' ? account.id : undefined,
  };
}

/**
 * Resolves a UMA address as the destination, using the caller's earlier lookup.
 * @throws Refusal INVALID_UMA_ADDRESS, INVALID_INPUT, LOOKUP_REQUEST_NOT_FOUND, SELF_PAYMENT,
 *   MISSING_MANDATORY_USER_INFO, INVALID_CURRENCY
 */
export async function umaDestination(
  payments: Payments,
  caller: Caller,
  input: CreateQuote,
  to: Extract<DestinationInput, { kind: 'UMA_ADDRESS' }>,
  { customer }: Parties,
  sender: Information,
): Promise<Destination> {
  const umaAddress = checkUmaAddress(to.umaAddress, at('destination', 'umaAddress'));
  const lookup = await readLookup(payments, caller, input.lookupId, umaAddress);
  if (!customer) throw invalid('only a customer can pay to a UMA address', at('source'));
  if (lookup.receiverPlatformId === caller.platformId && lookup.receiverCustomerId === customer.id) {
    throw new Refusal('SELF_PAYMENT', "the UMA address is the sender's own", at('destination', 'umaAddress'));
  }
  const requested = lookupFields(lookup);
  const path = at('senderCustomerInfo');
  checkApplicable(input.senderCustomerInfo, path, { requested, isInternal: false });
  const fields = missingFields(requested, sender);
  if (fields.length > 0) {
    const message = `the receiver requires ${fields.join(', ')} from the sender`;
    throw new Refusal('MISSING_MANDATORY_USER_INFO', message, { path, fields });
  }
  return {
    ...chosenCurrency(lookup, to.currency),
    columns: { destinationKind: 'UMA_ADDRESS', destinationAccountId: null, destinationUmaAddress: umaAddress },
    lookupId: lookup.id,
    elsewhere: lookup.receiverCustomerId === null ? umaAddress : undefined,
    target: { account: undefined, umaAddress },
    ...outside,
    information: trustedJson<Information>(lookup.information),
    path: at('destination', 'currency'),
  };
}

/** Returns the requested currency, or else the first that the receiver accepts. @throws Refusal INVALID_CURRENCY */
function chosenCurrency(lookup: Lookup, code: string | null | undefined) {
  const all = lookupCurrencies(lookup);
  const chosen = code == null ? all[0] : all.find((one) => one.code === code);
  const receiving = chosen && currencyOf(chosen.code);
  if (!receiving) {
    throw new Refusal('INVALID_CURRENCY', `the receiver accepts ${all.map((one) => one.code).join(', ')}`, {
      path: at('destination', 'currency'),
      value: code ?? undefined,
    });
  }
  return { receiving, limits: { min: BigInt(chosen.minAmount), max: BigInt(chosen.maxAmount) } };
}
