import type { Journal, Leg } from '../ledger/plan.ts';

/**
 * The money of one outgoing payment, all in smallest units. On a same-currency transfer both sides are equal and there
 * are no fees.
 */
export interface Flow {
  readonly transactionId: string;
  readonly sourceAccountId: string;
  readonly sendingCurrency: string;
  readonly sent: bigint;
  readonly fees: bigint;
  /** The part of the fees that the platform earns, and its account for it. */
  readonly platformFee: bigint;
  readonly platformAccountId: string | undefined;
  readonly receivingCurrency: string;
  readonly received: bigint;
  /** The account here that receives; undefined when the money leaves. */
  readonly destinationAccountId: string | undefined;
}

/** The source is debited: fees are earned, the rest is converted, and what will be delivered waits in clearing. */
export function debit(flow: Flow): Journal {
  return {
    kind: 'debit',
    transactionId: flow.transactionId,
    legs: nonZero([
      { account: flow.sourceAccountId, currency: flow.sendingCurrency, amount: -flow.sent },
      ...conversion(flow, 1n),
    ]),
  };
}

/** Delivered: the money leaves clearing, and the platform gets its part of the fees. */
export function delivery(flow: Flow): Journal {
  const currency = flow.receivingCurrency;
  return {
    kind: 'delivery',
    transactionId: flow.transactionId,
    legs: nonZero([
      { system: 'CLEARING', currency, amount: -flow.received },
      flow.destinationAccountId === undefined
        ? { system: 'OUTSIDE', currency, amount: flow.received }
        : { account: flow.destinationAccountId, currency, amount: flow.received },
      ...platformShare(flow),
    ]),
  };
}

/** Not delivered: the debit is undone, leg by leg. What was taken comes back whatever the account holds by now. */
export function refund(flow: Flow): Journal {
  return {
    kind: 'refund',
    transactionId: flow.transactionId,
    legs: nonZero([
      { account: flow.sourceAccountId, currency: flow.sendingCurrency, amount: flow.sent, exempt: true },
      ...conversion(flow, -1n),
    ]),
  };
}

/**
 * Money comes in from outside to an account here. `times`: that many arrivals of the same amount at once. They share a journal,
 * since a payment has at most one of this kind: a second one is money credited twice, which the auditor finds.
 */
export function deposit(
  accountId: string,
  currency: string,
  amount: bigint,
  transactionId?: string,
  times: 1 | 2 = 1,
): Journal {
  const legs: Leg[] = [
    { system: 'OUTSIDE', currency, amount: -amount },
    { account: accountId, currency, amount },
  ];
  return { kind: 'deposit', transactionId, legs: times === 2 ? [...legs, ...legs] : legs };
}

/** Neither delivered nor given back by the rail: what was under way waits in suspense, where it can be seen. */
export function suspension(flow: Flow): Journal {
  const currency = flow.receivingCurrency;
  return {
    kind: 'suspension',
    transactionId: flow.transactionId,
    legs: [
      { system: 'CLEARING', currency, amount: -flow.received },
      { system: 'SUSPENSE', currency, amount: flow.received },
    ],
  };
}

/** What waited in suspense is given back by the rail after all: the suspension is undone, so that a refund can follow. */
export function resumption(flow: Flow): Journal {
  const reversed = suspension(flow);
  return { ...reversed, kind: 'resumption', legs: reversed.legs.map((leg) => ({ ...leg, amount: -leg.amount })) };
}

/** Delivered and come back: the delivery is undone, so that a refund can follow. */
export function bankReturn(flow: Flow): Journal {
  const reversed = delivery(flow);
  return { ...reversed, kind: 'return', legs: reversed.legs.map((leg) => ({ ...leg, amount: -leg.amount })) };
}

/** Money from outside that is only passed on to an account outside: in, and out again. */
export function passage(currency: string, amount: bigint, transactionId: string): Journal[] {
  return [
    {
      kind: 'arrival',
      transactionId,
      legs: [
        { system: 'OUTSIDE', currency, amount: -amount },
        { system: 'CLEARING', currency, amount },
      ],
    },
    {
      kind: 'delivery',
      transactionId,
      legs: [
        { system: 'CLEARING', currency, amount: -amount },
        { system: 'OUTSIDE', currency, amount },
      ],
    },
  ];
}

function conversion(flow: Flow, direction: 1n | -1n): Leg[] {
  const { sendingCurrency, receivingCurrency } = flow;
  const net = flow.sent - flow.fees;
  return [
    { system: 'FEES', currency: sendingCurrency, amount: direction * flow.fees },
    { system: 'LIQUIDITY', currency: sendingCurrency, amount: direction * net },
    { system: 'LIQUIDITY', currency: receivingCurrency, amount: direction * -flow.received },
    { system: 'CLEARING', currency: receivingCurrency, amount: direction * flow.received },
  ];
}

function platformShare(flow: Flow): Leg[] {
  if (flow.platformFee === 0n || flow.platformAccountId === undefined) return [];
  return [
    { system: 'FEES', currency: flow.sendingCurrency, amount: -flow.platformFee },
    // Owed: the payment has been delivered, and no full account of the platform's undoes that.
    { account: flow.platformAccountId, currency: flow.sendingCurrency, amount: flow.platformFee, exempt: true },
  ];
}

/** Without empty legs, and with what meets on one system account in one currency taken together. */
function nonZero(legs: readonly Leg[]): Leg[] {
  const merged: Leg[] = [];
  for (const leg of legs) {
    const same = merged.findIndex(
      (other) => 'system' in leg && 'system' in other && other.system === leg.system && other.currency === leg.currency,
    );
    const other = merged[same];
    if (other) merged[same] = { ...other, amount: other.amount + leg.amount };
    else merged.push(leg);
  }
  return merged.filter((leg) => leg.amount !== 0n);
}
