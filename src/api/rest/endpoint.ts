import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { keyInHeader } from '../../core/idempotency.ts';
import { type IdType, uuidOf } from '../../core/ids.ts';
import {
  type Expecting,
  invalid,
  type PathTable,
  Refusal,
  type RefusalCode,
  translatePath,
} from '../../core/refusal.ts';
import type { Viewer } from '../../domain/access/caller.ts';
import {
  authorize,
  changesRecord,
  type Operation,
  requirePermission,
  showsExisting,
} from '../../domain/access/operations.ts';
import type { CommandResult } from '../../domain/commands/command.ts';
import { demandedTag, ifMatch, onReplicas, type RestApp, type RestEnvironment, setTag, versionIn } from './context.ts';
import { ErrorBody, errorCodes, errorStatuses, invalidRequest } from './errors.ts';
import { examplesOf } from './examples.ts';

type RestContext = Context<RestEnvironment>;
type ErrorStatus = 404 | 409 | 410 | 412 | 413 | 415 | 501 | 504;

/** The input fields that REST requests send as headers, whatever the command. */
const headerPaths: PathTable = [
  [['idempotencyKey'], ['Idempotency-Key']],
  [['expectedVersion'], [ifMatch]],
];

interface Endpoint<Params, Query, Body> {
  readonly summary: string;
  readonly description: string;
  /** The method (GET by default) and the path. */
  readonly at: string;
  readonly params?: z.ZodType<Params>;
  /** The query parameters. Any other parameter is refused as unknown. */
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Whether a missing body is equivalent to `{}`. */
  readonly isBodyOptional?: true;
  /** The possible errors, in addition to those of every endpoint. */
  readonly errors?: readonly ErrorStatus[];
}

interface ServedEndpoint<Params, Query, Body, Item> extends Endpoint<Params, Query, Body> {
  /** The permission that callers need; VIEW by default. */
  readonly access?: keyof typeof accesses;
  /** The operation that callers must be allowed to run; replaces `access`. */
  readonly operation?: Operation;
  /** The schema of the response (`null` if it has no body) and its description. */
  readonly answer: readonly [z.ZodType<Item> | null, string];
  /** Whether the response has an entity tag, which `run` sets. */
  readonly isTagged?: true;
  readonly parameters?: RouteConfig['parameters'];
  readonly run: (given: Params & Query & Body, context: RestContext) => Promise<Item>;
}

interface RecordEndpoint<Row extends { readonly version: number }, Item>
  extends Pick<
    ServedEndpoint<unknown, unknown, unknown, Item>,
    'summary' | 'description' | 'at' | 'access' | 'answer'
  > {
  readonly params: z.ZodObject;
  readonly type: IdType;
  /** Reads the row with this uuid, if the caller may see it. */
  readonly find: (viewer: Viewer, id: string) => Promise<Row | null>;
  /** The error code and message if there is no such row. */
  readonly missing: readonly [RefusalCode, string];
  readonly record: (row: Row) => Item;
}

interface CommandEndpoint<Params, Query, Body, Row, Item> extends Endpoint<Params, Query, Body> {
  /** The operation id in the document; the command's name by default. */
  readonly operationId?: string;
  /** The status of the successful response, its schema (`null` if it has no body) and its description. */
  readonly answer: readonly [200 | 201, z.ZodType<Item>, string] | readonly [204, null, string];
  /** Whether the response contains a secret and therefore cannot be replayed. */
  readonly isSecret?: true;
  /** The paths that differ between the command's input and the request, in pairs with the input's path first. */
  readonly paths?: PathTable;
  /** The possible errors besides those of every command; 404 by default, because most inputs refer to an object. */
  readonly errors?: readonly ErrorStatus[];
  /** Runs the command. `given` contains the expected version if the command changes a record. */
  readonly run: (
    given: Params & Query & Body & Expecting,
    caller: { viewer: Viewer; key: string | undefined },
  ) => Promise<CommandResult<Row>>;
  readonly record?: (row: Row) => Item | Promise<Item>;
}

interface RoutedEndpoint<Params, Query, Body>
  extends Omit<Endpoint<Params, Query, Body>, 'errors'>,
    Pick<RouteConfig, 'responses' | 'parameters'> {
  readonly middleware: MiddlewareHandler<RestEnvironment>[];
  readonly handle: (given: Params & Query & Body, context: RestContext) => Promise<Response>;
}

/** The access checks for endpoints that run no command. A `LOOKUP` stores its result, so it cannot use a replica. */
export const accesses = {
  VIEW: [allow((viewer) => requirePermission(viewer, 'VIEW')), onReplicas],
  LOOKUP: [allow((viewer) => requirePermission(viewer, 'VIEW'))],
  MANAGE: [allow((viewer) => requirePermission(viewer, 'MANAGE'))],
};

export const ifMatchParameter = { $ref: '#/components/parameters/IfMatch' };

/** Adds endpoints under one tag, each with its schemas, documentation and handler. */
export class Endpoints {
  readonly #app: RestApp;
  readonly #tags: string[];

  constructor(app: RestApp, tag: string) {
    this.#app = app;
    this.#tags = [tag];
  }

  /** Adds an endpoint that runs no command. */
  serve<Params, Query, Body, Item>(operationId: string, endpoint: ServedEndpoint<Params, Query, Body, Item>): void {
    const { answer, access = 'VIEW', operation, isTagged, errors = [], run } = endpoint;
    const [schema, about] = answer;
    this.add(operationId, {
      ...endpoint,
      middleware: operation ? [mayRun(operation)] : accesses[access],
      responses: {
        [schema ? 200 : 204]: response(schema, about, isTagged && tagHeader),
        ...errorResponses(...errors),
      },
      handle: async (given, context) => {
        const item = await run(given, context);
        return schema ? context.json(item, 200) : context.body(null, 204);
      },
    });
  }

  /** Adds an endpoint that reads the record with the id in its path. */
  readOne<Row extends { readonly version: number }, Item>(
    operationId: string,
    endpoint: RecordEndpoint<Row, Item>,
  ): void {
    const { params, type, find, missing, record } = endpoint;
    const [field = ''] = Object.keys(params.shape);
    this.serve(operationId, {
      ...endpoint,
      isTagged: true,
      errors: [404],
      run: async (given, context) => {
        const uuid = uuidOf(String(given[field]), type);
        const row = uuid ? await find(context.get('viewer'), uuid) : null;
        if (!row) throw new Refusal(...missing, { path: [field] });
        setTag(context, row.version);
        return record(row);
      },
    });
  }

  /**
   * Adds an endpoint that runs a command.
   * @param operation the command's name in every API, which determines its permission and the scope of its idempotency
   *   keys
   */
  command<Params, Query, Body, Row, Item>(
    operation: Operation,
    endpoint: CommandEndpoint<Params, Query, Body, Row, Item>,
  ): void {
    const { operationId = operation, answer, isSecret, errors = [404], paths = [], run, record } = endpoint;
    const [status, schema, about] = answer;
    const changes = changesRecord(operation);
    this.add(operationId, {
      ...endpoint,
      parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }, ...(changes ? [ifMatchParameter] : [])],
      middleware: [mayRun(operation)],
      responses: {
        [status]: response(schema, about, isSecret ? undefined : { ...replayHeader, ...(schema && tagHeader) }),
        ...errorResponses(...commandErrors, ...errors, ...(changes ? [412] : [])),
      },
      handle: async (given, context) => {
        const tag = demandedTag(context);
        const expectedVersion = tag === undefined ? undefined : versionIn(tag);
        const caller = { viewer: context.get('viewer'), key: keyInHeader(context.req.header('Idempotency-Key')) };
        const result = await withRequestPaths(paths, run({ ...given, ...(changes && { expectedVersion }) }, caller));
        context.set('tookEffect', true);
        if (result.replayed) context.header('Idempotency-Replayed', 'true');
        const { row } = result;
        if (typeof row === 'object' && row !== null && 'version' in row) setTag(context, Number(row.version));
        return status === 204 ? context.body(null, 204) : context.json(await record?.(row), status);
      },
    });
  }

  add<Params, Query, Body>(operationId: string, endpoint: RoutedEndpoint<Params, Query, Body>): void {
    const { summary, description, at, params, query, body, isBodyOptional, parameters, responses, middleware, handle } =
      endpoint;
    const [path = '', method = 'get'] = at.split(' ').reverse();
    const checks = [...middleware];
    if (method !== 'get') checks.push(refusePreconditions(parameters?.includes(ifMatchParameter) ?? false));
    if (isBodyOptional) checks.push(acceptNoBody);
    else if (!body) checks.push(refuseFields);
    const route = createRoute({
      ...{ operationId, tags: this.#tags, summary, description, responses },
      ...(parameters && { parameters }),
      middleware: checks,
      // The compiler cannot infer Hono's types from the method and schemas of an arbitrary endpoint.
      method: method as 'get',
      path,
      request: {
        ...(params && { params: params as z.ZodObject }),
        query: (query ?? noFields) as z.ZodObject,
        ...(body && {
          body: {
            required: !isBodyOptional,
            content: { 'application/json': { schema: body, examples: examplesOf(operationId) } },
          },
        }),
      },
    });
    // The route above validates the parts of the request, but the compiler cannot infer their types either.
    const valid = (context: RestContext, target: string): object => context.req.valid(target as never);
    const given = (context: RestContext) =>
      ({ ...valid(context, 'param'), ...valid(context, 'query'), ...valid(context, 'json') }) as Params & Query & Body;
    this.#app.openapi(route, ((context: RestContext) => handle(given(context), context)) as never);
  }
}

/** Checks permissions before validation, so that only permitted callers learn what is wrong with a request. */
function allow(check: (viewer: Viewer) => void): MiddlewareHandler<RestEnvironment> {
  return async (context, next) => {
    check(context.get('viewer'));
    await next();
  };
}

/** Refuses a viewer who may not run an operation, or may not see the record in its response. */
function mayRun(operation: Operation): MiddlewareHandler<RestEnvironment> {
  return allow((viewer) => {
    authorize(viewer, operation);
    if (showsExisting(operation)) requirePermission(viewer, 'VIEW');
  });
}

/** Refuses the preconditions (RFC 9110, 13.1) that an endpoint does not check, so that it never acts when they fail. */
function refusePreconditions(checksIfMatch: boolean): MiddlewareHandler<RestEnvironment> {
  return async (context, next) => {
    for (const name of [...(checksIfMatch ? [] : [ifMatch]), 'If-None-Match', 'If-Unmodified-Since'])
      if (context.req.header(name) !== undefined) throw invalid(`${name} is not supported here`, [name]);
    await next();
  };
}

/** Allows any content type if the body is empty, because many clients send the header anyway. */
const acceptNoBody: MiddlewareHandler<RestEnvironment> = async (context, next) => {
  if (!context.req.raw.body) context.req.raw.headers.delete('content-type');
  await next();
};

const noFields = z.strictObject({});

/** Refuses a body with fields where none are expected. Otherwise, `expectedVersion` in a DELETE would be ignored. */
const refuseFields: MiddlewareHandler<RestEnvironment> = async (context, next) => {
  if (context.req.raw.body) {
    const json: unknown = await context.req.json();
    const { error } = noFields.nullable().safeParse(json);
    if (error) throw invalidRequest(error.issues, json, true);
  }
  await next();
};

function response(schema: z.ZodType | null, description: string, headers?: z.ZodRawShape) {
  const content = schema && { content: { 'application/json': { schema } } };
  return { description, ...content, ...(headers && { headers: z.object(headers) }) };
}

const tagHeader = {
  ETag: z
    .string()
    .optional()
    .describe('The entity tag of the record, for If-Match; it changes whenever the record does.'),
};

const replayHeader = {
  'Idempotency-Replayed': z
    .literal('true')
    .optional()
    .describe('Present if this is a replay of the response to the first request with this idempotency key.'),
};

const reasons: Readonly<Record<number, string>> = {
  400: 'The request is malformed or cannot be fulfilled; `details.errors` lists every invalid field.',
  401: 'Credentials are missing or wrong.',
  403: 'The token does not permit the operation, or a customer or account may not take part in it.',
  404: 'An object in the request does not exist, or belongs to another platform.',
  409: 'The request conflicts with existing data or with an earlier change.',
  410: 'The customer has been deleted.',
  412: 'The record no longer has the entity tag in `If-Match`; the code is CONFLICT, and `details.version` is the current version.',
  413: 'The body has more than 102400 bytes.',
  415: 'The body is not application/json in UTF-8, or it has a `Content-Encoding`.',
  422: 'The idempotency key was already used with different input.',
  429: 'Too many requests, or too many wrong credentials from this address; nothing has happened, and `Retry-After` says when to try again.',
  500: 'Internal error; nothing has changed. The same request may succeed later.',
  501: 'The request uses a feature that this service does not offer.',
  503: 'The request cannot be served at the moment, and nothing has changed; `Retry-After` says when to try again.',
  504: 'The outcome is unknown: the request may or may not have taken effect. Send it again with the same `Idempotency-Key` to find out.',
};

/** The errors of every endpoint, and the additional errors of every command. */
const commonErrors = [400, 401, 403, 429, 500, 503];
const commandErrors = [409, 413, 415, 422, 504];

/** Returns references to error responses, including the common ones. Untyped, because handlers never return errors. */
export function errorResponses(...statuses: readonly number[]): Record<never, never> {
  const all = [...new Set([...commonErrors, ...statuses])].sort();
  return Object.fromEntries(all.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]));
}

/** Documents the error responses, each with an example. */
export function documentErrors(registry: RestApp['openAPIRegistry']): void {
  registry.register('Error', ErrorBody);
  const schema = { $ref: '#/components/schemas/Error' };
  for (const [name, description] of Object.entries(reasons)) {
    const status = Number(name);
    const [reason] = description.split(/[;:] /);
    const otherwise = status === 412 ? 'CONFLICT' : 'INVALID_REQUEST_FORMAT';
    const code = errorCodes.find((one) => errorStatuses[one] === status) ?? otherwise;
    const content = { 'application/json': { schema, example: { status, code, message: reason, details: { reason } } } };
    registry.registerComponent('responses', `Error${status}`, { description, content });
  }
}

/** Converts the result of a command that returns no row: the result itself serves as the row. */
export async function asRow<Result extends { readonly replayed: boolean }>(result: Promise<Result>) {
  const row = await result;
  return { row, replayed: row.replayed };
}

/** Awaits a domain result. If it is a refusal, translates its path to the path of the same field in the request. */
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
