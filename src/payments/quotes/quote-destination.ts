import type { Caller } from '../../access/caller.ts';
import { type Currency, currencyOf } from '../../core/currencies.ts';
import type { FieldPath } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Account, Lookup, Quote } from '../../database/rows.ts';
import { trustedJson } from '../../database/trusted-json.ts';
import type { OutsideAccount } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import { type Information, missingFields } from '../information.ts';
import { accountNotFound, currencyOfAccount, type Parties, toRailAccount } from '../parties.ts';
import { lookupCurrencies, lookupFields, readLookup } from '../receivers/lookups.ts';
import { checkUmaAddress } from '../uma-addresses.ts';
import { at, type DestinationInput } from './quote-input.ts';

/** Where the rail delivers to: an account outside, a UMA address, or neither when the money stays here. */
export interface Target {
  readonly account: OutsideAccount | undefined;
  readonly umaAddress: string | undefined;
}

/** Where a quote pays to, resolved. */
export interface Destination {
  readonly receiving: Currency;
  readonly columns:
    | { readonly destinationKind: 'ACCOUNT'; readonly destinationAccountId: string }
    | {
        readonly destinationKind: 'UMA_ADDRESS';
        readonly destinationAccountId: null;
        readonly destinationUmaAddress: string;
      };
  readonly lookupId: string | null;
  readonly target: Target;
  /** What must be fit to receive: the owner of the account, and the account itself. */
  readonly receivers: readonly string[];
  readonly accounts: readonly string[];
  /** The internal account that receives; undefined where the money leaves, or a lookup tells who receives it. */
  readonly here: string | undefined;
  /** Least and most that may arrive, in smallest units; undefined where only the rate's limits hold. */
  readonly limits: { readonly min: bigint; readonly max: bigint } | undefined;
  /** What is known of the receiver. */
  readonly information: Information;
  /** Where the input names the currency or the account. */
  readonly path: FieldPath;
}

/** The destination at an account that the parties were read with. */
export function accountDestination(parties: Parties): Destination {
  const path = at('destination', 'accountId');
  const account = parties.destination ?? accountNotFound(path);
  if (account.id === parties.source?.id) {
    throw new Refusal('SELF_PAYMENT', 'source and destination are the same account', { path });
  }
  return {
    receiving: currencyOfAccount(account),
    columns: { destinationKind: 'ACCOUNT', destinationAccountId: account.id },
    lookupId: null,
    ...standing(account),
    limits: undefined,
    information: {},
    path,
  };
}

/** What the destination of a quote that was made before means for its execution. */
export function quotedDestination(quote: Pick<Quote, 'destinationUmaAddress'>, account: Account | null): Standing {
  if (account) return standing(account);
  return {
    target: { account: undefined, umaAddress: quote.destinationUmaAddress ?? undefined },
    receivers: [],
    accounts: [],
    here: undefined,
  };
}

type Standing = Pick<Destination, 'target' | 'receivers' | 'accounts' | 'here'>;

function standing(account: Account): Standing {
  return {
    target: { account: toRailAccount(account), umaAddress: undefined },
    receivers: account.customerId === null ? [] : [account.customerId],
    accounts: [account.id],
    here: account.kind === 'INTERNAL' ? account.id : undefined,
  };
}

/** The destination at a UMA address, by the lookup that the caller made before. */
export async function umaDestination(
  payments: Payments,
  caller: Caller,
  input: Extract<DestinationInput, { kind: 'UMA_ADDRESS' }>,
  request: { readonly lookupId: string | null | undefined; readonly parties: Parties; readonly sender: Information },
): Promise<Destination> {
  const umaAddress = checkUmaAddress(input.umaAddress, at('destination', 'umaAddress'));
  const lookup = await readLookup(payments, caller, request.lookupId, umaAddress);
  const { customer } = request.parties;
  if (!customer) {
    throw new Refusal('INVALID_INPUT', 'a payment to a UMA address is sent by a customer', { path: at('source') });
  }
  if (lookup.receiverPlatformId === caller.platformId && lookup.receiverCustomerId === customer.id) {
    throw new Refusal('SELF_PAYMENT', "the UMA address is the sender's own", { path: at('destination', 'umaAddress') });
  }
  checkSender(lookup, request.sender);
  const { receiving, limits } = chosenCurrency(lookup, input.currency);
  return {
    receiving,
    columns: { destinationKind: 'UMA_ADDRESS', destinationAccountId: null, destinationUmaAddress: umaAddress },
    lookupId: lookup.id,
    target: { account: undefined, umaAddress },
    receivers: [],
    accounts: [],
    here: undefined,
    limits,
    information: trustedJson<Information>(lookup.information),
    path: at('destination', 'currency'),
  };
}

function checkSender(lookup: Lookup, sender: Information): void {
  const missing = missingFields(lookupFields(lookup), sender);
  if (missing.length > 0) {
    throw new Refusal('MISSING_MANDATORY_USER_INFO', `the receiver asks for ${missing.join(', ')} of the sender`, {
      path: at('senderCustomerInfo'),
      fields: missing,
    });
  }
}

/** The currency asked for, or else the first that the receiver takes. */
function chosenCurrency(lookup: Lookup, code: string | null | undefined) {
  const all = lookupCurrencies(lookup);
  const chosen = code ? all.find((one) => one.code === code) : all[0];
  const receiving = chosen && currencyOf(chosen.code);
  if (!receiving) {
    throw new Refusal('INVALID_CURRENCY', `the receiver takes ${all.map((one) => one.code).join(', ')}`, {
      path: at('destination', 'currency'),
      value: code ?? undefined,
    });
  }
  return { receiving, limits: { min: BigInt(chosen.minAmount), max: BigInt(chosen.maxAmount) } };
}
