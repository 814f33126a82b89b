import {
  FollowPayment,
  type FollowPaymentSubscription,
  Quote,
  type StreamEnd,
} from '../client/generated/operations.ts';
import { type Answer, Failure, timeOfDay } from './answer.ts';
import type { Job, Work } from './command.ts';

type Payment = FollowPaymentSubscription['transactionUpdates']['transaction'];

/** The exit code of a command that the user stops before it ends. */
const interrupted = 130;

/** Prints a payment's timeline, and each step as it happens, until the payment ends. */
export const followCommand: Work<[string, { readonly until: StreamEnd }]> = async (job, id, { until }) =>
  followPayment(job, await paymentOf(job, id), until);

/** Follows a payment to its end. The exit code is 0 if the payment is COMPLETED. */
export async function followPayment(
  { service, screen, json, signal }: Job,
  id: string,
  until: StreamEnd,
): Promise<Answer> {
  const printed = new Set<string>();
  let began: number | undefined;
  let last: { readonly status: string; readonly payment: Payment } | undefined;
  await service.follow(FollowPayment, { id, until }, ({ transactionUpdates: { transaction, ...update } }) => {
    last = { status: update.status, payment: transaction };
    if (json) screen.out(JSON.stringify({ ...update, transaction }));
    else if (began === undefined) screen.out(headOf(transaction));
    for (const { cursor, status, reason, occurredAt } of transaction.timeline) {
      if (printed.has(cursor)) continue;
      printed.add(cursor);
      began ??= Date.parse(occurredAt);
      const seconds = ((Date.parse(occurredAt) - began) / 1_000).toFixed(1);
      const line = `${timeOfDay(occurredAt)}  ${`+${seconds}s`.padStart(8)}  ${status}${reason ? `  ${reason}` : ''}`;
      if (!json) screen.out(line);
    }
  });
  if (signal.aborted) return { exitCode: interrupted };
  if (!last) throw new Failure(`The stream of ${id} ended without a reason.`);
  if (!json) screen.out(endOf(last.status, last.payment));
  return { exitCode: last.status === 'COMPLETED' ? 0 : 1 };
}

/** Returns the id of a payment, given its own id or the id of its quote. */
export async function paymentOf({ service }: Job, id: string): Promise<string> {
  if (!id.startsWith('Quote:')) return id;
  const { quote } = await service.execute(Quote, { quoteId: id });
  if (!quote) throw new Failure(`There is no ${id}.`);
  return quote.transaction.id;
}

function headOf({ id, type, sentAmount, receivedAmount }: Payment): string {
  const amounts = [sentAmount?.formatted, receivedAmount?.formatted].filter((one) => one !== undefined).join(' → ');
  return `${id}  ${type}  ${amounts}\n`;
}

function endOf(status: string, { failureReason, fees, receivedAmount, refund }: Payment): string {
  const facts = [
    failureReason && `because of ${failureReason}`,
    status === 'COMPLETED' && receivedAmount && `${receivedAmount.formatted} received`,
    status === 'COMPLETED' && fees && `${fees.formatted} fees`,
    refund && `${refund.amount.formatted} ${refund.settledAt ? 'refunded' : 'to be refunded'}`,
  ].filter((fact) => typeof fact === 'string');
  return `\n${status}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`;
}
