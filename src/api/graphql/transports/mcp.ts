import type { ServerResponse } from 'node:http';
import type { CallToolResult, Server as McpServer } from '@modelcontextprotocol/server';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { claimOf, isIdempotencyKey } from '../../../core/idempotency.ts';
import { isJsonObject } from '../../../core/json.ts';
import { oncePer } from '../../../core/once-per.ts';
import { tokenOf, type Viewer } from '../../../domain/access/caller.ts';
import { limitsAmounts } from '../../../domain/policies/policies.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import { requestSeconds } from '../../../infra/instruments/instruments.ts';
import { noteOperation } from '../../../infra/instruments/request-facts.ts';
import { sendAnswer } from '../../http/bodies/answer.ts';
import {
  confirmationArgument,
  type PaymentPlaces,
  type Tool,
  toolsOf,
  valueAt,
  withValueAt,
} from '../documents/tools.ts';
import { badRequest, failure } from '../failure.ts';
import { answerOf } from '../server/http-answer.ts';
import type { Operations } from '../server/operations.ts';
import { presentError } from '../server/present-error.ts';
import { readJson } from '../server/read-operation.ts';
import { type GraphqlOptions, unauthenticated } from '../server/server.ts';

export type McpEndpoint = (response: ServerResponse, body: Buffer) => Promise<void>;

interface McpOptions extends Pick<GraphqlOptions, 'payments' | 'trusted' | 'credentials' | 'log'> {
  readonly schema: GraphQLSchema;
  readonly operations: Operations;
  readonly version: string;
}

/** How long after its validation a payment can be confirmed, in milliseconds. */
const confirmableMs = 600_000;

const instructions =
  'Each tool is an operation that the owner of the payments has registered. A tool that moves money first validates the payment and returns its price and a confirmation. To pay, call it again with the same arguments and that confirmation.';

const knownMethods = ['initialize', 'server/discover', 'ping', 'tools/list', 'tools/call'];

/**
 * Serves the Model Context Protocol (streamable HTTP, without sessions). The tools are the operations in the token's
 * own documents, and nothing else is offered. A tool runs like any GraphQL operation (server/operations.ts) and returns
 * the text of the response.
 */
export function createMcpEndpoint(options: McpOptions): McpEndpoint {
  const { log } = options;
  return async (response, body) => {
    try {
      if (response.req.method !== 'POST') {
        const notAllowed = { code: 'METHOD_NOT_ALLOWED', status: 405, headers: { allow: 'POST' } };
        throw badRequest('send each message by POST: there are no sessions or streams', notAllowed);
      }
      const caller = await callerOf(options, response);
      const message = messageIn(body);
      const operation = `mcp ${knownMethods.includes(message.method) ? message.method : 'other'}`;
      noteOperation(operation);
      const end = requestSeconds.startTimer({ api: 'mcp', operation });
      await answerMessage(caller, response, message);
      end({ code: String(response.statusCode) });
    } catch (error) {
      // If the deadline has passed, a response has already been sent.
      if (response.headersSent) throw error;
      await sendAnswer(response, answerOf({ errors: [presentError(error, log)] }, 'application/json'));
    }
  };
}

function messageIn(body: Buffer) {
  const json = readJson(body);
  if (!isJsonObject(json) || typeof json.method !== 'string')
    throw badRequest('a request must be one JSON-RPC message; batches are not supported');
  return { ...json, method: json.method };
}

interface ToolCaller extends McpOptions {
  readonly viewer: Viewer;
  readonly tools: readonly Tool[];
  /** Returns the result of a call, and whether the call only validated a payment. */
  readonly run: (
    tool: Tool,
    variables: Record<string, unknown>,
  ) => Promise<{ readonly result: CallToolResult; readonly isValid: boolean }>;
}

/** Finds the tools for a request's token. Throws a GraphQLError or a Refusal for a token that cannot have any. */
async function callerOf(options: McpOptions, response: ServerResponse): Promise<ToolCaller> {
  const { credentials, payments, operations } = options;
  const { authorization } = response.req.headers;
  const viewer = await credentials.authenticate(authorization);
  if (!viewer) throw unauthenticated();
  if (viewer.documents.length === 0)
    throw forbidden('this token has no documents of its own: create a token with `documents`, which become its tools');
  const isLimited = () => asPlatform(viewer.platformId, () => limitsAmounts(payments.database, viewer));
  if (viewer.permissions.includes('TRANSACT') && !(await isLimited()))
    throw forbidden(
      `this token can move money, so it needs a policy that limits amounts: set one with setPolicy, for ${tokenOf(viewer)}`,
    );
  const run = async ({ name, text }: Tool, variables: Record<string, unknown>) => {
    const sent = { query: text, operationName: name, variables };
    const prepared = await operations.prepare({ authorization, response }, () => sent);
    const answer = 'document' in prepared ? await operations.answer(prepared) : { errors: prepared };
    const hasErrors = 'errors' in answer && answer.errors !== undefined;
    const outcome = 'document' in prepared ? prepared.contextValue.outcome : undefined;
    return {
      result: textResult([answerOf(answer, 'application/json').body], hasErrors || outcome === 'REFUSED'),
      isValid: outcome === 'VALIDATED',
    };
  };
  return { ...options, viewer, tools: await readTools(options, viewer), run };
}

const forbidden = (message: string) => failure('FORBIDDEN', message, { status: 403 });

const toolsIn = oncePer((document: DocumentNode, schema: GraphQLSchema, text: string) =>
  toolsOf({ schema, document, text }),
);

/** Returns the operations in a viewer's own documents. Deleted documents are omitted. */
async function readTools({ trusted, operations, schema }: McpOptions, { platformId, documents }: Viewer) {
  const tools: Tool[] = [];
  for (const hash of documents) {
    const text = await trusted.find(platformId, hash);
    if (text === undefined) continue;
    const problem = operations.documents.problemIn(text);
    if (problem !== undefined) throw forbidden(`document ${hash} can no longer be executed: ${problem}`);
    const document = operations.documents.parse(text);
    tools.push(...toolsIn(document, schema, text));
  }
  const twice = tools.find(({ name }, at) => tools.findIndex((tool) => tool.name === name) !== at);
  if (twice) throw forbidden(`two documents of this token have an operation named ${twice.name}`);
  return tools;
}

/** Responds to a message through the SDK, which is loaded on first use because most instances serve no agents. */
async function answerMessage(caller: ToolCaller, response: ServerResponse, message: { readonly method: string }) {
  const sdk = await import('@modelcontextprotocol/server');
  const serve = () => {
    const server = new sdk.Server(
      { name: 'payments', version: caller.version },
      { capabilities: { tools: {} }, instructions },
    );
    serveTools(server, caller, (text) => new sdk.ProtocolError(sdk.INVALID_PARAMS, text));
    return server;
  };
  const headers = Object.entries(response.req.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const sent = new Request('http://localhost/mcp', { method: 'POST', headers });
  // Supports the protocol versions with a handshake (until 2025) and those without one.
  const isOlder = await sdk.isLegacyRequest(sent, message);
  const older = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  // Allows no subscriptions, because they would keep the request open.
  const newer = sdk.createMcpHandler(serve, { legacy: 'reject', maxSubscriptions: 0, keepAliveMs: 0 });
  if (isOlder) await serve().connect(older);
  const answer = await (isOlder ? older : { handleRequest: newer.fetch }).handleRequest(sent, { parsedBody: message });
  const type = answer.headers.get('content-type');
  await sendAnswer(response, {
    status: answer.status,
    headers: type === null ? {} : { 'content-type': type },
    body: await answer.text(),
  });
  await Promise.all([older.close(), newer.close()]);
}

function serveTools(server: McpServer, caller: ToolCaller, wrongParams: (message: string) => Error): void {
  server.setRequestHandler('tools/list', () => ({
    tools: caller.tools.map(({ name, description, inputSchema, places }) => ({
      ...{ name, description, inputSchema },
      annotations: places
        ? { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
        : { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }) => {
    const tool = caller.tools.find((one) => one.name === name);
    if (!tool) throw wrongParams(`there is no tool ${name}`);
    const unknown = Object.keys(given).find((argument) => !Object.hasOwn(tool.inputSchema.properties, argument));
    if (unknown !== undefined) throw wrongParams(`${name} has no argument ${unknown}`);
    if (!tool.places) return (await caller.run(tool, given)).result;
    const { [confirmationArgument]: confirmation, ...variables } = given;
    return pay(caller, tool, tool.places, { variables, confirmation });
  });
}

/**
 * Validates a payment, or makes it if the caller sends the confirmation of a recent validation with the same arguments.
 * If the idempotency key was already used to pay, that payment is returned, even without a confirmation, because a
 * retry must not lead to a second payment.
 */
async function pay(
  { payments: { cursors }, viewer: { platformId, tokenId }, run }: ToolCaller,
  tool: Tool,
  places: PaymentPlaces,
  { variables, confirmation }: { readonly variables: Record<string, unknown>; readonly confirmation: unknown },
): Promise<CallToolResult> {
  const { name, text } = tool;
  const given = withValueAt(variables, places.validateOnly, undefined);
  const digest = digestOf({ tokenId, name, text, given }, valueAt(given, places.idempotencyKey));
  if (digest === undefined)
    return textResult(
      [`${places.idempotencyKey.join('.')} is required: 1 to 255 printable ASCII characters without spaces`],
      true,
    );
  const sealed = typeof confirmation === 'string' ? confirmation : '';
  const [until, validated] = (cursors.read('confirmation', platformId, sealed) ?? '').split(':');
  const isConfirmed = validated === digest && Number(until) >= Date.now();
  const { result, isValid } = await run(tool, withValueAt(given, places.validateOnly, !isConfirmed));
  if (!isValid) return result;
  if (confirmation === undefined) {
    const issued = cursors.write('confirmation', platformId, `${Date.now() + confirmableMs}:${digest}`);
    const next = `Nothing was paid: the payment was only validated. To pay, call ${name} again with the same arguments and confirmation "${issued}".`;
    return { ...result, content: [...result.content, { type: 'text', text: next }] };
  }
  return textResult([notConfirmed], true);
}

const notConfirmed =
  'Nothing was paid: the confirmation is for different arguments or too old. Call without it to validate the payment again.';

/** Returns a payment's digest as a uuid, so that a cursor can contain it. Returns undefined for an invalid key. */
function digestOf(
  payment: Readonly<Record<'name' | 'tokenId' | 'text', string>> & { readonly given: object },
  key: unknown,
): string | undefined {
  if (typeof key !== 'string' || !isIdempotencyKey(key)) return undefined;
  const { hash = '' } = claimOf({}, { operation: payment.name, input: payment, idempotencyKey: key }) ?? {};
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

function textResult(texts: readonly string[], isError: boolean): CallToolResult {
  return { content: texts.map((text) => ({ type: 'text', text })), isError };
}
