import { money } from '../../../core/currencies.ts';
import {
  type RefusalCode as Code,
  type InvalidField,
  invalidFieldsOf,
  type FieldPath as Path,
  Refusal,
} from '../../../core/refusal.ts';
import type { CustomerUse, ExceededLimit } from '../../../domain/commands/plan-refusals.ts';
import { readNode } from '../reading/planned.ts';
import { builder, enumOf } from './builder.ts';
import { nodeTypes } from './nouns.ts';

const members = {
  InvalidInputError: 'The input is malformed or requests something impossible; `fields` lists every invalid field.',
  NotFoundError: 'An object that the input refers to does not exist, or is not visible to the caller.',
  InsufficientFundsError: 'The balance of the source is too low. The quote, if there is one, stays PENDING.',
  LimitExceededError:
    "A policy does not allow the payment. Its rule and limit are shown only if the caller may see the policy and the caller's token has VIEW.",
  QuoteExpiredError: 'The quote has expired: create a new one.',
  ConflictError: 'The request conflicts with something that already exists or has already happened.',
  CustomerInUseError:
    "The customer's accounts still hold money, or payments are still in progress. Move the money out (transferInternal, transferOut) and wait for the payments to finish.",
  IdempotencyMismatchError: 'The idempotency key was already used with different input.',
  ForbiddenError: 'The token does not permit the operation, or a customer or account may not take part in it.',
  UnavailableError:
    'The request cannot be served at the moment. Nothing has changed; the same request may succeed later.',
  OutcomeUnknownError:
    'The database did not respond in time, so the mutation may or may not have taken effect. Repeat the mutation with the same idempotencyKey, or query mutationReceipt.',
} as const;

export type MemberName = keyof typeof members;

/** The union member and the description of each code. The compiler reports a code that is missing here. */
const codes: Readonly<Record<Code, readonly [member: MemberName, meaning: string]>> = {
  INVALID_INPUT: [
    'InvalidInputError',
    'A field is malformed or requests something impossible. If several fields are wrong, each has its own code in `fields`.',
  ],
  INVALID_AMOUNT: [
    'InvalidInputError',
    'The amount is not positive, or has more decimal places than its currency allows.',
  ],
  AMOUNT_OUT_OF_RANGE: ['InvalidInputError', 'The amount is below the minimum or above the maximum.'],
  INVALID_CURRENCY: ['InvalidInputError', 'The currency is unknown, or not supported here.'],
  INVALID_BANK_ACCOUNT: [
    'InvalidInputError',
    "The external account's details are wrong, or the account is not ACTIVE.",
  ],
  INVALID_UMA_ADDRESS: [
    'InvalidInputError',
    "The UMA address is malformed, not in the platform's domain, or refused by the receiving side.",
  ],
  INVALID_RECEIVER: ['InvalidInputError', 'The receiver cannot be paid.'],
  SELF_PAYMENT: ['InvalidInputError', 'The source and the destination are the same account or address.'],
  MISSING_MANDATORY_USER_INFO: ['InvalidInputError', 'Sender information that the receiver requires is missing.'],
  QUOTE_REQUEST_FAILED: ['UnavailableError', 'The receiving side did not return a quote.'],
  INSUFFICIENT_BALANCE: ['InsufficientFundsError', 'The balance of the source is too low.'],
  // Only REST returns the next two codes, because its settings contain a single endpoint. In GraphQL, a test event is
  // sent to a named endpoint, and the response contains the outcome.
  WEBHOOK_ENDPOINT_NOT_SET: ['NotFoundError', 'No webhook endpoint is configured in the settings. REST only.'],
  WEBHOOK_DELIVERY_ERROR: ['UnavailableError', 'A test event could not be delivered. REST only.'],
  FORBIDDEN: ['ForbiddenError', 'The token is not allowed to do this.'],
  USER_NOT_READY: [
    'ForbiddenError',
    'A customer who is a party to this payment may not move money: the identity check is not approved, or the customer was deleted.',
  ],
  CUSTOMER_FROZEN: ['ForbiddenError', "The service's operator has frozen the customer."],
  ACCOUNT_FROZEN: ['ForbiddenError', "The service's operator has frozen the account."],
  LIMIT_EXCEEDED: ['LimitExceededError', 'A policy forbids the payment, at least for now.'],
  QUOTE_NOT_FOUND: ['NotFoundError', 'There is no such quote.'],
  TRANSACTION_NOT_FOUND: ['NotFoundError', 'There is no such transaction.'],
  USER_NOT_FOUND: ['NotFoundError', 'There is no such customer.'],
  ACCOUNT_NOT_FOUND: ['NotFoundError', 'There is no such account.'],
  LOOKUP_REQUEST_NOT_FOUND: ['NotFoundError', 'There is no such lookup, or it has expired.'],
  UMA_NOT_FOUND: ['NotFoundError', 'Nobody can be reached at this UMA address.'],
  TOKEN_NOT_FOUND: ['NotFoundError', 'There is no such token.'],
  WEBHOOK_ENDPOINT_NOT_FOUND: ['NotFoundError', 'There is no such webhook endpoint.'],
  WEBHOOK_DELIVERY_NOT_FOUND: ['NotFoundError', 'There is no such webhook delivery.'],
  EVENT_NOT_FOUND: ['NotFoundError', 'There is no such event.'],
  CONFLICT: ['ConflictError', 'The request conflicts with something that already exists or has already happened.'],
  QUOTE_EXPIRED: ['QuoteExpiredError', 'The quote has expired.'],
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: ['ConflictError', 'The payment is not waiting for approval.'],
  UMA_ADDRESS_EXISTS: ['ConflictError', 'Another customer has this UMA address.'],
  CUSTOMER_IN_USE: [
    'CustomerInUseError',
    "The customer's accounts still hold money, or payments are still in progress.",
  ],
  CUSTOMER_DELETED: ['ConflictError', 'The customer was deleted.'],
  IDEMPOTENCY_MISMATCH: ['IdempotencyMismatchError', 'The idempotency key was already used with different input.'],
  RATE_LIMITED: ['UnavailableError', 'The token or its platform is sending too many requests. Nothing was done.'],
  SERVICE_UNAVAILABLE: ['UnavailableError', 'The request cannot be served at the moment. Nothing was done.'],
  OUTCOME_UNKNOWN: [
    'OutcomeUnknownError',
    'It is unknown whether the request took effect. Repeat it with the same idempotency key.',
  ],
};

export const RefusalCode = enumOf(
  'RefusalCode',
  'The machine-readable reason why a request was refused. The codes are the same as in REST; new ones may be added.',
  Object.fromEntries(Object.entries(codes).map(([code, [, meaning]]) => [code, meaning])) as Record<Code, string>,
);

/** A refusal as a member of a mutation's result union, with the details that the caller may read. */
export interface UserError extends Partial<ExceededLimit>, Partial<CustomerUse> {
  readonly refusal: Refusal;
  readonly code: Code;
  readonly message: string;
  readonly path: Path | null;
  readonly fields: readonly InvalidField[];
}

export const RefusedFieldType = builder.objectRef<InvalidField>('RefusedField').implement({
  description: 'An invalid field of the input, with the reason.',
  fields: (t) => ({
    path: t.field({
      type: ['PathSegment'],
      description: 'The path to the field, beginning with the argument, such as ["input", "amount"].',
      resolve: ({ path }) => [...path],
    }),
    code: t.expose('code', { type: RefusalCode, description: 'The machine-readable reason why the field is invalid.' }),
    message: t.exposeString('message', { description: 'The human-readable reason why the field is invalid.' }),
  }),
});

const UserErrorType = builder.interfaceRef<UserError>('UserError').implement({
  description: 'Why a mutation was refused. Nothing has changed, except possibly after an OutcomeUnknownError.',
  fields: (t) => ({
    code: t.expose('code', {
      type: RefusalCode,
      description: 'The machine-readable reason for the refusal: the same code as in REST.',
    }),
    message: t.exposeString('message', {
      description: 'The human-readable reason for the refusal. Amounts are in major units.',
    }),
    path: t.optional('path', ['PathSegment'], {
      description: 'The path to the first invalid field, such as ["input", "amount"]; null if no field is the cause.',
    }),
    fields: t.field({
      type: [RefusedFieldType],
      description: 'All invalid input fields; empty if no field is the cause.',
      resolve: ({ fields }) => [...fields],
    }),
  }),
});

export const memberTypes = Object.fromEntries(
  Object.entries(members).map(([name, description]) => [
    name,
    builder.objectRef<UserError>(name).implement({ description, interfaces: [UserErrorType] }),
  ]),
) as { [Name in MemberName]: ReturnType<typeof builder.objectRef<UserError>> };

builder.objectField(memberTypes.UnavailableError, 'retryAfter', (t) =>
  t.int({
    nullable: true,
    description: 'The number of seconds after which the same request may succeed; null if unknown.',
    resolve: ({ refusal }) => refusal.details.retryAfter,
  }),
);

/** Turns a refusal into a value of a mutation's union. `argumentOf` converts the refusal's paths to argument paths. */
export function asUserError(refusal: Refusal, argumentOf: (path: Path) => Path): UserError {
  const { code, message, details } = refusal;
  const fields = asRefusedFields(invalidFieldsOf(refusal), argumentOf);
  return { ...details, refusal, code, message, path: details.path ? argumentOf(details.path) : null, fields };
}

/** Converts the invalid fields of a command's input to fields of the mutation's arguments. */
export function asRefusedFields(fields: readonly InvalidField[], argumentOf: (path: Path) => Path): InvalidField[] {
  return fields.map((field) => ({ ...field, path: argumentOf(field.path) }));
}

/** Returns the union member for a mutation's value; undefined if the value is not a refusal. */
export function memberNameOf(value: object): MemberName | undefined {
  return 'refusal' in value && value.refusal instanceof Refusal ? codes[value.refusal.code][0] : undefined;
}

/** Returns an amount from a refusal's details; null if the refusal does not contain it. */
function moneyFact({ refusal }: UserError, fact: 'spendable' | 'needed') {
  const { [fact]: digits, currency } = refusal.details;
  return typeof digits === 'string' && typeof currency === 'string' ? money(BigInt(digits), currency) : null;
}

builder.objectFields(memberTypes.InsufficientFundsError, (t) => ({
  available: t.field({
    type: 'Money',
    nullable: true,
    description: 'The amount that the source can spend; null for viewers who may not see its balance.',
    resolve: (error) => moneyFact(error, 'spendable'),
  }),
  required: t.field({
    type: 'Money',
    nullable: true,
    description: 'The amount that the payment would take from the source; null if `available` is null.',
    resolve: (error) => moneyFact(error, 'needed'),
  }),
}));

builder.objectField(memberTypes.QuoteExpiredError, 'expiredAt', (t) =>
  t.field({
    type: 'DateTime',
    description: 'When the quote expired.',
    resolve: ({ refusal }) => new Date(String(refusal.details.expiresAt)),
  }),
);

builder.objectField(memberTypes.ConflictError, 'existing', (t) =>
  t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description:
      'The current state of the object that the request conflicts with, such as an account that already exists or a quote that was already executed. Null if there is no such object or the viewer may not see it. Reading it requires VIEW.',
    extensions: { isOnlyPlanned: true },
    resolve: ({ refusal }, _args, context, info) => {
      const { existingId } = refusal.details;
      return typeof existingId === 'string' ? readNode(existingId, nodeTypes, context, info) : null;
    },
  }),
);

builder.objectFields(memberTypes.CustomerInUseError, (t) => ({
  balances: t.field({
    type: ['Money'],
    nullable: true,
    description: "The balances of the customer's non-empty internal accounts. Null if the caller's token lacks VIEW.",
    resolve: ({ balances }) => balances?.map(({ amount, currency }) => money(BigInt(amount), currency)),
  }),
  paymentsUnderWay: t.optional('paymentsUnderWay', 'Int', {
    description:
      "The number of the customer's payments, incoming and outgoing, that are still in progress. Null if the caller's token lacks VIEW.",
  }),
  transactionIds: t.optional('transactionIds', ['ID'], {
    description:
      "The ids of the 20 oldest payments in progress (`Transaction:…`). Null if the caller's token lacks VIEW.",
  }),
}));
