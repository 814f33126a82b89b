import { accountTypes } from '../../core/account-types.ts';
import { accountPublicId, paymentReference } from '../../core/ids.ts';
import type { PaymentKind, Prisma } from '../../infra/database/generated/client/client.ts';
import { type Account, type Transaction, trustedJson } from '../../infra/database/rows.ts';
import type { RateLock } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import type { Journal, Leg, Money, Place, Spend } from '../ledger/plan.ts';

/** The amounts (in smallest units) and accounts of one outgoing payment. A transfer has equal amounts and no fees. */
export interface Flow {
  readonly transactionId: string;
  readonly sourceAccountId: string;
  readonly sendingCurrency: string;
  readonly sent: bigint;
  readonly fees: bigint;
  /** The platform's share of the fees, and the platform account that receives it. */
  readonly platformFee: bigint;
  readonly platformAccountId?: string | null | undefined;
  readonly receivingCurrency: string;
  readonly received: bigint;
  /** The internal account that receives the money; undefined if the money leaves the service. */
  readonly destinationAccountId?: string | undefined;
  /** The amount that the rail takes in the sending currency, if it converts the money itself. */
  readonly lockedSent?: bigint | undefined;
}

/** Describes an outgoing payment, without the platform's fees. `lock` is the rail's rate lock. */
export function flowOf(transaction: Transaction, sourceAccountId: string | null, lock: RateLock | undefined): Flow {
  const { id, sentAmount, sentCurrency, receivedAmount } = transaction;
  if (sentAmount === null || sentCurrency === null || receivedAmount === null || sourceAccountId === null) {
    throw new Error(`outgoing transaction ${id} has no source account, or lacks an amount`);
  }
  return {
    transactionId: id,
    sourceAccountId,
    sendingCurrency: sentCurrency,
    sent: sentAmount,
    fees: transaction.fees ?? 0n,
    platformFee: 0n,
    receivingCurrency: transaction.receivedCurrency,
    received: receivedAmount,
    lockedSent: lock?.sent,
  };
}

const outside = { system: 'OUTSIDE' } as const;
const clearing = { system: 'CLEARING' } as const;

function move(from: Place, to: Place, { currency, amount }: Money): [debit: Leg, credit: Leg] {
  return [
    { ...from, currency, amount: -amount },
    { ...to, currency, amount },
  ];
}

/** Debits the source. Books the fees as earned, converts the rest unless the rail does, and holds it in CLEARING. */
export function debit(flow: Flow): Journal {
  return {
    kind: 'debit',
    transactionId: flow.transactionId,
    legs: nonZero([
      { account: flow.sourceAccountId, currency: flow.sendingCurrency, amount: -flow.sent },
      ...conversion(flow),
    ]),
  };
}

/** Debits the source for a payment that has no fees and no conversion. */
export function debitInFull(accountId: string, currency: string, amount: bigint, transactionId: string): Journal {
  return { kind: 'debit', transactionId, legs: move({ account: accountId }, clearing, { currency, amount }) };
}

/**
 * Delivers the money from CLEARING, and pays the platform its share of the fees. Money that the rail converts leaves in
 * the sending currency. If it goes to an internal account, it comes back in the receiving currency.
 */
export function delivery(flow: Flow): Journal {
  const { transactionId, receivingCurrency: currency, received, destinationAccountId, lockedSent } = flow;
  const to = destinationAccountId === undefined ? outside : { account: destinationAccountId };
  const passesOutside = to !== outside && lockedSent !== undefined;
  const legs = [
    ...move(clearing, passesOutside ? outside : to, waitingMoney(flow)),
    ...(passesOutside ? move(outside, to, { currency, amount: received }) : []),
    ...platformShare(flow),
  ];
  return { kind: 'delivery', transactionId, legs: nonZero(legs) };
}

/** Reverses the debit of an undelivered payment. The credit is exempt from the account's balance limit. */
export function refund(flow: Flow): Journal {
  const journal = reversed(debit(flow), 'refund');
  return { ...journal, legs: journal.legs.map((leg) => ('account' in leg ? { ...leg, exempt: true } : leg)) };
}

export function refundOf({ id, sentAmount }: Pick<Transaction, 'id' | 'sentAmount'>) {
  return { refundReference: `REFUND-${paymentReference(id)}`, refundAmount: sentAmount };
}

/**
 * Credits external money to an internal account. `times` is the number of deposits of this amount in the plan. They
 * share a journal, because the auditor would report a second journal of this kind for a payment as a double credit.
 */
export function deposit(
  accountId: string,
  currency: string,
  amount: bigint,
  transactionId?: string,
  times: 1 | 2 = 1,
): Journal {
  const legs = move(outside, { account: accountId }, { currency, amount });
  return { kind: 'deposit', transactionId, legs: times === 2 ? [...legs, ...legs] : legs };
}

/** Debits an account in favor of another owner's internal account. The receiver's transaction credits that account. */
export function transfer(accountId: string, currency: string, amount: bigint, transactionId: string): Journal {
  return { kind: 'transfer', transactionId, legs: move({ account: accountId }, outside, { currency, amount }) };
}

/** Reserves the money for a payment that awaits approval. Even for a transfer, the money is held in CLEARING. */
export function reservation(journal: Journal): Journal {
  const legs = journal.legs.map((leg) =>
    'system' in leg && leg.system === 'OUTSIDE' ? { ...leg, system: 'CLEARING' as const } : leg,
  );
  return { ...journal, kind: 'debit', legs };
}

/** Moves money from CLEARING to SUSPENSE, where it is visible, if the rail has neither delivered nor returned it. */
export function suspension(flow: Flow): Journal {
  const legs = move(clearing, { system: 'SUSPENSE' }, waitingMoney(flow));
  return { kind: 'suspension', transactionId: flow.transactionId, legs };
}

/** Reverses a suspension before a refund, because the rail has returned the money after all. */
export function resumption(flow: Flow): Journal {
  return reversed(suspension(flow), 'resumption');
}

/** Reverses the delivery of a payment that the bank returned, so that it can be refunded. */
export function bankReturn(flow: Flow): Journal {
  return reversed(delivery(flow), 'return');
}

/** Applies an approved adjustment to an account's balance. A positive amount is a credit. */
export function adjustment(accountId: string, currency: string, amount: bigint): Journal {
  const legs = move({ account: accountId }, { system: 'ADJUSTMENTS' }, { currency, amount: -amount });
  return { kind: 'adjustment', legs };
}

/** The amounts that have moved, or should have moved, out of and into the platform's account with a provider. */
export interface Moves {
  readonly out?: Money;
  readonly in?: Money;
}

/**
 * Books to DIFFERENCES the difference between the promised amounts and those that the provider has moved. A debit is a
 * loss for the operator. Returns undefined if the amounts agree.
 */
export function difference(transactionId: string, promised: Moves, moved: Moves): Journal | undefined {
  const legs = (['out', 'in'] as const).flatMap((side): Leg[] => {
    const [was, is] = [promised[side], moved[side]];
    if (!was || !is || was.amount === is.amount) return [];
    const gained = side === 'out' ? was.amount - is.amount : is.amount - was.amount;
    return move(outside, { system: 'DIFFERENCES' }, { currency: was.currency, amount: gained });
  });
  return legs.length > 0 ? { kind: 'difference', transactionId, legs } : undefined;
}

/** Passes incoming money on to an external account. Its arrival and its delivery are separate journals. */
export function passage(currency: string, amount: bigint, transactionId: string): Journal[] {
  return [
    { kind: 'arrival', transactionId, legs: move(outside, clearing, { currency, amount }) },
    { kind: 'delivery', transactionId, legs: move(clearing, outside, { currency, amount }) },
  ];
}

function reversed(journal: Journal, kind: Journal['kind']): Journal {
  return { ...journal, kind, legs: journal.legs.map((leg) => ({ ...leg, amount: -leg.amount })) };
}

/** Returns the money that waits in CLEARING until the rail has moved it. */
function waitingMoney(flow: Flow): Money {
  return flow.lockedSent === undefined
    ? { currency: flow.receivingCurrency, amount: flow.received }
    : { currency: flow.sendingCurrency, amount: flow.lockedSent };
}

function conversion(flow: Flow): Leg[] {
  const { sendingCurrency, receivingCurrency, lockedSent } = flow;
  if (lockedSent !== undefined) {
    // The rail converts the money and keeps its own fees. The remainder is the platform's share of the fees.
    return [
      { system: 'FEES', currency: sendingCurrency, amount: flow.sent - lockedSent },
      { system: 'CLEARING', currency: sendingCurrency, amount: lockedSent },
    ];
  }
  const net = flow.sent - flow.fees;
  return [
    { system: 'FEES', currency: sendingCurrency, amount: flow.fees },
    { system: 'LIQUIDITY', currency: sendingCurrency, amount: net },
    { system: 'LIQUIDITY', currency: receivingCurrency, amount: -flow.received },
    { system: 'CLEARING', currency: receivingCurrency, amount: flow.received },
  ];
}

function platformShare(flow: Flow): Leg[] {
  if (flow.platformFee === 0n || !flow.platformAccountId) return [];
  // Exempt from the balance limit, because the delivery has happened and must be booked.
  const account = { account: flow.platformAccountId, exempt: true } as const;
  return move({ system: 'FEES' }, account, { currency: flow.sendingCurrency, amount: flow.platformFee });
}

/** Removes empty legs, and merges legs with the same system account and currency. */
function nonZero(legs: readonly Leg[]): Leg[] {
  const merged = new Map<Leg | string, Leg>();
  for (const leg of legs) {
    const name = 'system' in leg ? `${leg.system} ${leg.currency}` : leg;
    merged.set(name, { ...leg, amount: leg.amount + (merged.get(name)?.amount ?? 0n) });
  }
  return [...merged.values()].filter((leg) => leg.amount !== 0n);
}

/** The rate locked by the rail, as stored with a quote. Amounts are strings of digits. */
export type StoredLock = { readonly [Field in keyof RateLock]: string };

export function storedLock({ reference, sent, received, rate, fees }: RateLock): StoredLock {
  return { reference, sent: String(sent), received: String(received), rate, fees: String(fees) };
}

/** Returns a quote's stored rate lock, or undefined if the quote has none. */
export function lockOf(stored: Prisma.JsonValue | undefined): RateLock | undefined {
  if (stored === null || stored === undefined) return undefined;
  const { reference, sent, received, rate, fees } = trustedJson<StoredLock>(stored);
  return { reference, sent: BigInt(sent), received: BigInt(received), rate, fees: BigInt(fees) };
}

interface Begun extends Pick<Spend, 'transactionId' | 'amount' | 'currency' | 'until'> {
  /** Null if the platform itself pays. */
  readonly customerId: string | null;
  readonly to: Account | null | undefined;
  readonly umaAddress?: string | null | undefined;
}

/** Describes a payment for the policies that limit it. Each command that begins a payment includes this in its plan. */
export function spendOf(caller: Caller, kind: PaymentKind, payment: Begun): Spend {
  const { transactionId, amount, currency, customerId, to, umaAddress = null, until } = payment;
  return {
    ...{ transactionId, kind, amount, currency, umaAddress, until },
    subjects: [caller.platformId, ...(customerId === null ? [] : [customerId]), ...caller.makers],
    accountId: to ? accountPublicId(to.kind, to.id) : null,
    country: to ? countryOf(to) : null,
  };
}

function countryOf({ accountType, identifier }: Account): string | null {
  if (accountType === null) return null;
  const { country } = accountTypes[accountType];
  return accountType === 'IBAN' ? (identifier?.slice(0, 2) ?? null) : (country ?? null);
}
