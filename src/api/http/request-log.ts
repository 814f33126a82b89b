import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { asRequest, clientIn, factsOf } from '../../infra/instruments/request-facts.ts';
import { inRequestSpan } from '../../infra/instruments/spans.ts';
import type { AddressOf } from './client-address.ts';

export interface RequestLogOptions {
  /** Where each request is logged when its response ends; undefined to log none. */
  readonly log: Logger | undefined;
  readonly addressOf: AddressOf;
}

/**
 * Runs the work of a request under its id (`X-Request-Id`, or a new one), which the response and all log lines include.
 * Logs the request, if enabled: its path without the query, which may contain a document.
 */
export function asLoggedRequest<T>(
  request: IncomingMessage,
  response: ServerResponse,
  { log, addressOf }: RequestLogOptions,
  work: () => T,
): T {
  const facts = factsOf(request.headers['x-request-id'], clientIn(request.headers));
  response.setHeader('x-request-id', facts.requestId);
  const { method = '' } = request;
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (log) {
    const start = performance.now();
    const address = addressOf(request);
    response.once('close', () => {
      const ms = Math.round((performance.now() - start) * 10) / 10;
      // A response that closes without finishing was aborted by the client.
      const status = response.writableFinished ? response.statusCode : null;
      log.info({ ...facts, method, path, status, ms, address }, 'request');
    });
  }
  return inRequestSpan(request, response, facts, () => asRequest(facts, work));
}
