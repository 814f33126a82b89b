import { isDatabaseFault, OutcomeUnknown } from '../database/faults.ts';
import type { FieldPath } from './path.ts';

/**
 * Every way in which the domain says no, with the status that REST answers (decisions 46, 6 and 7). GraphQL
 * maps the same codes to members of its result unions (graphql/schema/refusals.ts).
 */
export const refusals = {
  INVALID_INPUT: 400,
  INVALID_AMOUNT: 400,
  AMOUNT_OUT_OF_RANGE: 400,
  INVALID_CURRENCY: 400,
  INVALID_BANK_ACCOUNT: 400,
  INVALID_UMA_ADDRESS: 400,
  INVALID_RECEIVER: 400,
  SELF_PAYMENT: 400,
  MISSING_MANDATORY_USER_INFO: 400,
  QUOTE_REQUEST_FAILED: 400,
  INSUFFICIENT_BALANCE: 400,
  WEBHOOK_ENDPOINT_NOT_SET: 400,
  WEBHOOK_DELIVERY_ERROR: 400,
  FORBIDDEN: 403,
  USER_NOT_READY: 403,
  QUOTE_NOT_FOUND: 404,
  TRANSACTION_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  ACCOUNT_NOT_FOUND: 404,
  LOOKUP_REQUEST_NOT_FOUND: 404,
  UMA_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  WEBHOOK_ENDPOINT_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  CONFLICT: 409,
  QUOTE_EXPIRED: 409,
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 409,
  UMA_ADDRESS_EXISTS: 409,
  CUSTOMER_DELETED: 410,
  IDEMPOTENCY_MISMATCH: 422,
  SERVICE_UNAVAILABLE: 503,
  OUTCOME_UNKNOWN: 504,
} as const satisfies Record<string, number>;

export type RefusalCode = keyof typeof refusals;

export interface RefusalDetails {
  /** Where in the command's input the cause lies; the message names no field. */
  readonly path?: FieldPath | undefined;
  /** Places are told by `path` alone. */
  readonly field?: never;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number;
  readonly [fact: string]: unknown;
}

/**
 * The refusal that an error is, or stands for; undefined for all else. SERVICE_UNAVAILABLE says that nothing has happened, so
 * that the same request may simply come again; OUTCOME_UNKNOWN that it may have.
 */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof OutcomeUnknown) return answerLost();
  return isDatabaseFault(error)
    ? new Refusal('SERVICE_UNAVAILABLE', 'the database is out of reach or has too much to do; try again', {
        retryAfter: 1,
      })
    : undefined;
}

/** What is said where a command may have taken effect and its answer is lost. */
export function answerLost(): Refusal {
  return new Refusal(
    'OUTCOME_UNKNOWN',
    'the answer was lost: this may have taken effect or not. Send it again with the same idempotency key, or ask for its receipt',
  );
}

/** The domain's no: thrown by commands, presented by each API in its own words. Nothing has changed, but for OUTCOME_UNKNOWN. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: RefusalDetails;
  /** This answer was given to the first call with the idempotency key, and is repeated. */
  readonly replayed: boolean;

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}, replayed = false) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
    this.replayed = replayed;
  }
}
