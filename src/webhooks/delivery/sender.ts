import { Agent, errors, request } from 'undici';
import { isLoopbackHost, parseEndpointUrl } from '../endpoints/endpoint-url.ts';
import { checkedLookup, isLoopbackAddress, isPublicAddress, RefusedAddress, type Resolver } from './addresses.ts';
import { type Pace, retryAfterSeconds } from './pace.ts';

/** How much of an answer is read: it needs no body, and one that never ends must cost nothing. */
const maxAnswerBytes = 16_384;
/** How long the rest of an answer may take, once its status is known. */
const restMs = 1_000;

export interface Message {
  readonly url: string;
  readonly loopbackAllowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The whole attempt: lookup, connection, request and the head of the answer. */
  readonly timeoutMs: number;
  /** Whether the answer's body is wanted; otherwise it is thrown away unseen. */
  readonly readAnswer: boolean;
}

/** What came of one attempt. `error` is in words for the platform that owns the endpoint, and quotes nothing. */
export interface Outcome {
  readonly durationMs: number;
  readonly responseStatus: number | undefined;
  readonly error: string | undefined;
  /** Seconds that the receiver asked to wait. */
  readonly retryAfter: number | undefined;
  readonly timedOut: boolean;
  readonly answer: string | undefined;
}

/** Posts to endpoints and to nowhere else. */
export class Sender {
  readonly #public: Agent;
  readonly #loopback: Agent;
  readonly #stopping = new AbortController();

  constructor(pace: Pace, resolve: Resolver) {
    // One agent per reach, so that a connection to this machine can never serve another platform's request. An agent of
    // our own follows no proxy variables, and `request` follows no redirects.
    const agent = (allowed: (address: string) => boolean) =>
      new Agent({
        connect: { lookup: checkedLookup(resolve, allowed), timeout: pace.connectMs },
        keepAliveMaxTimeout: 30_000,
        maxHeaderSize: maxAnswerBytes,
      });
    this.#public = agent(isPublicAddress);
    this.#loopback = agent(isLoopbackAddress);
  }

  /** One attempt. Never throws; throws away what it was doing when the sender is closed. */
  async post(message: Message): Promise<Outcome> {
    const started = performance.now();
    const timeout = AbortSignal.timeout(Math.ceil(message.timeoutMs));
    const outcome = (known: Partial<Outcome>): Outcome => ({
      responseStatus: undefined,
      error: undefined,
      retryAfter: undefined,
      timedOut: false,
      answer: undefined,
      ...known,
      durationMs: Math.round(performance.now() - started),
    });
    try {
      // Judged again at each attempt: what was allowed when the endpoint was made may not be any more.
      const url = parseEndpointUrl(message.url, message.loopbackAllowed);
      const { statusCode, headers, body } = await request(url, {
        dispatcher: isLoopbackHost(url) ? this.#loopback : this.#public,
        method: 'POST',
        headers: {
          ...message.headers,
          'content-type': 'application/json',
          'user-agent': 'payments-gateway-webhooks/1',
        },
        body: message.body,
        signal: AbortSignal.any([timeout, this.#stopping.signal]),
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const header = headers['retry-after'];
      const known = {
        responseStatus: statusCode,
        error: isDelivered(statusCode) ? undefined : describeStatus(statusCode),
        retryAfter: retryAfterSeconds(Array.isArray(header) ? header[0] : header, new Date()),
      };
      if (message.readAnswer) return outcome({ ...known, answer: await readStart(body) });
      await body.dump({ limit: maxAnswerBytes, signal: AbortSignal.timeout(restMs) }).catch(() => undefined);
      return outcome(known);
    } catch (error) {
      return outcome({ error: describe(error, message.timeoutMs), timedOut: timeout.aborted });
    }
  }

  get closed(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Breaks off what is under way and closes every connection. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#public.destroy(), this.#loopback.destroy()]);
  }
}

/** 2xx, or 409: the receiver has it already (decision 23). */
export function isDelivered(status: number): boolean {
  return (status >= 200 && status < 300) || status === 409;
}

/** The receiver wants no more. */
export function isGone(status: number | undefined): boolean {
  return status === 410;
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return isGone(status) ? 'answered 410: gone for good' : `answered ${status}`;
}

/** The first bytes of an answer, as text. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxAnswerBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString('utf8');
}

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed before an answer',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too large",
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'no connection in time',
};

function describe(error: unknown, timeoutMs: number): string {
  const all = error instanceof AggregateError ? [error, ...error.errors] : [error];
  for (const one of all) {
    if (!(one instanceof Error)) continue;
    if (one instanceof RefusedAddress) return one.message;
    if (one.name === 'Refusal') return `the address is not allowed: ${one.message}`;
    if (one.name === 'TimeoutError') return `no answer within ${Math.ceil(timeoutMs)} ms`;
    const code = 'code' in one && typeof one.code === 'string' ? one.code : undefined;
    if (code !== undefined && causes[code]) return causes[code];
    if (code !== undefined && /CERT|SIGNATURE|ALTNAME|SSL|TLS|ISSUER/.test(code)) return `TLS: ${code}`;
    if (one instanceof errors.HTTPParserError) return 'the answer is not HTTP';
  }
  return 'the request failed';
}
