import type { IncomingMessage, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { boundedCache } from '../../../core/bounded-cache.ts';
import { sendAnswer } from '../../http/bodies/answer.ts';
import { answerOf, type JsonType, jsonTypes } from '../server/http-answer.ts';
import { answerRequest, type GraphqlServer } from '../server/server.ts';

export const eventStream = 'text/event-stream';
export const mediaTypes = [...jsonTypes, eventStream] as const;

type MediaType = (typeof mediaTypes)[number];

/** Adds the charset to a response's media type. Clients may also include it in Accept. */
const inUtf8 = (type: string) => `${type}; charset=utf-8`;

/** The accepted media types for each Accept header. There are few distinct headers, and parsing one takes 9 µs. */
const acceptedBy = boundedCache<readonly MediaType[]>(200);

/** Returns the accepted media types by preference (RFC 9110, 12.5.1); event streams only if named in Accept. */
export function acceptedTypes({ headers }: IncomingMessage): readonly MediaType[] {
  const accept = headers.accept || '*/*';
  const known = acceptedBy.get(accept);
  if (known) return known;
  const offered = accept.toLowerCase().includes(eventStream) ? mediaTypes : jsonTypes;
  const accepted = new Negotiator({ headers: { accept } }).mediaTypes(offered.map(inUtf8));
  const types = accepted.flatMap((name) => mediaTypes.find((type) => inUtf8(type) === name) ?? []);
  acceptedBy.set(accept, types);
  return types;
}

/**
 * Responds to a JSON POST whose body has been read, in the same way as Yoga. Avoids Fetch API objects, because creating
 * them takes longer than the operation.
 */
export async function answerJsonRequest(
  { operations }: GraphqlServer,
  response: ServerResponse,
  { type, body }: { readonly type: JsonType; readonly body: Buffer },
): Promise<void> {
  await sendAnswer(response, answerOf(await answerRequest(operations, response, body), type));
}

const ofConnection: ReadonlySet<string> = new Set(['connection', 'transfer-encoding']);

/** Lets Yoga respond to a request whose body has been read. */
export async function answerByYoga(
  { yoga }: GraphqlServer,
  response: ServerResponse,
  { type, body }: { readonly type: string; readonly body: Buffer },
): Promise<void> {
  // This request has no body, and QUERY becomes GET, because server.ts reads the operation from the original request.
  const answer = await yoga.fetch(
    `http://localhost${response.req.url}`,
    { method: response.req.method === 'POST' ? 'POST' : 'GET', headers: { accept: type } },
    { res: response, body },
  );
  await sendAnswer(response, {
    status: answer.status,
    // Omits the connection headers, because the response is sent as a whole, with its length.
    headers: Object.fromEntries([...answer.headers].filter(([name]) => !ofConnection.has(name.toLowerCase()))),
    body: await answer.text(),
  });
}
