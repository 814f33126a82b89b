import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Logger } from 'pino';
import type { core } from 'zod';
import type { InexactJson } from '../../core/json.ts';
import {
  dotted,
  invalidFieldsOf,
  outcomeUnknown,
  type Refusal,
  type RefusalDetails,
  refusalIn,
  refusals,
} from '../../core/refusal.ts';
import type { CustomerUse, ExceededLimit } from '../../domain/commands/plan-refusals.ts';
import { currencyRecord, isJsonInteger, UnrepresentableAmount } from '../records/fields.ts';
import { ifMatch, type RestEnvironment } from './context.ts';

const FieldErrorSchema = z.object({
  field: z.string().describe('The field, as a dot path.'),
  constraint: z.string().describe('The violated constraint: required, type, format, minimum, …'),
  message: z.string().describe('Which values are valid, or why this one was refused.'),
});

type FieldError = z.infer<typeof FieldErrorSchema>;

/** The REST error codes with their HTTP status, in addition to the codes of the domain's refusals. */
const ownCodes = {
  INVALID_REQUEST_FORMAT: 400,
  UNAUTHORIZED: 401,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  INTERNAL_ERROR: 500,
  NOT_IMPLEMENTED: 501,
} as const;

export const errorStatuses = { ...ownCodes, ...refusals };

export type ErrorCode = keyof typeof errorStatuses;

/** Every code that can appear in an error body. */
export const errorCodes = Object.keys(errorStatuses) as [ErrorCode, ...ErrorCode[]];

/** The body of every error response. */
export const ErrorBody = z
  .object({
    status: z.int().min(400).max(599).describe('The HTTP status.'),
    code: z
      .enum(errorCodes)
      .describe('The machine-readable error code, the same as in GraphQL. New codes may be added.'),
    message: z.string().describe('The human-readable reason for the refusal.'),
    details: z
      .looseObject({
        field: z.string().optional().describe('The field that caused the error, as a dot path.'),
        reason: z.string().describe('The human-readable reason for the refusal.'),
        errors: z.array(FieldErrorSchema).optional().describe('All invalid fields.'),
      })
      .describe('Details of the error.'),
  })
  .openapi('Error', {
    description:
      'Why a request was refused. If the code is OUTCOME_UNKNOWN, something may have changed; otherwise, nothing has.',
  });

/** An error of the REST API itself, with its HTTP status. */
export class RestError extends Error {
  override readonly name = 'RestError';
  readonly code: ErrorCode;
  readonly options: RestErrorOptions;

  constructor(code: ErrorCode, message: string, options: RestErrorOptions = {}) {
    super(message);
    this.code = code;
    this.options = options;
  }
}

interface RestErrorOptions {
  /** Defaults to the status of the code. */
  readonly status?: number | undefined;
  /** The field that caused the error; the first of `errors` by default. */
  readonly field?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  readonly headers?: Record<string, string>;
  /** Further details. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

const amountFields: ReadonlySet<unknown> = new Set([
  'amount',
  'lockedCurrencyAmount',
  'currencyAmount',
  'sendingAmount',
  'receivingCurrencyAmount',
]);

/** Creates the error for invalid parameters or an invalid body, naming body fields by path and parameters by name. */
export function invalidRequest(issues: readonly core.$ZodIssue[], data: unknown, isBody: boolean): RestError {
  const all = issues.flatMap((issue) => describe(isBody ? issue : { ...issue, path: issue.path.slice(0, 1) }, data));
  const distinct = all.filter(
    (error, index) =>
      index === all.findIndex(({ field, constraint }) => field === error.field && constraint === error.constraint),
  );
  const codes = new Set(distinct.map(({ code }) => code));
  const [firstCode] = codes;
  const errors = distinct.map(({ code: _code, ...error }) => error);
  const message = errors.map((error) => `${error.field}: ${error.message}`).join('; ');
  return new RestError(codes.size === 1 && firstCode ? firstCode : 'INVALID_INPUT', message, { errors });
}

/** Creates the error for a body with a JSON value that cannot be represented exactly as written. */
export function inexactBody({ path, reason, isTooLarge }: InexactJson): RestError {
  const field = dotted(path) || 'body';
  const code = codeOf({ code: isTooLarge ? 'too_big' : 'custom' }, path.map(String), false);
  const constraint = isTooLarge ? 'maximum' : 'exact';
  return new RestError(code, `${field}: ${reason}`, { errors: [{ field, constraint, message: reason }] });
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const sizeWords: Readonly<Record<string, string>> = { string: 'characters', array: 'values', record: 'members' };

/** Replaces zod's default messages. A message set in a schema takes precedence. */
z.config({
  customError: (issue) => {
    if (issue.code === 'invalid_type') {
      // A parameter that is sent more than once also arrives as a list.
      if (Array.isArray(issue.input) && issue.expected !== 'array') return 'must be a single value, not a list';
      return `must be ${typeWords[issue.expected] ?? issue.expected}`;
    }
    const values = issue.code === 'invalid_value' ? issue.values : issue.options;
    if (Array.isArray(values))
      return `must be ${values.length > 1 ? 'one of ' : ''}${values.map((value) => JSON.stringify(value)).join(', ')}`;
    if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined;
    const bound = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
    const unit = sizeWords[issue.origin];
    return unit ? `must have ${bound} ${unit}` : `must be ${bound}`;
  },
});

function describe(issue: core.$ZodIssue, data: unknown): (FieldError & { code: ErrorCode })[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const unknown = { constraint: 'unknown', message: 'is unknown', code: 'INVALID_INPUT' } as const;
    return issue.keys.map((key) => ({ field: [...path, key].join('.'), ...unknown }));
  }
  const isMissing = path.reduce<unknown>((at, key) => Object(at)[key], data) === undefined;
  const field = path.join('.') || 'body';
  return [
    {
      field,
      constraint: isMissing ? 'required' : (constraints[issue.code] ?? 'invalid'),
      message: isMissing ? 'is required' : issue.message.replace(/^./, (first) => first.toLowerCase()),
      code: codeOf(issue, path, isMissing),
    },
  ];
}

/** Returns the specific code for amounts and account details, and INVALID_INPUT for all other fields. */
function codeOf(issue: Pick<core.$ZodIssue, 'code'>, path: readonly string[], isMissing: boolean): ErrorCode {
  if (amountFields.has(path.at(-1)) && !isMissing) {
    return issue.code === 'too_big' ? 'AMOUNT_OUT_OF_RANGE' : 'INVALID_AMOUNT';
  }
  return path[0] === 'accountInfo' && path[1] !== 'beneficiary' && path.length > 1
    ? 'INVALID_BANK_ACCOUNT'
    : 'INVALID_INPUT';
}

/** OpenAPI's names for the constraints, keyed by zod's issue codes. */
const constraints: Readonly<Record<string, string>> = {
  too_small: 'minimum',
  too_big: 'maximum',
  invalid_format: 'format',
  custom: 'format',
  invalid_type: 'type',
  invalid_value: 'enum',
  invalid_union: 'enum',
};

/** Creates the response for a thrown error. The details of unexpected errors are only logged. */
export function presentError(thrown: unknown, context: Context<RestEnvironment>, log: Logger): Response {
  const error = asRestError(thrown, log);
  // If the command took effect and only its response failed, the error must not say that nothing has changed.
  const isUnknown = error.code === 'INTERNAL_ERROR' || error.code === 'SERVICE_UNAVAILABLE';
  const { code, message, options } = isUnknown && context.get('tookEffect') ? fromRefusal(outcomeUnknown()) : error;
  const { errors, headers, facts, field = errors?.[0]?.field, status = errorStatuses[code] } = options;
  // JSON omits the members that are undefined.
  const body = { status, code, message, details: { field, reason: message, ...facts, errors } };
  // Hono's type requires a status that allows a body. Every error has such a status.
  return context.json(body, { status: status as 400, headers });
}

function asRestError(thrown: unknown, log: Logger): RestError {
  if (thrown instanceof RestError) return thrown;
  const refusal = refusalIn(thrown);
  if (refusal) return fromRefusal(refusal);
  if (thrown instanceof HTTPException && thrown.status === 400) {
    return new RestError('INVALID_REQUEST_FORMAT', 'the body is not well-formed JSON');
  }
  // The content type is not JSON, and the body is empty; otherwise, admission.ts would have refused the request.
  if (thrown instanceof HTTPException && thrown.status === 415) {
    return new RestError('INVALID_REQUEST_FORMAT', 'a request body must be application/json', { status: 415 });
  }
  if (thrown instanceof UnrepresentableAmount) {
    // This API does not support amounts above `maxAmount`, so a retry would not help.
    return new RestError('AMOUNT_OUT_OF_RANGE', thrown.message, { facts: { accountId: thrown.of } });
  }
  log.error({ err: thrown }, 'an endpoint failed');
  return new RestError('INTERNAL_ERROR', 'Internal error. It has been logged.');
}

const inJson = (digits: string | null) => digits && (isJsonInteger(BigInt(digits)) ? Number(digits) : digits);

/** Returns a refusal's details with amounts in REST form. Amounts that JSON numbers cannot represent become strings. */
function inRestTerms({ details }: Refusal): RefusalDetails {
  // planRefusal creates `balances` and `limit` with these types.
  const { balances, limit } = details as Partial<CustomerUse & ExceededLimit>;
  return {
    ...details,
    balances: balances?.map((held) => {
      return { ...held, amount: inJson(held.amount), currency: currencyRecord(held.currency) };
    }),
    limit: limit && {
      ...limit,
      amount: inJson(limit.amount),
      usedAmount: inJson(limit.usedAmount),
      leftAmount: inJson(limit.leftAmount),
      currency: limit.currency && currencyRecord(limit.currency),
    },
  };
}

/** Converts a domain refusal to a REST error. A header marks replayed refusals. */
function fromRefusal(refusal: Refusal): RestError {
  const { path, retryAfter, errors: _errors, ...facts } = inRestTerms(refusal);
  const { code, message } = refusal;
  const errors = invalidFieldsOf(refusal).map((one) => {
    return { field: dotted(one.path), constraint: one.code, message: one.message };
  });
  return new RestError(code, message, {
    field: path && dotted(path),
    facts,
    errors: errors.length > 0 ? errors : undefined,
    // The status that RFC 9110 (13.1.1) requires if the If-Match condition is false.
    status: path?.[0] === ifMatch && code === 'CONFLICT' ? 412 : undefined,
    headers: {
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
      ...(refusal.replayed && { 'Idempotency-Replayed': 'true' }),
    },
  });
}
