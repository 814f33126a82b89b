import type { Tenant } from '../../core/tenant.ts';
import type { UmaReceiver } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import { paths, receiverAnswer } from './messages.ts';

/**
 * Asks another cluster who receives at a UMA address. Undefined where nobody does.
 * @throws ClusterFault where it does not answer
 */
export async function lookUpElsewhere(
  { cluster }: Payments,
  { environment }: Tenant,
  other: string,
  umaAddress: string,
): Promise<UmaReceiver | undefined> {
  if (!cluster) throw new Error('there is no other cluster');
  const { receiver } = receiverAnswer.parse(
    await cluster.calls.call(other, paths.receiver, { umaAddress, environment }),
  );
  if (!receiver) return undefined;
  const currencies = receiver.currencies.map(({ code, minAmount, maxAmount }) => ({
    code,
    minAmount: BigInt(minAmount),
    maxAmount: BigInt(maxAmount),
  }));
  return { ...receiver, currencies };
}
