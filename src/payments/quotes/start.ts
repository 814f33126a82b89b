import type { Account, Quote } from '../../database/rows.ts';
import type { Plan } from '../../ledger/plan.ts';
import { firstAskMs } from '../orders/orders.ts';
import { toRailAccount } from '../parties.ts';
import { type Executable, type ExecutionOptions, execution } from './execution.ts';
import { pull } from './pull.ts';
import type { Destination } from './quote-destination.ts';

/** What the execution of a quote wants, whether it comes with the quote or after it. */

/** Starts a payment from an account: debits one here, or has the rail pull from one outside. */
export function start(
  quote: Executable,
  source: Account,
  options: Pick<ExecutionOptions, 'orderId' | 'rail' | 'target' | 'scenario' | 'reason' | 'isNew'>,
): Plan {
  if (source.kind === 'INTERNAL') return execution(quote, { ...options, sourceAccountId: source.id });
  const { rail, target, scenario } = options;
  const railRequest = { step: 'PULL', account: toRailAccount(source), umaAddress: undefined, scenario } as const;
  const payMs = rail.expectedMs({ step: 'SETTLEMENT', ...target, scenario });
  return pull(quote, {
    ...options,
    expectedInMs: rail.expectedMs(railRequest) + payMs,
    dueInMs: firstAskMs(rail, railRequest),
  });
}

/** Accounts outside that take part must be usable, on either side. */
export function accountsOf(source: Account | undefined, to: Pick<Destination, 'accounts'>): string[] {
  return source?.kind === 'EXTERNAL' ? [source.id, ...to.accounts] : [...to.accounts];
}

/** An account here that receives must be able to take what will arrive. */
export function capacityAt({ here }: Pick<Destination, 'here'>, price: Pick<Quote, 'totalReceivingAmount'>) {
  return here === undefined ? undefined : [{ account: here, amount: price.totalReceivingAmount }];
}

/** Whoever takes part must be allowed to: the sender, and the owner of the account that receives. */
export function customersOf(sender: string | null | undefined, receivers: readonly string[]): string[] {
  return [...new Set([sender, ...receivers])].filter((id) => id !== null && id !== undefined);
}
