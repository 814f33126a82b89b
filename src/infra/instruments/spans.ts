import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { pathOf, type RequestFacts } from './request-facts.ts';

// OpenTelemetry spans for requests, operations, statements, rail calls and webhooks. start/tracing.ts enables them.
// Attributes are only names, ids and times, never values from a client, secrets or personal data.

/** OpenTelemetry's numbers for the span kinds, copied because importing a const enum would require a compile step. */
const kinds = { internal: 0, server: 1, client: 2 } as const satisfies Record<string, SpanKind>;

const tracer = trace.getTracer('payments-graphql-gateway');
let isOn = false;

/** Turns spans on or off, for all requests. */
export function switchSpans(on: boolean): void {
  isOn = on;
}

export function makesSpans(): boolean {
  return isOn;
}

export function hasSpan(): boolean {
  return isOn && trace.getActiveSpan() !== undefined;
}

/** Runs work in its own span, inside the current one; with `isRoot`, in its own trace. */
export function inSpan<T>(
  name: string,
  { kind = 'internal', attributes = {}, isRoot = false }: SpanOptions,
  work: () => Promise<T>,
): Promise<T> {
  if (!isOn) return work();
  return tracer.startActiveSpan(name, { kind: kinds[kind], attributes, root: isRoot }, async (span) => {
    try {
      return await work();
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

interface SpanOptions {
  readonly kind?: keyof typeof kinds;
  readonly attributes?: Attributes;
  readonly isRoot?: boolean;
}

/** The maximum length of a statement's text in its span, in characters. */
const statementLength = 1_000;

/** Starts a statement's span. Returns the callback for its result or error, or undefined if no span is active. */
export function beginStatement(
  name: string | undefined,
  text: string,
): ((error: unknown, rows?: number | null) => void) | undefined {
  if (!hasSpan()) return undefined;
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, statementLength) };
  const span = tracer.startSpan(name || 'sql', { kind: kinds.client, attributes });
  return (error, rows = null) => {
    if (rows !== null) span.setAttribute('db.response.returned_rows', rows);
    if (error) fail(span, error);
    span.end();
  };
}

/** Runs a request's work in its span, which continues the trace in `traceparent` and ends with the response. */
export function inRequestSpan<T>(
  request: IncomingMessage,
  response: ServerResponse,
  facts: RequestFacts,
  work: () => T,
): T {
  if (!isOn) return work();
  const method = request.method ?? '';
  const around = propagation.extract(ROOT_CONTEXT, request.headers);
  const attributes = {
    'http.request.method': method,
    'url.path': pathOf(request),
    'payments.request.id': facts.requestId,
  };
  const span = tracer.startSpan(method, { kind: kinds.server, attributes }, around);
  response.once('close', () => {
    const { operation, platform } = facts;
    if (operation !== undefined) span.updateName(operation);
    if (platform !== undefined) span.setAttribute('payments.platform.id', platform);
    // If the response was not finished, the client has disconnected.
    if (response.writableFinished) span.setAttribute('http.response.status_code', response.statusCode);
    if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  });
  return context.with(trace.setSpan(around, span), work);
}

/** Marks a span as failed, with only the error's code or name, because its text may contain a client's values. */
function fail(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  span.setAttribute('error.type', code ?? (error instanceof Error ? error.name : 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
