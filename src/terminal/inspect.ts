import { tableOf } from '../cli/answer.ts';
import type { Job, Work } from './command.ts';
import { paymentOf } from './follow-payment.ts';
import {
  InspectEvent,
  type InspectedEventFragment,
  InspectPayment,
  type InspectPaymentQuery,
  InspectRequest,
  type InspectRequestQuery,
} from './generated/operations.ts';
import { Failure, timeOfDay } from './screen.ts';

type Payment = NonNullable<InspectPaymentQuery['transaction']>;

type Request = NonNullable<InspectRequestQuery['requestTrace']>;

/** What `inspect` finds, as text and as data. */
interface Found {
  readonly data: object;
  readonly lines: readonly string[];
}

/**
 * Prints what a request did, or what became of a payment or of the payment behind an event: its timeline, its ledger, its events,
 * their deliveries.
 */
export const inspectCommand: Work<[string]> = async (job, id) => {
  const [type, uuid] = id.split(':');
  const { data, lines } =
    type === 'Event' || type === 'Webhook'
      ? await ofEvent(job, id, `Event:${uuid}`)
      : type === 'Transaction' || type === 'Quote'
        ? await ofPayment(job, id)
        : await ofRequest(job, id);
  job.screen.out(job.json ? JSON.stringify(data, null, 2) : lines.join('\n'));
  return undefined;
};

async function ofEvent(job: Job, id: string, eventId: string): Promise<Found> {
  const { node } = await job.service.execute(InspectEvent, { id: eventId });
  if (!node || !('id' in node)) throw new Failure(`There is no ${id}.`);
  // An id of an event finds an event.
  const event = node as InspectedEventFragment & { readonly transaction: { readonly id: string } | null };
  // An event of a customer or a balance has no payment.
  if (!event.transaction) return { data: { events: [event] }, lines: eventLines([event]) };
  return ofPayment(job, event.transaction.id);
}

async function ofPayment(job: Job, id: string): Promise<Found> {
  const paymentId = await paymentOf(job, id);
  const { transaction, events } = await job.service.execute(InspectPayment, { id: paymentId });
  if (!transaction) throw new Failure(`There is no ${paymentId}.`);
  const nodes = events.edges.map(({ node }) => node);
  return {
    data: { transaction, events: nodes },
    lines: [...paymentLines(transaction), '', 'Events and deliveries', '', ...eventLines(nodes)],
  };
}

async function ofRequest(job: Job, id: string): Promise<Found> {
  const { requestTrace: request } = await job.service.execute(InspectRequest, { id });
  if (!request) {
    throw new Failure(
      `There is no request ${id}. The service keeps the newest ones of the sandbox's platforms in memory (INSPECT_REQUESTS).`,
    );
  }
  const paymentIds = request.made.filter((made) => /^(Quote|Transaction):/.test(made));
  const payments = await Promise.all(paymentIds.map((paymentId) => ofPayment(job, paymentId)));
  return {
    data: { request, payments: payments.map(({ data }) => data) },
    lines: [...requestLines(request), ...payments.flatMap(({ lines }) => ['', ...lines])],
  };
}

function requestLines({ statements, omittedStatements, ...request }: Request): string[] {
  const sent = statements.map(({ startMs, durationMs, rows, error, name, text }) => ({
    at: `+${startMs} ms`,
    took: durationMs === null ? '…' : `${durationMs} ms`,
    rows: error ?? rows,
    statement: name ?? text.replaceAll(/\s+/g, ' ').slice(0, 80),
  }));
  const end = request.durationMs === null ? 'still runs' : `${request.status ?? 'its client had gone'}`;
  return [
    `${request.requestId}  ${request.method} ${request.path}  ${end}  ${request.durationMs ?? '…'} ms  ${timeOfDay(request.at)}`,
    ...(request.document === null ? [] : ['', request.document.trim()]),
    ...(request.input === null ? [] : ['', request.input]),
    ...(request.errorCodes.length > 0 ? ['', `Refused with ${request.errorCodes.join(', ')}`] : []),
    ...['', 'Statements', '', ...tableOf(sent, 'It sent none.')],
    ...(omittedStatements > 0 ? [`… and ${omittedStatements} more`] : []),
    ...(request.made.length > 0 ? ['', 'Made', '', ...request.made] : []),
  ];
}

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
