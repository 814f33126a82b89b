import { z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { authorize, type Operation, requirePermission } from '../access/operations.ts';
import type { Viewer } from '../access/viewer.ts';
import { type PathTable, translatePath } from '../core/path.ts';
import { Refusal } from '../core/refusal.ts';
import type { CommandResult } from '../payments/command.ts';
import type { RestEnvironment } from './environment.ts';
import { ErrorBody } from './errors.ts';
import { keyPaths } from './input-paths.ts';

/** What the definitions of endpoints have in common. */

interface Words {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly description?: string;
}

/** An endpoint that reads: any token with VIEW may call it. */
export function reading(words: Words) {
  return { ...words, middleware: [allow((viewer) => requirePermission(viewer, 'VIEW'))] };
}

/**
 * An endpoint that changes something. The name is the operation's in every API: its permission and the scope of its
 * idempotency keys hang on it (decision 6).
 */
export function commanding(operation: Operation, words: Words) {
  return {
    ...words,
    parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
    middleware: [allow((viewer) => authorize(viewer, operation))],
  };
}

/** The same, with an `optionalBody`. */
export function commandingMaybeEmpty(operation: Operation, words: Words) {
  const { middleware, ...rest } = commanding(operation, words);
  return { ...rest, middleware: [...middleware, acceptNoBody] };
}

/** An endpoint of settings or credentials: any token with MANAGE may call it. */
export function managing(words: Words) {
  return { ...words, middleware: [allow((viewer) => requirePermission(viewer, 'MANAGE'))] };
}

/** Refuses a viewer before its request is looked at any further: what is wrong with it is told to those who may send it. */
function allow(check: (viewer: Viewer) => void): MiddlewareHandler<RestEnvironment> {
  return async (context, next) => {
    check(context.get('viewer'));
    await next();
  };
}

/** Many clients name a content type even where they send nothing: then there is no JSON to parse. */
const acceptNoBody: MiddlewareHandler<RestEnvironment> = async (context, next) => {
  if (!context.req.raw.body) context.req.raw.headers.delete('content-type');
  await next();
};

/** The query of endpoints that take none: any parameter is unknown (decision 17). */
export const noQuery = z.strictObject({});

/** A success with a JSON body. */
export function answers<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

const replayHeader = z.object({
  'Idempotency-Replayed': z
    .literal('true')
    .optional()
    .openapi({ description: 'There when this repeats the answer to the first call with the idempotency key.' }),
});

/** A success of a command, which tells when it repeats an earlier one. */
export function answersOnce<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { ...answers(schema, description), headers: replayHeader };
}

/** The same without a body. */
export function answersNothing(description: string) {
  return { description, headers: replayHeader };
}

/** A JSON body that must be there. */
export function body<Schema extends z.ZodType>(schema: Schema) {
  return { required: true as const, content: { 'application/json': { schema } } };
}

/** A JSON body that may be left out, which means the same as `{}`. */
export function optionalBody<Schema extends z.ZodType>(schema: Schema) {
  return { required: false as const, content: { 'application/json': { schema } } };
}

const reasons: Readonly<Record<number, string>> = {
  400: 'The request is malformed or asks for what cannot be; `details.errors` lists every invalid field.',
  401: 'Credentials are missing or wrong.',
  403: 'The token, or the customer concerned, may not do this.',
  404: "Something that the request names does not exist, or is another platform's.",
  405: 'The path does not have this method; `Allow` lists those it has.',
  409: 'It collides with what is already there or with what has already happened.',
  410: 'The customer has been deleted.',
  413: 'The body has more than 102400 bytes.',
  415: 'The body is not application/json in UTF-8, or it has a `Content-Encoding`.',
  422: 'The idempotency key was used before with another input.',
  500: 'Something went wrong here, and nothing has changed. The same request may succeed later.',
  501: 'Something is asked for that is not offered here.',
  503: 'Not possible at the moment, and nothing has changed; `Retry-After` says when to try again.',
  504: 'The answer was lost: the request may have taken effect or not. Send it again with the same `Idempotency-Key`, which tells.',
};

type ErrorStatus = 404 | 409 | 410 | 413 | 415 | 501 | 504;

/**
 * The errors of an endpoint: those given, and those that every one can have. Handlers throw them, so the compiler need
 * not know them among what a handler returns.
 */
export function readErrors(...statuses: ErrorStatus[]): Record<never, never> {
  return errorsOf([400, 401, 403, 500, 503, ...statuses]);
}

/** As `readErrors`, with what every command can answer besides. */
export function commandErrors(...statuses: ErrorStatus[]): Record<never, never> {
  return errorsOf([400, 401, 403, 409, 413, 415, 422, 500, 503, 504, ...statuses]);
}

function errorsOf(statuses: readonly number[]): Record<never, never> {
  return Object.fromEntries(
    [...new Set(statuses)].sort().map((status) => [status, answers(ErrorBody, reasons[status] ?? 'Refused.')]),
  );
}

/** The idempotency key of a request, if it has one. */
export function idempotencyKey(context: Context): string | undefined {
  return context.req.header('Idempotency-Key');
}

/**
 * Runs a command. Where it is refused, the refusal tells the place in this API's request; `paths` says what has another place
 * there (input-paths.ts).
 */
export async function command<Row>(
  context: Context,
  paths: PathTable,
  act: (idempotencyKey: string | undefined) => Promise<CommandResult<Row>>,
): Promise<Row> {
  const done = await inRequest([...keyPaths, ...paths], act(idempotencyKey(context)));
  context.set('tookEffect', true);
  if (done.replayed) context.header('Idempotency-Replayed', 'true');
  return done.row;
}

/** What the domain answers, or its refusal with the place in this API's request. */
export async function inRequest<Answer>(paths: PathTable, answer: Promise<Answer>): Promise<Answer> {
  return answer.catch((error: unknown) => {
    const path = error instanceof Refusal ? error.details.path : undefined;
    if (!(error instanceof Refusal) || !path) throw error;
    throw new Refusal(
      error.code,
      error.message,
      { ...error.details, path: translatePath(path, paths) },
      error.replayed,
    );
  });
}
