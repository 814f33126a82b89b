import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { outsideWait } from '../../core/outside-wait.ts';
import { acceptsGzip, sendAnswer } from '../http/bodies/answer.ts';

export interface RestBindings {
  readonly bodyTooLarge: boolean;
}

type FetchHandler = (request: Request, bindings: RestBindings) => Response | Promise<Response>;

/** Methods that a Request cannot have. They are handled as OPTIONS, which no path supports either. */
const forbiddenMethods: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/** Responds to a `node:http` request through a fetch handler. The body is undefined if it was too long. */
export async function answerByFetch(handle: FetchHandler, response: ServerResponse, body: Buffer | undefined) {
  const { req: incoming } = response;
  const method = incoming.method === undefined || forbiddenMethods.has(incoming.method) ? 'OPTIONS' : incoming.method;
  const hasBody = body !== undefined && body.length > 0 && method !== 'GET' && method !== 'HEAD';
  // No handler uses the host, which a client could set to anything.
  const request = new Request(`http://localhost${incoming.url}`, {
    method,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string]),
    ...(hasBody && { body: new Uint8Array(body) }),
  });
  const answer = await handle(request, { bodyTooLarge: body === undefined });
  const headers = Object.fromEntries(answer.headers);
  if (answer.status === 204) {
    // A 204 has no body, and so no Content-Length either (RFC 9110, 8.6).
    response.writeHead(204, headers).end();
    return;
  }
  if (answer.body && streamedTypes.test(answer.headers.get('content-type') ?? '')) {
    const compresses = acceptsGzip(incoming);
    response.writeHead(answer.status, { ...headers, ...(compresses && { 'content-encoding': 'gzip' }) });
    if (method === 'HEAD') return answer.body.cancel().then(() => void response.end());
    return sendStream(compresses ? answer.body.pipeThrough(new CompressionStream('gzip')) : answer.body, response);
  }
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (method === 'HEAD') response.writeHead(answer.status, { ...headers, 'content-length': bytes.length }).end();
  else await sendAnswer(response, { status: answer.status, headers, body: bytes });
}

/** The media types of exports, which can be of any length. */
const streamedTypes = /^(text\/csv|application\/xml)\b/;

/** How long to wait for a client that reads nothing from a stream, in milliseconds. */
const drainMs = 60_000;

/** Sends a body as fast as it is read. If it fails or is not read for `drainMs`, the connection ends early. */
async function sendStream(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  for await (const chunk of body) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await outsideWait(drained(response));
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  const waiting = new AbortController();
  const timer = setTimeout(() => response.destroy(), drainMs);
  try {
    await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal: waiting.signal })));
  } finally {
    clearTimeout(timer);
    waiting.abort();
  }
}
