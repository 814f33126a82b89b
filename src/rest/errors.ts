import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Logger } from 'pino';
import type { core } from 'zod';
import { dotted } from '../core/path.ts';
import { outcomeUnknown, type Refusal, refusalIn, refusals } from '../core/refusal.ts';
import { UnrepresentableAmount } from '../records/numbers.ts';
import type { RestEnvironment } from './environment.ts';

/** One field that is wrong. */
interface FieldError {
  readonly field: string;
  readonly constraint: string;
  readonly message: string;
}

/** What only REST can say, beside the domain's refusals (decision 46). */
const ownCodes = {
  INVALID_REQUEST_FORMAT: 400,
  UNAUTHORIZED: 401,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  INTERNAL_ERROR: 500,
  NOT_IMPLEMENTED: 501,
} as const;

/** A code that an error body can have. */
export type ErrorCode = keyof typeof ownCodes | keyof typeof refusals;

/** Every code that an error body can have, for the document. */
export const errorCodes = [...Object.keys(ownCodes), ...Object.keys(refusals)] as [ErrorCode, ...ErrorCode[]];

/** The body of every answer that is not a success (decision 46). */
export const ErrorBody = z
  .object({
    status: z.int().openapi({ description: 'The HTTP status again.' }),
    code: z.enum(errorCodes).openapi({ description: 'What to act on: the same string as in GraphQL. Open to growth.' }),
    message: z.string().openapi({ description: 'The reason, for people.' }),
    details: z
      .looseObject({
        field: z.string().optional().openapi({ description: 'The field to blame, as a dot path.' }),
        reason: z.string().optional().openapi({ description: 'Why.' }),
        errors: z
          .array(
            z.object({
              field: z.string().openapi({ description: 'Dot path of the field.' }),
              constraint: z.string().openapi({ description: 'What it breaks: required, type, format, minimum, …' }),
              message: z.string().openapi({ description: 'What would be right.' }),
            }),
          )
          .optional()
          .openapi({ description: 'Every invalid field at once.' }),
      })
      .optional()
      .openapi({ description: 'Facts about the error.' }),
  })
  .openapi('Error', {
    description: 'Why a request was refused. Nothing has changed, unless the code is OUTCOME_UNKNOWN.',
  });

/** A refusal of REST. */
export class RestError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  readonly facts: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      status?: number;
      errors?: readonly FieldError[];
      headers?: Record<string, string>;
      facts?: Record<string, string>;
    } = {},
  ) {
    super(message);
    this.name = 'RestError';
    this.code = code;
    this.status = more.status ?? { ...ownCodes, ...refusals }[code];
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
    this.facts = more.facts ?? {};
  }
}

const amountFields: ReadonlySet<unknown> = new Set([
  'amount',
  'lockedCurrencyAmount',
  'currencyAmount',
  'sendingAmount',
  'receivingCurrencyAmount',
]);

/**
 * A request whose parameters or body are not as they must be: all that is wrong, at once. A body's field is named by its
 * path; a parameter by its name, whichever of several values is wrong.
 */
export function invalidRequest(issues: readonly core.$ZodIssue[], data: unknown, isBody: boolean): RestError {
  const all = issues.flatMap((issue) => describe(isBody ? issue : { ...issue, path: issue.path.slice(0, 1) }, data));
  const found = all.filter(
    (error, at) =>
      at === all.findIndex(({ field, constraint }) => field === error.field && constraint === error.constraint),
  );
  const codes = new Set(found.map(({ code }) => code));
  const [only] = codes;
  const errors = found.map(({ code: _code, ...error }) => error);
  const message = errors.map((error) => `${error.field}: ${error.message}`).join('; ');
  return new RestError(codes.size === 1 && only ? only : 'INVALID_INPUT', message, { errors });
}

function describe(issue: core.$ZodIssue, data: unknown): (FieldError & { code: ErrorCode })[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...path, key].join('.'),
      constraint: 'unknown',
      message: 'is not known here',
      code: 'INVALID_INPUT',
    }));
  }
  const missing = valueAt(data, path) === undefined;
  const field = path.join('.') || 'body';
  return [
    {
      field,
      constraint: missing ? 'required' : constraintOf(issue),
      message: missing ? 'is required' : lowerFirst(issue.message),
      code: codeOf(issue, path, missing),
    },
  ];
}

/** The specific codes of amounts and of account details (decision 46); INVALID_INPUT for everything else. */
function codeOf(issue: core.$ZodIssue, path: readonly string[], missing: boolean): ErrorCode {
  if (amountFields.has(path.at(-1)) && !missing) {
    return issue.code === 'too_big' ? 'AMOUNT_OUT_OF_RANGE' : 'INVALID_AMOUNT';
  }
  return path[0] === 'accountInfo' && path[1] !== 'beneficiary' && path.length > 1
    ? 'INVALID_BANK_ACCOUNT'
    : 'INVALID_INPUT';
}

function constraintOf(issue: core.$ZodIssue): string {
  switch (issue.code) {
    case 'too_small':
      return 'minimum';
    case 'too_big':
      return 'maximum';
    case 'invalid_format':
    case 'custom':
      return 'format';
    case 'invalid_type':
      return 'type';
    case 'invalid_value':
    case 'invalid_union':
      return 'enum';
    default:
      return 'invalid';
  }
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Presents whatever was thrown: refusals with their code, bugs without their inside. */
export function presentError(thrown: unknown, context: Context<RestEnvironment>, log: Logger): Response {
  const refusal = refusalIn(thrown);
  if (refusal) return presentRefusal(context.get('tookEffect') ? refusalAfterEffect(refusal) : refusal, context);
  const error = asRestError(thrown, log);
  // The command stands: what failed is its answer.
  if (error.code === 'INTERNAL_ERROR' && context.get('tookEffect')) return presentRefusal(outcomeUnknown(), context);
  const [first] = error.errors;
  const details = first && { field: first.field, reason: error.message, errors: error.errors };
  const { status, code, message } = error;
  return context.json(
    { status, code, message, details: details ?? { reason: message, ...error.facts } },
    { status: status as 400, headers: { ...error.headers } },
  );
}

/** A refusal that comes when the command has taken effect must not say that nothing has happened. */
function refusalAfterEffect(refusal: Refusal): Refusal {
  return refusal.code === 'SERVICE_UNAVAILABLE' ? outcomeUnknown() : refusal;
}

function asRestError(thrown: unknown, log: Logger): RestError {
  if (thrown instanceof RestError) return thrown;
  if (thrown instanceof HTTPException && thrown.status === 400) {
    return new RestError('INVALID_REQUEST_FORMAT', 'the body is not well-formed JSON');
  }
  if (thrown instanceof UnrepresentableAmount) {
    // Above `maxAmount` is outside the contract of this interface (specification 7.2), and asking again does not help.
    return new RestError('AMOUNT_OUT_OF_RANGE', thrown.message, {
      ...(thrown.of !== undefined && { facts: { accountId: thrown.of } }),
    });
  }
  log.error({ err: thrown }, 'an endpoint failed');
  return new RestError('INTERNAL_ERROR', 'Something went wrong here. It has been logged.');
}

/** The domain's no. A repeat of a stored one says so (decision 6). */
function presentRefusal(refusal: Refusal, context: Context): Response {
  const { path, retryAfter, ...facts } = refusal.details;
  const field = path && dotted(path);
  const { code, message } = refusal;
  const status = refusals[code];
  const errors = field === undefined ? undefined : [{ field, constraint: code, message }];
  const details = { ...(field !== undefined && { field }), reason: message, ...facts, ...(errors && { errors }) };
  return context.json(
    { status, code, message, details },
    {
      status,
      headers: {
        ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
        ...(refusal.replayed && { 'Idempotency-Replayed': 'true' }),
      },
    },
  );
}
