import type { Operation } from '../../access/operations.ts';
import { Refusal, type RefusalCode } from '../../core/refusal.ts';
import { builder } from './builder.ts';
import { argumentPath } from './input-paths.ts';

/** A refusal as a member of a mutation's result union. */
interface UserError {
  readonly refusal: Refusal;
  readonly path: readonly string[] | null;
}

const UserErrorType = builder.interfaceRef<UserError>('UserError').implement({
  description: 'Why a mutation was refused. Nothing has changed, unless it is an OutcomeUnknownError.',
  fields: (t) => ({
    code: t.string({
      description: 'What to act on: the same string as in REST, such as INSUFFICIENT_BALANCE.',
      resolve: ({ refusal }) => refusal.code,
    }),
    message: t.string({ description: 'The reason, for people.', resolve: ({ refusal }) => refusal.message }),
    path: t.stringList({
      nullable: true,
      description: 'Where in the input the cause lies: ["input", "amount"]. Null when it lies in no single field.',
      resolve: ({ path }) => path && [...path],
    }),
  }),
});

const members = {
  InvalidInputError: 'The input is malformed or asks for what cannot be; `path` tells the field.',
  NotFoundError: "Something that the input names does not exist, or is another platform's.",
  InsufficientFundsError: 'The source does not hold enough. The quote, if any, stays PENDING.',
  QuoteExpiredError: 'The quote is past its expiry: create a new one.',
  ConflictError: 'It collides with what is already there or with what has already happened.',
  CustomerInUseError:
    'The customer holds money here, or has payments under way: bring the money out (transferInternal, transferOut), and wait for the payments.',
  IdempotencyMismatchError: 'The idempotency key was used before with another input.',
  ForbiddenError: 'The caller, or the customer concerned, may not do this.',
  UnavailableError: 'Not possible at the moment; nothing has changed, and the same request may succeed later.',
  OutcomeUnknownError:
    'The database did not answer in time: the mutation may have taken effect or not. Send it again with the same idempotencyKey, or ask mutationReceipt.',
} as const;

/** The name of a refusal's type. */
export type MemberName = keyof typeof members;

/** The union member of each code. The compiler reports a code that is missing here. */
const memberOf: Record<RefusalCode, MemberName> = {
  INVALID_INPUT: 'InvalidInputError',
  INVALID_AMOUNT: 'InvalidInputError',
  AMOUNT_OUT_OF_RANGE: 'InvalidInputError',
  INVALID_CURRENCY: 'InvalidInputError',
  INVALID_BANK_ACCOUNT: 'InvalidInputError',
  INVALID_UMA_ADDRESS: 'InvalidInputError',
  INVALID_RECEIVER: 'InvalidInputError',
  SELF_PAYMENT: 'InvalidInputError',
  MISSING_MANDATORY_USER_INFO: 'InvalidInputError',
  QUOTE_REQUEST_FAILED: 'UnavailableError',
  INSUFFICIENT_BALANCE: 'InsufficientFundsError',
  // Only in REST, whose settings name one endpoint: here a test names its endpoint, and answers its outcome.
  WEBHOOK_ENDPOINT_NOT_SET: 'NotFoundError',
  WEBHOOK_DELIVERY_ERROR: 'UnavailableError',
  FORBIDDEN: 'ForbiddenError',
  USER_NOT_READY: 'ForbiddenError',
  QUOTE_NOT_FOUND: 'NotFoundError',
  TRANSACTION_NOT_FOUND: 'NotFoundError',
  USER_NOT_FOUND: 'NotFoundError',
  ACCOUNT_NOT_FOUND: 'NotFoundError',
  LOOKUP_REQUEST_NOT_FOUND: 'NotFoundError',
  UMA_NOT_FOUND: 'NotFoundError',
  TOKEN_NOT_FOUND: 'NotFoundError',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'NotFoundError',
  EVENT_NOT_FOUND: 'NotFoundError',
  CONFLICT: 'ConflictError',
  QUOTE_EXPIRED: 'QuoteExpiredError',
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 'ConflictError',
  UMA_ADDRESS_EXISTS: 'ConflictError',
  CUSTOMER_DELETED: 'ConflictError',
  CUSTOMER_IN_USE: 'CustomerInUseError',
  IDEMPOTENCY_MISMATCH: 'IdempotencyMismatchError',
  SERVICE_UNAVAILABLE: 'UnavailableError',
  OUTCOME_UNKNOWN: 'OutcomeUnknownError',
};

/** The types of refusals, by their names. */
export const memberTypes = Object.fromEntries(
  Object.entries(members).map(([name, description]) => [
    name,
    builder.objectRef<UserError>(name).implement({ description, interfaces: [UserErrorType] }),
  ]),
) as { [Name in MemberName]: ReturnType<typeof builder.objectRef<UserError>> };

/** Returns the value of the union member for a refusal of this input. */
export function asUserError(refusal: Refusal, name: Operation, input: unknown): UserError {
  const { path } = refusal.details;
  return { refusal, path: path ? argumentPath(name, path, input) : null };
}

/** Tells whether a result is a refusal. */
export function isUserError(value: object): value is UserError {
  return 'refusal' in value && value.refusal instanceof Refusal;
}

/** Returns the name of the union member for an error. */
export function memberNameOf(error: UserError): MemberName {
  return memberOf[error.refusal.code];
}
