import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { HonoRequest } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Logger } from 'pino';
import { InexactJson, parseJson, withoutNulls } from '../../core/json.ts';
import { outsideWait } from '../../core/outside-wait.ts';
import { invalid } from '../../core/refusal.ts';
import type { Credentials } from '../../domain/access/tokens/credentials.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import type { Replicas } from '../../infra/database/replicas/replicas.ts';
import { requestSeconds } from '../../infra/instruments/instruments.ts';
import { noteOperation } from '../../infra/instruments/request-facts.ts';
import { acceptsGzip, sendAnswer } from '../http/bodies/answer.ts';
import { bodyText } from '../http/bodies/body.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { type RestApp, type RestEnvironment, restPrefix } from './context.ts';
import { restDocument } from './document.ts';
import { Endpoints } from './endpoint.ts';
import { externalAccountEndpoints, internalAccountEndpoints } from './endpoints/accounts.ts';
import { configEndpoints } from './endpoints/config.ts';
import { customerEndpoints } from './endpoints/customers.ts';
import { exchangeRateEndpoints } from './endpoints/exchange-rates.ts';
import { quoteEndpoints } from './endpoints/quotes.ts';
import { receiverEndpoints } from './endpoints/receivers.ts';
import { sandboxEndpoints } from './endpoints/sandbox.ts';
import { statementEndpoints } from './endpoints/statements.ts';
import { tokenEndpoints } from './endpoints/tokens.ts';
import { transactionEndpoints, transferEndpoints } from './endpoints/transactions.ts';
import { type DocumentModules, trustedDocumentEndpoints } from './endpoints/trusted-documents.ts';
import { webhookEndpoints } from './endpoints/webhooks.ts';
import { inexactBody, invalidRequest, presentError, RestError } from './errors.ts';

interface RestOptions extends DocumentModules {
  readonly webhooks: Webhooks;
  readonly credentials: Credentials;
  readonly replicas: Replicas | undefined;
  readonly bodyBytes: number;
  /** Whether the OpenAPI document and its console are public. */
  readonly openapi: boolean;
}

export type RestServer = ReturnType<typeof createRestServer>;

/** Creates the REST server. It receives each request's body as a buffer, or undefined if the body was too long. */
export function createRestServer(options: RestOptions) {
  const { webhooks, credentials, replicas, bodyBytes, openapi } = options;
  const { payments } = webhooks;
  const root = rootApp(payments.log);
  root.use('*', async (context, next) => {
    // Metrics are labeled with the route's pattern, because paths would create too many labels.
    const path = matchedRoutes(context).findLast((route) => !route.path.endsWith('*'))?.path ?? 'none';
    const operation = `${context.req.method} ${path}`;
    noteOperation(operation);
    const end = requestSeconds.startTimer({ api: 'rest', operation });
    await next();
    end({ code: String(context.res.status) });
  });
  const app = root.basePath(restPrefix);
  // The document needs no credentials, because it contains no platform data. It is built on the first request, because
  // building it takes as long as the rest of startup.
  let document: string | undefined;
  if (openapi) {
    app.get('/openapi.json', (context) => {
      document ??= JSON.stringify(restDocument(app));
      return context.body(document, 200, { 'content-type': 'application/json' });
    });
  }

  app.use('*', async (context, next) => {
    const viewer = await credentials.authenticate(context.req.header('authorization'));
    if (viewer?.kind !== 'PLATFORM') {
      throw new RestError('UNAUTHORIZED', 'send Authorization: Basic base64(clientId:secret), with valid credentials', {
        headers: { 'WWW-Authenticate': 'Basic realm="payments", charset="UTF-8"' },
      });
    }
    if (viewer.documents.length > 0)
      throw new RestError('FORBIDDEN', 'this token may send only its registered documents, over GraphQL or /mcp');
    context.set('viewer', viewer);
    context.set('cursors', payments.cursors);
    context.set('replicas', replicas);
    await asPlatform(viewer.platformId, next);
  });
  app.use('*', async (context, next) => {
    if (context.env.bodyTooLarge) {
      throw new RestError('PAYLOAD_TOO_LARGE', `a request body may have at most ${bodyBytes} bytes`);
    }
    if (context.req.header('X-Idempotency-Key') !== undefined) {
      const message = 'is unknown: use the header Idempotency-Key';
      const errors = [{ field: 'X-Idempotency-Key', constraint: 'unknown', message }];
      throw new RestError('INVALID_INPUT', `X-Idempotency-Key ${message}`, { errors });
    }
    for (const [name, values] of Object.entries(context.req.queries()))
      if (values.join().includes('\0')) throw invalid('the text must not contain NUL characters', [name]);
    if (context.req.raw.body) await readJson(context.req);
    await next();
  });
  const tagged = (tag: string) => new Endpoints(app, tag);
  // Fixed paths must precede those with a parameter in the same segment.
  internalAccountEndpoints(tagged('Internal accounts'), payments);
  externalAccountEndpoints(tagged('External accounts'), payments);
  statementEndpoints(tagged('Internal accounts'), payments);
  // Refuse other methods on these paths here, because otherwise DELETE /customers/external-accounts would be
  // handled as the deletion of a customer with that id.
  refuseOtherMethods(app);
  customerEndpoints(tagged('Customers'), payments);
  quoteEndpoints(tagged('Quotes'), payments);
  transactionEndpoints(tagged('Transactions'), payments);
  transferEndpoints(tagged('Transfers'), payments);
  exchangeRateEndpoints(tagged('Exchange rates'), payments);
  receiverEndpoints(tagged('Receivers'), payments);
  configEndpoints(tagged('Platform'), webhooks);
  webhookEndpoints(tagged('Webhooks'), webhooks);
  tokenEndpoints(tagged('Tokens'), payments);
  trustedDocumentEndpoints(tagged('Trusted documents'), options);
  sandboxEndpoints(tagged('Sandbox'), payments);
  refuseOtherMethods(app);
  return (response: ServerResponse, body: Buffer | undefined) => answerByFetch(root.fetch, response, body);
}

/** Creates the router for all paths. It throws validation errors, so that one function formats all errors. */
function rootApp(log: Logger): RestApp {
  const root = new OpenAPIHono<RestEnvironment>({
    defaultHook: (result) => {
      if (result.success) return;
      const data = 'data' in result ? result.data : undefined;
      throw invalidRequest(result.error.issues, data, result.target === 'json');
    },
  });
  root.onError((error, context) => presentError(error, context, log));
  root.notFound((context) =>
    presentError(new RestError('NOT_FOUND', `there is nothing at ${context.req.path}`), context, log),
  );
  return root;
}

/** Parses the body, and makes the result available to validation. */
async function readJson(request: HonoRequest): Promise<void> {
  const text = bodyText(new Uint8Array(await request.arrayBuffer()));
  if (text === undefined) throw new RestError('INVALID_REQUEST_FORMAT', 'the body is not valid UTF-8');
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw inexactBody(error);
    throw new RestError('INVALID_REQUEST_FORMAT', 'the body is not well-formed JSON');
  }
  // Null members are equivalent to absent ones, except in a PATCH, where they clear fields whose schemas allow that.
  const json = request.method === 'PATCH' ? parsed : withoutNulls(parsed);
  request.json = async <T>() => json as T;
}

/** Responds with 405 to other methods on the paths that have been added so far. */
function refuseOtherMethods(app: RestApp): void {
  const routes = app.routes.filter(({ method }) => method !== 'ALL');
  for (const [path, ofPath] of Map.groupBy(routes, (route) => route.path)) {
    const allowed = [...new Set(ofPath.map(({ method }) => method))].join(', ');
    app.all(path.slice(restPrefix.length), () => {
      throw new RestError('METHOD_NOT_ALLOWED', `this path allows only ${allowed}`, { headers: { Allow: allowed } });
    });
  }
}

/** The Request class does not allow these methods. They are handled as OPTIONS, which no path supports either. */
const forbiddenMethods: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/** Responds to a `node:http` request through a fetch handler. The body is undefined if it was too long. */
async function answerByFetch(handle: RestApp['fetch'], response: ServerResponse, body: Buffer | undefined) {
  const { req: incoming } = response;
  const isHead = incoming.method === 'HEAD';
  // HEAD is handled as GET, so that the response has the same Content-Length (RFC 9110, 8.6). Hono's own handling of
  // HEAD would drop the body, whose length is needed.
  const method = isHead ? 'GET' : forbiddenMethods.has(incoming.method ?? '') ? 'OPTIONS' : incoming.method;
  const hasBody = body !== undefined && body.length > 0 && method !== 'GET';
  // No handler uses the host, which the client can set to anything.
  const request = new Request(`http://localhost${incoming.url}`, {
    method,
    // Admission has checked the body's media type. The router's own check would refuse some valid JSON media types.
    headers: Object.entries({ ...incoming.headers, ...(hasBody && { 'content-type': 'application/json' }) }).map(
      ([name, value]): [string, string] => [name, String(value)],
    ),
    ...(hasBody && { body: new Uint8Array(body) }),
  });
  const answer = await handle(request, { bodyTooLarge: body === undefined });
  const headers = Object.fromEntries(answer.headers);
  if (answer.status === 204) {
    // A 204 response has neither a body nor a Content-Length (RFC 9110, 8.6).
    response.writeHead(204, headers).end();
    return;
  }
  if (answer.body && streamedTypes.test(answer.headers.get('content-type') ?? '')) {
    const compresses = acceptsGzip(incoming);
    response.writeHead(answer.status, { ...headers, ...(compresses && { 'content-encoding': 'gzip' }) });
    if (isHead) return answer.body.cancel().then(() => void response.end());
    return sendStream(compresses ? answer.body.pipeThrough(new CompressionStream('gzip')) : answer.body, response);
  }
  // Node sends no body in response to HEAD.
  await sendAnswer(response, { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) });
}

/** The media types of exports, which can be of any length. */
const streamedTypes = /^(text\/csv|application\/xml)\b/;

/** How long to wait for a client that reads nothing from a stream, in milliseconds. */
const drainMs = 60_000;

/**
 * Sends a body as fast as the client reads it. The connection is closed early if reading the body fails or the client
 * reads nothing for `drainMs`.
 */
async function sendStream(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const closing = new AbortController();
  response.once('close', () => closing.abort());
  for await (const chunk of body) {
    if (response.destroyed) return;
    if (response.write(chunk)) continue;
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(drainMs)]);
    await outsideWait(once(response, 'drain', { signal })).catch(() => response.destroy());
  }
  response.end();
}
