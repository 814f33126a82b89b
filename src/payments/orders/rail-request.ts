import type { RailOrder } from '../../rails/rail.ts';
import type { RailStep } from '../../rails/rail-step.ts';
import { toRailAccount } from '../parties.ts';
import { type DueOrder, isPull } from './orders.ts';

/** An order in the words of the rail. `settled`: the rail has said before that it settled. */
export function railRequest(order: DueOrder, settled: boolean): RailOrder {
  return {
    id: order.id,
    step: stepOf(order),
    kind: order.kind,
    ...moneyOf(order),
    account: outside(order),
    umaAddress: order.receiver ? undefined : farAddress(order),
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

/** What the rail is to move: what arrives, or for a pull what is sent. */
function moneyOf(order: DueOrder): { readonly amount: bigint; readonly currency: string } {
  const { sentAmount, sentCurrency, receivedAmount, receivedCurrency } = order.transaction;
  return isPull(order) && sentAmount !== null && sentCurrency !== null
    ? { amount: sentAmount, currency: sentCurrency }
    : { amount: receivedAmount ?? 0n, currency: receivedCurrency };
}

/** The account outside that the rail pays or pulls from: where a UMA payment is paid on to, also the receiver's. */
function outside(order: DueOrder) {
  const account =
    order.kind === 'COLLECTION' && order.source ? order.source : (order.incoming?.destination ?? order.destination);
  return account && toRailAccount(account);
}

function farAddress({ kind, transaction }: DueOrder): string | undefined {
  return (kind === 'PAYOUT' ? transaction.destinationUmaAddress : transaction.sourceUmaAddress) ?? undefined;
}
