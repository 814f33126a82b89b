import type { EventType as EventTypeName } from './generated/operations.ts';
import { Failure, type Screen } from './screen.ts';
import type { Service } from './service.ts';

export type { EventTypeName };

/** What a command works with. */
export interface Job {
  readonly service: Service;
  readonly screen: Screen;
  /** Whether it prints for machines: one JSON value, or, where the answer goes on, one a line. */
  readonly json: boolean;
}

/** How a command ended. */
export interface Finished {
  readonly exitCode: number;
}

/** A command: takes its arguments and then its options. It exits with 0 where it returns nothing. */
export type Work<Args extends readonly unknown[]> = (job: Job, ...args: Args) => Promise<Finished | undefined>;

/** The types of event, with what each is about. */
export const eventTypes: Readonly<Record<EventTypeName, string>> = {
  OUTGOING_PAYMENT: 'an outgoing payment was made or changed its status',
  INCOMING_PAYMENT: 'an incoming payment was made or changed its status',
  QUOTE_STATUS: 'a quote was made or changed its status',
  ACCOUNT_STATUS: 'a balance changed',
  ACCOUNT_CHANGE: 'an account changed in any other way',
  EXTERNAL_ACCOUNT_STATUS: 'an external account was made or changed its status',
  KYC_STATUS: 'an identity check was decided',
  CUSTOMER_CHANGE: 'a customer changed in any other way',
  WEBHOOK_DELIVERY: 'a webhook delivery ended',
  TEST: 'a test of a webhook endpoint',
};

/** Writes a name as the schema does: `outgoing-payment` is OUTGOING_PAYMENT. */
export const schemaName = (name: string) => name.toUpperCase().replaceAll('-', '_');

/** Returns the type of event that a user names. Throws a Failure for any other. */
export function eventTypeOf(name: string): EventTypeName {
  const type = schemaName(name);
  if (!(type in eventTypes))
    throw new Failure(`There is no type of event ${name}. There are ${Object.keys(eventTypes).join(', ')}.`);
  return type as EventTypeName;
}

/** Makes an idempotency key for one run of a command. */
export const newKey = () => `cli-${crypto.randomUUID()}`;
