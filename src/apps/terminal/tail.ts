import { type EventPartsFragment, LatestEvents, Tail } from '../client/generated/operations.ts';
import { timeOfDay } from './answer.ts';
import { eventTypeOf, type Work } from './command.ts';

interface TailOptions {
  readonly last: number;
  readonly after?: string;
  readonly type?: readonly string[];
  readonly customer?: string;
  readonly transaction?: string;
}

/** Prints the feed's latest events, and then each new one as it happens, until stopped. */
export const tail: Work<[TailOptions]> = async ({ service, screen, json }, options) => {
  const filter = {
    ...(options.type && { types: options.type.map(eventTypeOf) }),
    ...(options.customer !== undefined && { customerId: options.customer }),
    ...(options.transaction !== undefined && { transactionId: options.transaction }),
  };
  let shown = options.after;
  const show = (event: EventPartsFragment) => {
    shown = event.cursor;
    screen.out(json ? JSON.stringify(event) : lineOf(event));
  };
  if (options.after === undefined) {
    const { viewer, events } = await service.execute(LatestEvents, { last: options.last, filter });
    for (const { node } of events.edges) show(node);
    shown = viewer.feedCursor;
  }
  await service.follow(Tail, { filter }, ({ events }) => show(events), shown);
  if (!json && shown !== undefined) screen.err(`\nTo continue: tail --after ${shown}`);
  return {};
};

function lineOf({ occurredAt, type, subject }: EventPartsFragment): string {
  const words = [subject?.id ?? '-', ...stateOf(subject)].filter((word) => word !== undefined);
  return `${timeOfDay(occurredAt)}  ${type.padEnd(23)}  ${words.join('  ')}`;
}

function stateOf(subject: EventPartsFragment['subject']): (string | undefined)[] {
  if (!subject) return [];
  if ('transactionStatus' in subject)
    return [subject.transactionStatus, (subject.sentAmount ?? subject.receivedAmount)?.formatted];
  if ('quoteStatus' in subject) return [subject.quoteStatus];
  if ('balance' in subject) return [subject.balance.formatted];
  if ('accountStatus' in subject) return [subject.accountStatus];
  return 'kycStatus' in subject ? [subject.kycStatus] : [];
}
