import type { RailOrder, RailOutcome } from '../../rails/rail.ts';
import type { RailStep } from '../../rails/rail-parts.ts';
import { connectedRail, type Payments, railOf } from '../commands/command.ts';
import { toRailAccount } from '../commands/parties.ts';
import { type DueOrder, isPull } from './orders.ts';

/** Converts an order to the rail's form. `settled`: the rail has answered `settled` before. */
export function railRequest(order: DueOrder, settled: boolean): RailOrder {
  return {
    id: order.id,
    step: stepOf(order),
    kind: order.kind,
    ...moneyOf(order),
    account: externalAccount(order),
    // If the rate was locked for an external receiver, the money goes there, even if a customer here has taken the
    // address since.
    umaAddress: order.receiver && !order.lock ? undefined : counterpartyAddress(order),
    lock: order.lock,
    settled,
    ageMs: order.ageMs,
    attempts: order.attempts - 1,
    scenario: order.scenario,
  };
}

function stepOf(order: DueOrder): RailStep {
  if (order.transaction.status === 'CREATED') return 'PAY_REQUEST';
  return isPull(order) ? 'PULL' : 'SETTLEMENT';
}

/** Returns the money that the rail must move: the amount that arrives or, for a pull, the amount that is sent. */
function moneyOf(order: DueOrder): { readonly amount: bigint; readonly currency: string } {
  const { sentAmount, sentCurrency, receivedAmount, receivedCurrency } = order.transaction;
  return isPull(order) && sentAmount !== null && sentCurrency !== null
    ? { amount: sentAmount, currency: sentCurrency }
    : { amount: receivedAmount ?? 0n, currency: receivedCurrency };
}

/** Returns the external account that the rail pays or pulls from; for a UMA payment, the receiver's deposit account. */
function externalAccount(order: DueOrder) {
  const account =
    order.kind === 'COLLECTION' && order.source ? order.source : (order.incoming?.destination ?? order.destination);
  return account && toRailAccount(account);
}

function counterpartyAddress({ kind, transaction }: DueOrder): string | undefined {
  return (kind === 'PAYOUT' ? transaction.destinationUmaAddress : transaction.sourceUmaAddress) ?? undefined;
}

/**
 * Asks the rail of an order's platform to perform the order.
 * @param settled whether it has settled before
 * @throws any error that keeps the rail from answering
 */
export async function performOrder(payments: Payments, order: DueOrder, settled: boolean): Promise<RailOutcome> {
  const request = railRequest(order, settled);
  return order.kind === 'PAYOUT'
    ? railOf(payments, order, 'payOut').payOut(request)
    : railOf(payments, order, 'collect').collect(request);
}

/**
 * Queries the state of an order without sending it, if the rail supports that.
 * @returns undefined if the rail does not have it
 */
export async function findOrder(payments: Payments, order: DueOrder): Promise<RailOutcome | undefined> {
  const find = connectedRail(payments, order)?.findOrder;
  return find ? find(railRequest(order, false)) : performOrder(payments, order, false);
}
