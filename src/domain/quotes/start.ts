import type { Account, Quote } from '../../infra/database/rows.ts';
import { toRailAccount } from '../commands/parties.ts';
import type { Plan } from '../ledger/plan.ts';
import { expectedMs, firstAskMs } from '../orders/orders.ts';
import { type Executable, type ExecutionOptions, execution } from './execution.ts';
import { planPull } from './pull.ts';
import type { Destination } from './quote-destination.ts';

/** The parts of a plan that execute a quote, at its creation or later. */

/** Starts a payment: debits an internal account, or gives the rail an order to pull from an external one. */
export function start(
  quote: Executable,
  source: Account,
  options: Pick<ExecutionOptions, 'orderId' | 'rail' | 'target' | 'scenario' | 'reason' | 'createdBy' | 'isNew'>,
): Plan {
  if (source.kind === 'INTERNAL') return execution(quote, { ...options, sourceAccountId: source.id });
  const { rail, target, scenario } = options;
  const railRequest = { step: 'PULL', account: toRailAccount(source), umaAddress: undefined, scenario } as const;
  const payMs = expectedMs(rail, { step: 'SETTLEMENT', ...target, scenario });
  return planPull(quote, {
    ...options,
    expectedInMs: expectedMs(rail, railRequest) + payMs,
    dueInMs: firstAskMs(rail, railRequest),
  });
}

/** Returns the external accounts on either side, which must be ACTIVE. */
export function accountsOf(source: Account | undefined, to: Pick<Destination, 'accounts'>): string[] {
  return source?.kind === 'EXTERNAL' ? [source.id, ...to.accounts] : [...to.accounts];
}

/** Returns the internal accounts on either side, which must not be frozen. */
export function internalOf(source: Account | undefined, { internalAccountId }: Pick<Destination, 'internalAccountId'>) {
  return [source?.kind === 'INTERNAL' ? source.id : undefined, internalAccountId].filter((id) => id !== undefined);
}

/** Returns the receiving internal account, which must have capacity for the amount that will arrive. */
export function capacityAt(
  { internalAccountId }: Pick<Destination, 'internalAccountId'>,
  price: Pick<Quote, 'totalReceivingAmount'>,
) {
  return internalAccountId === undefined
    ? undefined
    : [{ account: internalAccountId, amount: price.totalReceivingAmount }];
}

/** Returns the customers who must be allowed to move money: the sender, and the owner of the receiving account. */
export function customersOf(sender: string | null | undefined, receivers: readonly string[]): string[] {
  return [...new Set([sender, ...receivers])].filter((id) => id !== null && id !== undefined);
}
