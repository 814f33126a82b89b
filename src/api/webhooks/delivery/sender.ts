import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Agent, errors, request } from 'undici';
import {
  checkedLookup,
  isLoopbackAddress,
  isPublicAddress,
  RefusedAddress,
  type Resolver,
} from '../../../infra/net/addresses.ts';
import { isLoopbackHost, parseEndpointUrl } from '../endpoints/endpoint-url.ts';
import { type Pace, retryAfterSeconds } from './pace.ts';

/** The maximum number of bytes read from a response, so that an endless response is harmless. */
const maxAnswerBytes = 16_384;
/** How long reading an unneeded response body may take, in milliseconds. */
const bodyMs = 1_000;

export interface Message {
  readonly url: string;
  readonly loopbackAllowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The time limit for the whole attempt: name lookup, connection, request and response headers. */
  readonly timeoutMs: number;
  /** Whether to return the response body; otherwise it is discarded. */
  readonly readAnswer: boolean;
}

/** The outcome of one attempt. `error` is shown to the platform and contains no text from the response. */
export interface Outcome {
  readonly durationMs: number;
  readonly responseStatus?: number;
  readonly error?: string | undefined;
  /** The receiver's Retry-After header, in seconds. */
  readonly retryAfter?: number | undefined;
  readonly timedOut?: boolean;
  readonly answer?: string;
}

/** Posts messages, but only to addresses that are allowed for endpoints. */
export class Sender {
  readonly #public: Agent;
  readonly #loopback: Agent;
  readonly #stopping = new AbortController();

  constructor(pace: Pace, resolve: Resolver) {
    // Loopback and public addresses have separate agents, so that a connection to this machine is never reused for a
    // public address. The agents ignore the environment's proxy settings, and `request` follows no redirects.
    const agent = (allowed: (address: string) => boolean) =>
      new Agent({
        connect: { lookup: checkedLookup(resolve, allowed), timeout: pace.connectMs },
        keepAliveMaxTimeout: 30_000,
        maxHeaderSize: maxAnswerBytes,
      });
    this.#public = agent(isPublicAddress);
    this.#loopback = agent(isLoopbackAddress);
  }

  /** Makes one attempt, which `close` can abort. Never throws. */
  async post(message: Message): Promise<Outcome> {
    const start = performance.now();
    const timeout = AbortSignal.timeout(Math.ceil(message.timeoutMs));
    const outcome = (fields: Omit<Outcome, 'durationMs'>): Outcome => ({
      ...fields,
      durationMs: Math.round(performance.now() - start),
    });
    try {
      // Checked again on each attempt, because the rules may have changed since the endpoint was created.
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
      const response = {
        responseStatus: statusCode,
        error: isDelivered(statusCode) ? undefined : describeStatus(statusCode),
        retryAfter: retryAfterSeconds(Array.isArray(header) ? header[0] : header, new Date()),
      };
      if (message.readAnswer) return outcome({ ...response, answer: await readStart(body) });
      await body.dump({ limit: maxAnswerBytes, signal: AbortSignal.timeout(bodyMs) }).catch(() => undefined);
      return outcome(response);
    } catch (error) {
      return outcome({ error: describe(error, message.timeoutMs), timedOut: timeout.aborted });
    }
  }

  get closed(): boolean {
    return this.#stopping.signal.aborted;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#public.destroy(), this.#loopback.destroy()]);
  }
}

/** Returns whether a status means that the event was delivered: 2xx, or 409 for a duplicate. */
export const isDelivered = (status: number) => (status >= 200 && status < 300) || status === 409;

/** Returns whether a status means that the receiver wants no further events. */
export const isGone = (status: number | undefined) => status === 410;

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return isGone(status) ? 'answered 410: gone for good' : `answered ${status}`;
}

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
  UND_ERR_SOCKET: 'the connection was closed before an answer arrived',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too large",
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'no connection in time',
};

function describe(error: unknown, timeoutMs: number): string {
  const candidates = error instanceof AggregateError ? [error, ...error.errors] : [error];
  for (const one of candidates) {
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

/** Generates a signing secret as defined by Standard Webhooks: `whsec_` followed by 32 random bytes in base64. */
export const newSigningSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** Returns the headers that sign a body (standardwebhooks.com): id, time, and an HMAC-SHA256 per valid secret. */
export function signedHeaders(
  message: { readonly id: string; readonly body: string; readonly at: Date },
  secrets: readonly string[],
): Record<string, string> {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(message.at.getTime() / 1000)),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign(message.id, message.at, message.body))
      .join(' '),
  };
}
