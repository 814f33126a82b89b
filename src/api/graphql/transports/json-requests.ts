import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { sendAnswer } from '../../http/bodies/answer.ts';
import { bodyText } from '../../http/bodies/body.ts';
import { withoutStatus } from '../failure.ts';
import { TextAnswer } from '../reading/text-answer.ts';
import { readOperation } from '../server/read-operation.ts';
import type { GraphqlServer } from '../server/server.ts';

type MediaType = 'application/json' | 'application/graphql-response+json';

/**
 * Answers a POST of JSON whose body has been read. Queries and mutations that can be executed are answered here, without
 * the request and response objects of the Fetch standard: creating those takes longer than the operation. Yoga answers
 * everything else (a malformed request, a document that is refused, a media type that is not
 * one of GraphQL's two), before anything is executed.
 */
export async function answerJsonRequest(
  graphql: GraphqlServer,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Promise<void> {
  const type = mediaType(request.headers.accept);
  const text = bodyText(body);
  const params = type && text !== undefined ? readOperation(text) : undefined;
  if (!type || !params) return answerByYoga(graphql, request, response, body);
  const { operations } = graphql;
  const prepared = await operations.prepare({ authorization: request.headers.authorization, response }, params);
  if (!('document' in prepared) || prepared.isSubscription) return answerByYoga(graphql, request, response, body);
  const answer = await operations.answer(prepared);
  const status = answer instanceof TextAnswer ? 200 : isUnavailable(answer) ? 503 : statusOf(answer, type);
  const wait = retryAfter(answer, status);
  if (wait !== undefined) response.setHeader('retry-after', wait);
  const json =
    answer instanceof TextAnswer
      ? answer.text
      : JSON.stringify(answer.errors ? { ...answer, errors: answer.errors.map(withoutStatus) } : answer);
  await sendAnswer(request, response, {
    status,
    headers: { 'content-type': `${type}; charset=utf-8` },
    body: json,
  });
}

/** Returns the media type that a client prefers; undefined where its Accept header needs full negotiation. */
export function mediaType(accept: string | undefined): MediaType | undefined {
  if (accept === undefined || accept === '*/*') return 'application/json';
  if (/event-stream|multipart|charset/.test(accept)) return undefined;
  const [first] = accept.split(/[,;]/, 1);
  return first === 'application/json' || first === 'application/graphql-response+json' ? first : undefined;
}

/** Tells whether the operation had no effect because the database was out of reach. */
function isUnavailable({ data, errors = [] }: ExecutionResult): boolean {
  return !data && errors.some(({ extensions }) => extensions.code === 'SERVICE_UNAVAILABLE');
}

/** Returns after how many seconds the same request may succeed; undefined for an answer that does not depend on the time. */
function retryAfter(answer: ExecutionResult | TextAnswer, status: number): string | undefined {
  if (status === 503) return '1';
  return status === 429 && !(answer instanceof TextAnswer)
    ? String(answer.errors?.[0]?.extensions.retryAfter)
    : undefined;
}

/** Returns the highest status of the errors, else 200. Statuses of GraphQL over HTTP itself (`spec`) leave application/json at 200. */
export function statusOf({ errors = [] }: ExecutionResult, type: MediaType): number {
  let status = 0;
  for (const { extensions } of errors) {
    const http = extensions.http as { readonly status?: number; readonly spec?: boolean } | undefined;
    if (http?.status && !(type === 'application/json' && http.spec)) status = Math.max(status, http.status);
  }
  return status || 200;
}

/** The header fields that speak of a connection, and not of an answer. */
const ofConnection: ReadonlySet<string> = new Set(['connection', 'transfer-encoding']);

/** Answers a GET, or a POST whose body has been read, by Yoga. */
export async function answerByYoga(
  { yoga }: GraphqlServer,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Promise<void> {
  const { method = 'POST' } = request;
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const answer = await yoga.fetch(
    `http://localhost${request.url}`,
    { method, headers, ...(method === 'POST' && { body: new Uint8Array(body) }) },
    { res: response },
  );
  await sendAnswer(request, response, {
    status: answer.status,
    // The answer is sent as a whole, with its length: Yoga's multipart answers say that they come in chunks.
    headers: Object.fromEntries([...answer.headers].filter(([name]) => !ofConnection.has(name.toLowerCase()))),
    body: await answer.text(),
  });
}
