import { InvalidArgumentError } from 'commander';
import type { EventType as EventTypeName } from '../client/generated/operations.ts';
import type { Answer } from './answer.ts';
import { type Job as AnyJob, actionOf } from './program.ts';
import { Service } from './service.ts';

export type { EventTypeName };

export interface Job extends AnyJob {
  readonly service: Service;
  readonly signal: AbortSignal;
}

/** The function that runs a command. It receives the job, the command's arguments, and its options. */
export type Work<Args extends unknown[]> = (job: Job, ...args: Args) => Promise<Answer>;

/** Creates the action of a command that uses the service. The action succeeds if the user stops it. */
export function withService<Args extends [...unknown[], object]>(work: Work<Args>) {
  return actionOf<Args>(async (job, ...args) => {
    const signal = job.screen.untilStopped();
    const { url } = args.at(-1) as { readonly url?: string };
    const service = new Service(job.screen, signal, url);
    return work({ ...job, signal, service }, ...args).catch((error: unknown) => {
      if (signal.aborted) return {};
      throw error;
    });
  });
}

/** The event types, each with its description. */
export const eventTypes: Readonly<Record<EventTypeName, string>> = {
  OUTGOING_PAYMENT: 'an outgoing payment was created or changed status',
  INCOMING_PAYMENT: 'an incoming payment was created or changed status',
  QUOTE_STATUS: 'a quote was created or changed status',
  ACCOUNT_STATUS: 'a balance changed',
  ACCOUNT_CHANGE: 'an account changed in any other way',
  EXTERNAL_ACCOUNT_STATUS: 'an external account was created or changed status',
  KYC_STATUS: 'an identity check was decided',
  CUSTOMER_CHANGE: 'a customer changed in any other way',
  WEBHOOK_DELIVERY: 'a webhook delivery ended',
  API_TOKEN_EXPIRY: 'a token expires within a week',
  TEST: 'a test of a webhook endpoint',
};

/** Converts a name to the schema's form: `outgoing-payment` becomes OUTGOING_PAYMENT. */
export const schemaName = (name: string) => name.toUpperCase().replaceAll('-', '_');

/** Returns the event type that the user named. Throws an InvalidArgumentError for an unknown name. */
export function eventTypeOf(name: string): EventTypeName {
  const type = schemaName(name);
  if (!(type in eventTypes))
    throw new InvalidArgumentError(
      `There is no event type ${name}. The types are ${Object.keys(eventTypes).join(', ')}.`,
    );
  return type as EventTypeName;
}

/** Creates an idempotency key for one run of a command. */
export const newKey = () => `cli-${crypto.randomUUID()}`;
