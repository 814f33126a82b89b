import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a request's handler is told beside the request. */
export interface RestBindings {
  /** The body was longer than the limit, and is not there. */
  readonly bodyTooLarge: boolean;
}

type FetchHandler = (request: Request, bindings: RestBindings) => Response | Promise<Response>;

/** The base of request URLs: nothing looks at the host, which the client could set to anything. */
const origin = 'http://localhost';

/** Methods that a Request cannot have. No path has them either, nor OPTIONS, as which they are answered. */
const impossible: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/**
 * Answers a request of `node:http` by a fetch handler. Bodies are read whole before, and answers are sent whole: this
 * REST has no streams.
 * @param body undefined when it was too long
 */
export async function answerByFetch(
  handle: FetchHandler,
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer | undefined,
): Promise<void> {
  const method = incoming.method === undefined || impossible.has(incoming.method) ? 'OPTIONS' : incoming.method;
  const hasBody = body !== undefined && body.length > 0 && method !== 'GET' && method !== 'HEAD';
  const request = new Request(new URL(incoming.url ?? '/', origin), {
    method,
    headers: headersOf(incoming),
    ...(hasBody && { body: new Uint8Array(body) }),
  });
  const answer = await handle(request, { bodyTooLarge: body === undefined });
  const headers = Object.fromEntries(answer.headers);
  if (answer.status === 204) {
    // It has no body, and so no length either (RFC 9110, 8.6).
    response.writeHead(204, headers).end();
    return;
  }
  const bytes = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { ...headers, 'content-length': bytes.length });
  response.end(method === 'HEAD' ? undefined : bytes);
}

function headersOf(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === 'string') headers.set(name, value);
    else for (const item of value ?? []) headers.append(name, item);
  }
  return headers;
}
