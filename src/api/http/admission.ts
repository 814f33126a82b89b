import type { IncomingMessage, ServerResponse } from 'node:http';
import { outsideWait, withSlot } from '../../core/outside-wait.ts';
import { databaseAway, outcomeUnknown } from '../../core/refusal.ts';
import { beginDeadline } from '../../infra/instruments/request-facts.ts';
import { TooLate, within } from '../../infra/instruments/within.ts';
import { type Unsupported, unsupportedBody } from './bodies/body.ts';
import { type BodyReader, bodyBytes, discardRest, holdBody, isTooLong } from './bodies.ts';
import type { Callers } from './callers.ts';
import type { Connections } from './connections.ts';
import type { InFlight, WatchedResponse } from './in-flight.ts';
import { type Api, answer, busy, type EarlyRefusal, errorBody, formBody, refuse, unavailable } from './refusals.ts';

/** The components that decide whether a request is admitted. */
export interface Admission {
  readonly bodies: BodyReader;
  readonly inFlight: InFlight;
  readonly callers: Callers;
  readonly connections: Connections;
  /** How long an admitted request may take before its response begins, in milliseconds, including all waits. */
  readonly requestMs: number;
}

export interface Service {
  readonly api: Api;
  /** Whether the API handles requests without this service's credentials. If not, they are refused after a delay. */
  readonly servesStrangers?: boolean;
  /** Whether bodies must be JSON, as in our own APIs. Providers choose the content type of their signed webhooks. */
  readonly takesJson: boolean;
  /** Refuses a request without valid credentials. If undefined, `work` must do so. */
  readonly refuseStranger?: (() => void) | undefined;
  /** Handles an admitted request. The body is undefined if it was too long. */
  readonly work: (body: Buffer | undefined) => Promise<void>;
}

/**
 * Checks a request's form, credentials and limits, in the order given in docs/limits.md, and passes it to its API or
 * refuses it. If the caller is known, the request is counted before its body is read; if not, it is counted once there
 * is capacity to look the caller up.
 */
export async function admit(admission: Admission, response: WatchedResponse, service: Service): Promise<void> {
  const { req: request } = response;
  const { bodies, callers, inFlight, connections, requestMs } = admission;
  const { api, servesStrangers = false, refuseStranger, work } = service;
  const wrong = wrongFormOf(request, service);
  if (wrong) {
    response.setHeaders(new Map(Object.entries(wrong.headers ?? {})));
    return refuseForm(admission, response, wrong.status, formBody(api, wrong.status, wrong.message));
  }
  const caller = callers.find(request);
  if (caller) connections.noteKnown(request.socket);
  const early = caller && callers.count(caller, response);
  const refuseLate = (refusal: EarlyRefusal) =>
    callers.waitToRefuse(request, caller).then(() => refuse(response, api, refusal));
  if (early) {
    holdBody(response);
    await refuseLate(early);
    return discardRest(response);
  }
  const body = await bodies.read(response);
  if (body === 'EVICTED') return refuseLate(busy);
  const tenant = callers.tenantOf(request, caller);
  const slot = inFlight.admit(response, tenant);
  // If no other platform is active, delaying refusals would only tie up this platform's own connections.
  if (!slot) return inFlight.turns.isAlone(tenant) ? refuse(response, api, busy) : refuseLate(busy);
  beginDeadline(requestMs);
  let step: 'waiting' | 'working' | 'refusing' = 'waiting';
  const processed = withSlot(slot, async () => {
    await slot.turn();
    if (response.closed || response.writableEnded) return;
    step = 'working';
    const late = caller ? undefined : await callers.identify(response);
    if (late === undefined) connections.noteKnown(request.socket);
    if (late && !(late === 'STRANGER' && servesStrangers)) {
      step = 'refusing';
      await outsideWait(callers.waitToRefuse(request, caller));
    }
    if (late && late !== 'STRANGER') refuse(response, api, late);
    else if (late && refuseStranger) refuseStranger();
    else return work(body === 'TOO_LONG' ? undefined : body);
  });
  await within(requestMs + graceMs, processed).catch((error: unknown) => {
    if (!(error instanceof TooLate)) throw error;
    // A stream or a long response has begun, or a refusal is being delayed.
    if (response.headersSent || step === 'refusing') return processed;
    if (step === 'waiting') refuse(response, api, busy);
    else answerLate(response, api);
    return processed.catch(() => undefined);
  });
}

/** How long to wait for the API's own response after a request's deadline, in milliseconds. */
const graceMs = 250;

/** Responds to a request whose API missed the deadline. The API may nevertheless have made the requested changes. */
function answerLate(response: ServerResponse, api: Api): void {
  const { method } = response.req;
  const { message, code } = outcomeUnknown();
  const isRead = api === 'REST' && (method === 'GET' || method === 'HEAD');
  if (isRead) refuse(response, api, unavailable(databaseAway));
  else answer(response, 504, errorBody(api, 504, message, { code: api === 'REST' ? code : 'TIMEOUT' }));
}

/** Refuses a malformed request, after a delay if the client sends many. Rate limits do not count such requests. */
export async function refuseForm({ callers }: Admission, response: ServerResponse, status: number, body: object) {
  holdBody(response);
  await callers.waitToRefuse(response.req, callers.find(response.req));
  answer(response, status, body);
  discardRest(response);
}

interface WrongForm extends Unsupported {
  readonly status: 400 | 413 | 415;
}

/** Returns the reason to refuse a body, if any. Forms and plain text are refused because any web page can send them. */
function wrongFormOf(request: IncomingMessage, { api, takesJson }: Service): WrongForm | undefined {
  const { method, headers } = request;
  if (takesJson && (hasBody(request) || (api === 'GRAPHQL' && (method === 'POST' || method === 'QUERY')))) {
    const unsupported = unsupportedBody(headers);
    // RFC 10008, 2: a QUERY request must have a Content-Type.
    if (unsupported) return { status: method === 'QUERY' && !headers['content-type'] ? 400 : 415, ...unsupported };
  }
  return isTooLong(request) ? { status: 413, message: tooLong } : undefined;
}

export const tooLong = `a request body may have at most ${bodyBytes} bytes`;

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
