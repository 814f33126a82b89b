import { z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { keyInHeader } from '../../core/idempotency.ts';
import { type Expecting, type PathTable, Refusal, translatePath } from '../../core/refusal.ts';
import {
  authorize,
  changesRecord,
  type Operation,
  requirePermission,
  showsExisting,
} from '../../domain/access/operations.ts';
import type { Viewer } from '../../domain/access/viewer.ts';
import type { CommandResult } from '../../domain/commands/command.ts';
import { demandedVersion, setTag } from './entity-tags.ts';
import type { RestEnvironment } from './environment.ts';
import { ErrorBody } from './errors.ts';
import { headerPaths } from './input-paths.ts';
import { onReplicas } from './replica-reads.ts';

// Defines the common parts of the endpoints.

interface Documentation {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly description?: string;
}

/** The documentation of a command. Its id defaults to the command's name. */
type CommandDocumentation = Omit<Documentation, 'operationId'> & { readonly operationId?: string };

/** Defines an endpoint that reads: any token with VIEW may call it. */
export function viewEndpoint(documentation: Documentation) {
  return { ...documentation, middleware: [allow((viewer) => requirePermission(viewer, 'VIEW')), onReplicas] };
}

/** Defines an endpoint that looks something up elsewhere and stores the result: any token with VIEW may call it. */
export function lookupEndpoint(documentation: Documentation) {
  return { ...documentation, middleware: [allow((viewer) => requirePermission(viewer, 'VIEW'))] };
}

/**
 * Defines an endpoint that changes something.
 * @param operation the command's name in every API, which determines its permission and the scope of its idempotency
 *   keys (decision 6)
 */
export function commandEndpoint(operation: Operation, documentation: CommandDocumentation) {
  return {
    operationId: operation,
    ...documentation,
    parameters: [
      { $ref: '#/components/parameters/IdempotencyKey' },
      ...(changesRecord(operation) ? [ifMatchParameter] : []),
    ],
    middleware: [mayRun(operation)],
  };
}

/** Defines an endpoint that changes the platform's settings: it takes no idempotency key. */
export function settingsEndpoint(operation: Operation, documentation: Documentation) {
  return { ...documentation, parameters: [ifMatchParameter], middleware: [mayRun(operation)] };
}

const ifMatchParameter = { $ref: '#/components/parameters/IfMatch' };

/** Refuses a viewer who may not run an operation, or may not see the record in its response (decision 62). */
function mayRun(operation: Operation): MiddlewareHandler<RestEnvironment> {
  return allow((viewer) => {
    authorize(viewer, operation);
    if (showsExisting(operation)) requirePermission(viewer, 'VIEW');
  });
}

/** Defines an endpoint that changes something and has an `optionalBody`. */
export function commandEndpointWithOptionalBody(operation: Operation, documentation: CommandDocumentation) {
  const { middleware, ...rest } = commandEndpoint(operation, documentation);
  return { ...rest, middleware: [...middleware, acceptNoBody] };
}

/** Defines an endpoint of credentials: any token with MANAGE may call it. */
export function managementEndpoint(documentation: Documentation) {
  return { ...documentation, middleware: [allow((viewer) => requirePermission(viewer, 'MANAGE'))] };
}

/** Refuses a viewer before the request is validated: only permitted callers learn what is wrong with it. */
function allow(check: (viewer: Viewer) => void): MiddlewareHandler<RestEnvironment> {
  return async (context, next) => {
    check(context.get('viewer'));
    await next();
  };
}

/** Accepts an empty body with a content type, which many clients send: there is no JSON to parse. */
const acceptNoBody: MiddlewareHandler<RestEnvironment> = async (context, next) => {
  if (!context.req.raw.body) context.req.raw.headers.delete('content-type');
  await next();
};

/** The query of endpoints without parameters: every parameter is refused as unknown (decision 17). */
export const noQuery = z.strictObject({});

export function jsonResponse<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

const tagHeader = {
  ETag: z
    .string()
    .optional()
    .describe('The entity tag of the record, for If-Match; it changes whenever the record does.'),
};

/** Defines a successful response with a record that has an entity tag. */
export function taggedResponse<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { ...jsonResponse(schema, description), headers: z.object(tagHeader) };
}

const replayHeader = z.object({
  'Idempotency-Replayed': z
    .literal('true')
    .optional()
    .describe('Present if this response repeats that of the first request with the idempotency key.'),
});

/** Defines a command's successful response, with the header that marks a repeated one. */
export function commandResponse<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { ...jsonResponse(schema, description), headers: replayHeader.extend(tagHeader) };
}

/** Defines a command's successful response without a body. */
export function emptyCommandResponse(description: string) {
  return { description, headers: replayHeader };
}

export function body<Schema extends z.ZodType>(schema: Schema) {
  return { required: true as const, content: { 'application/json': { schema } } };
}

/** Defines an optional JSON body: a request without one is equivalent to `{}`. */
export function optionalBody<Schema extends z.ZodType>(schema: Schema) {
  return { required: false as const, content: { 'application/json': { schema } } };
}

const reasons: Readonly<Record<number, string>> = {
  400: 'The request is malformed or not possible; `details.errors` lists every invalid field.',
  401: 'Credentials are missing or wrong.',
  403: 'The token, or the customer concerned, may not do this.',
  404: 'An object in the request does not exist, or belongs to another platform.',
  405: 'The path does not support this method; `Allow` lists the supported methods.',
  409: 'The request conflicts with existing data or with an earlier change.',
  410: 'The customer has been deleted.',
  412: 'The record no longer has the entity tag in `If-Match`: the code is CONFLICT, and `details` has its `version`.',
  413: 'The body has more than 102400 bytes.',
  415: 'The body is not application/json in UTF-8, or it has a `Content-Encoding`.',
  422: 'The idempotency key was already used with different input.',
  429: 'Too many requests, or too many wrong credentials from this address; nothing has happened, and `Retry-After` says when to try again.',
  500: 'Internal error; nothing has changed. The same request may succeed later.',
  501: 'The request uses a feature that this service does not offer.',
  503: 'Not possible at the moment, and nothing has changed; `Retry-After` says when to try again.',
  504: 'The outcome is unknown: the request may or may not have taken effect. Send it again with the same `Idempotency-Key` to find out.',
};

type ErrorStatus = 404 | 409 | 410 | 412 | 413 | 415 | 501 | 504;

/** Defines an endpoint's error responses, including the common ones. Handlers throw them; no result type has them. */
export function readErrors(...statuses: ErrorStatus[]): Record<never, never> {
  return errorsOf([400, 401, 403, 429, 500, 503, ...statuses]);
}

/** Defines a command's error responses, like `readErrors`: the given ones, and those that every command has. */
export function commandErrors(...statuses: ErrorStatus[]): Record<never, never> {
  return errorsOf([400, 401, 403, 409, 413, 415, 422, 429, 500, 503, 504, ...statuses]);
}

function errorsOf(statuses: readonly number[]): Record<never, never> {
  return Object.fromEntries(
    [...new Set(statuses)].sort().map((status) => [status, jsonResponse(ErrorBody, reasons[status] ?? 'Refused.')]),
  );
}

/**
 * Runs the command of a request and returns its row.
 * @param paths the paths of fields that differ between the request and the command's input (input-paths.ts)
 * @throws Refusal of the command, with the path in the request
 */
export async function command<Row>(
  context: Context<RestEnvironment>,
  paths: PathTable,
  run: (idempotencyKey: string | undefined, viewer: Viewer, expecting: Expecting) => Promise<CommandResult<Row>>,
): Promise<Row> {
  const expecting = { expectedVersion: demandedVersion(context) };
  const done = run(keyInHeader(context.req.header('Idempotency-Key')), context.get('viewer'), expecting);
  const result = await withRequestPaths(paths, done);
  context.set('tookEffect', true);
  if (result.replayed) context.header('Idempotency-Replayed', 'true');
  const { row } = result;
  if (typeof row === 'object' && row !== null && 'version' in row) setTag(context, Number(row.version));
  return row;
}

/** Awaits a result of the domain. Changes the path of a refusal to that of the field in the request. */
export async function withRequestPaths<Result>(paths: PathTable, result: Promise<Result>): Promise<Result> {
  return result.catch((error: unknown) => {
    const path = error instanceof Refusal ? error.details.path : undefined;
    if (!(error instanceof Refusal) || !path) throw error;
    const { errors } = error.details;
    throw new Refusal(
      error.code,
      error.message,
      {
        ...error.details,
        path: translatePath(path, [...headerPaths, ...paths]),
        ...(errors && { errors: errors.map((one) => ({ ...one, path: translatePath(one.path, paths) })) }),
      },
      error.replayed,
    );
  });
}
