import { tableOf } from '../cli/answer.ts';
import type { Work } from './command.ts';
import { paymentOf } from './follow-payment.ts';
import {
  InspectEvent,
  type InspectedEventFragment,
  InspectPayment,
  type InspectPaymentQuery,
} from './generated/operations.ts';
import { Failure, timeOfDay } from './screen.ts';

type Payment = NonNullable<InspectPaymentQuery['transaction']>;

/** Prints what became of a payment, or of the payment behind an event: its timeline, its ledger, its events, their deliveries. */
export const inspectCommand: Work<[string]> = async (job, id) => {
  const { service, screen, json } = job;
  const [type, uuid] = id.split(':');
  const ofEvent = type === 'Event' || type === 'Webhook';
  const event = ofEvent ? await eventOf(`Event:${uuid}`) : undefined;
  const paymentId = event ? event.transaction?.id : await paymentOf(job, id);
  if (paymentId === undefined) {
    // An event of a customer or a balance has no payment.
    if (event) screen.out(json ? JSON.stringify({ events: [event] }, null, 2) : eventLines([event]).join('\n'));
    return undefined;
  }
  const { transaction, events } = await service.execute(InspectPayment, { id: paymentId });
  if (!transaction) throw new Failure(`There is no ${paymentId}.`);
  const nodes = events.edges.map(({ node }) => node);
  if (json) screen.out(JSON.stringify({ transaction, events: nodes }, null, 2));
  else screen.out([...paymentLines(transaction), '', 'Events and deliveries', '', ...eventLines(nodes)].join('\n'));
  return undefined;

  async function eventOf(eventId: string) {
    const { node } = await service.execute(InspectEvent, { id: eventId });
    if (!node || !('id' in node)) throw new Failure(`There is no ${id}.`);
    return node as InspectedEventFragment & { readonly transaction: { readonly id: string } | null };
  }
};

function paymentLines({ timeline, ledgerEntries, quote, ...payment }: Payment): string[] {
  const amounts = [payment.sentAmount, payment.receivedAmount].flatMap((one) => one?.formatted ?? []);
  const ledger = ledgerEntries.map(({ occurredAt, kind, account, system, amount, balanceAfter }) => ({
    at: timeOfDay(occurredAt),
    journal: kind,
    account: account?.id ?? system,
    amount: amount.formatted,
    balance: balanceAfter?.formatted,
  }));
  const steps = timeline.map(({ occurredAt, status, reason }) => ({ at: timeOfDay(occurredAt), status, reason }));
  return [
    `${payment.id}  ${payment.type}  ${payment.status}  ${amounts.join(' → ')}${payment.failureReason ? `  ${payment.failureReason}` : ''}`,
    ...(quote ? [`${quote.id}  ${quote.status}`] : []),
    ...['', 'Timeline', '', ...tableOf(steps, 'Nothing has happened.')],
    ...['', 'Ledger', '', ...tableOf(ledger, 'Nothing was posted.')],
  ];
}

/** Writes events, each with its deliveries below it. */
function eventLines(events: readonly InspectedEventFragment[]): string[] {
  return events.flatMap(({ id, type, occurredAt, subject, deliveries }) => [
    `${timeOfDay(occurredAt)}  ${type}  ${id}${subject ? `  ${subject.id}` : ''}`,
    ...deliveries.flatMap(({ id: deliveryId, status, endpoint, attempts }) => [
      `    ${deliveryId}  ${status}  ${endpoint?.url ?? '-'}`,
      ...attempts.map(
        ({ at, responseStatus, error, durationMs }) =>
          `      ${timeOfDay(at)}  ${responseStatus ?? '-'}  ${durationMs} ms${error === null ? '' : `  ${error}`}`,
      ),
    ]),
  ]);
}
