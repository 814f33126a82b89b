import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HonoRequest } from 'hono';
import type { Logger } from 'pino';
import type { ApiTokens } from '../access/api-tokens.ts';
import { bodyText, unsupportedBody } from '../bodies/body.ts';
import { parseJson } from '../bodies/json.ts';
import { newRestApp, type RestApp, type RestRooms, restPrefix } from './app.ts';
import { restDocument } from './document.ts';
import { documentPage } from './document-page.ts';
import { configEndpoints } from './endpoints/config.ts';
import { customerEndpoints } from './endpoints/customers.ts';
import { exchangeRateEndpoints } from './endpoints/exchange-rates.ts';
import { externalAccountEndpoints } from './endpoints/external-accounts.ts';
import { internalAccountEndpoints } from './endpoints/internal-accounts.ts';
import { quoteEndpoints } from './endpoints/quotes.ts';
import { receiverEndpoints } from './endpoints/receivers.ts';
import { sandboxEndpoints } from './endpoints/sandbox.ts';
import { tokenEndpoints } from './endpoints/tokens.ts';
import { transactionEndpoints } from './endpoints/transactions.ts';
import { transferEndpoints } from './endpoints/transfers.ts';
import { webhookEndpoints } from './endpoints/webhooks.ts';
import { presentError, RestError } from './errors.ts';
import { answerByFetch } from './node-adapter.ts';
import { checkStorable, checkStorableQuery } from './text.ts';

/** What the REST server needs. */
export interface RestOptions extends RestRooms {
  readonly tokens: ApiTokens;
  /** The most bytes that a body may have. */
  readonly bodyBytes: number;
  readonly log: Logger;
}

/** Answers a request below `/2025-10-13` whose body has been read; undefined stands for one that was too long. */
export type RestServer = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | undefined,
) => Promise<void>;

/** The REST interface (specification 4), an API of its own over the same domain as GraphQL. */
export function createRestServer(options: RestOptions): RestServer {
  const app = restApp(options);
  return (request, response, body) => answerByFetch(app.fetch, request, response, body);
}

function restApp({ payments, webhooks, tokens, bodyBytes, log }: RestOptions): RestApp {
  const root = newRestApp();
  root.onError((error, context) => presentError(error, context, log));
  root.notFound((context) =>
    presentError(new RestError('NOT_FOUND', `there is nothing at ${context.req.path}`), context, log),
  );

  const app = root.basePath(restPrefix);
  // The document and its page are for everybody: they tell nothing about any platform. Both are made once.
  let document: ReturnType<typeof restDocument>;
  let page: ReturnType<typeof documentPage>;
  app.get('/openapi.json', (context) => context.json(document));
  app.get('/docs', (context) => context.html(page));

  app.use('*', async (context, next) => {
    const viewer = await tokens.authenticate(context.req.header('authorization'));
    if (!viewer) {
      throw new RestError('UNAUTHORIZED', 'send Authorization: Basic base64(clientId:secret), with good credentials', {
        headers: { 'WWW-Authenticate': 'Basic realm="payments", charset="UTF-8"' },
      });
    }
    context.set('viewer', viewer);
    await next();
  });
  app.use('*', async (context, next) => {
    checkBodyHeaders(context.req.raw.headers);
    if (context.env.bodyTooLarge) {
      throw new RestError('PAYLOAD_TOO_LARGE', `a request body has at most ${bodyBytes} bytes`);
    }
    checkStorableQuery(context.req.queries());
    if (context.req.raw.body) checkStorable(await readJson(context.req));
    await next();
  });
  // Fixed paths before those with a parameter in the same place.
  internalAccountEndpoints(app, payments);
  externalAccountEndpoints(app, payments);
  // And their other methods too, or DELETE /customers/external-accounts would delete a customer of that name.
  refuseOtherMethods(app);
  customerEndpoints(app, payments);
  quoteEndpoints(app, payments);
  transactionEndpoints(app, payments);
  transferEndpoints(app, payments);
  exchangeRateEndpoints(app, payments);
  receiverEndpoints(app, payments);
  configEndpoints(app, { payments, webhooks });
  webhookEndpoints(app, webhooks);
  tokenEndpoints(app, payments);
  sandboxEndpoints(app, payments);
  refuseOtherMethods(app);
  document = restDocument(app);
  page = documentPage(document);
  return root;
}

/** The parsed body, which the validation that follows takes as it is read here. */
async function readJson(request: HonoRequest): Promise<unknown> {
  const text = bodyText(new Uint8Array(await request.arrayBuffer()));
  if (text === undefined) throw new RestError('INVALID_REQUEST_FORMAT', 'the body is not text in UTF-8');
  const json = jsonIn(text);
  request.json = async <T>() => json as T;
  return json;
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new RestError('INVALID_REQUEST_FORMAT', 'the body is not well-formed JSON');
  }
}

/** A body is JSON: forms and plain text are what a foreign page can send without asking first. */
function checkBodyHeaders(headers: Headers): void {
  const length = headers.get('content-length');
  const hasBody = headers.has('transfer-encoding') || (length !== null && length !== '0');
  if (!hasBody) return;
  const unsupported = unsupportedBody({ type: headers.get('content-type'), encoding: headers.get('content-encoding') });
  if (unsupported) {
    throw new RestError('INVALID_REQUEST_FORMAT', unsupported.message, { status: 415, headers: unsupported.headers });
  }
}

/** Answers 405 where a path added so far is known but not with this method. */
function refuseOtherMethods(app: RestApp): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const known = methods.get(path) ?? new Set();
    methods.set(path, known.add(method));
  }
  for (const [path, known] of methods) {
    app.all(path.slice(restPrefix.length), () => {
      throw new RestError('METHOD_NOT_ALLOWED', `this path has ${[...known].join(', ')}`, {
        headers: { Allow: [...known].join(', ') },
      });
    });
  }
}
