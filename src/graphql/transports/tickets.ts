import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientTokens } from '../../access/tokens/client-tokens.ts';
import type { Credentials } from '../../access/tokens/credentials.ts';
import { bodyText } from '../../bodies/body.ts';
import { Refusal } from '../../core/refusal.ts';
import { withoutStatus } from '../failure.ts';
import type { Operations } from '../server/operations.ts';
import { readOperation } from '../server/read-operation.ts';
import type { SentOperation } from '../server/sent-documents.ts';
import { unauthenticated } from '../server/server.ts';

/**
 * Tickets for event streams: a browser's own EventSource sends a GET without credentials, so an app that has a token gets an
 * address with a ticket in it. The ticket is good for one operation and a short time (access/tokens/client-tokens.ts).
 */

/** Where a ticket is made. */
export const ticketPath = '/graphql/stream/ticket';
const parameter = 'ticket';

interface TicketOptions {
  readonly operations: Operations;
  readonly credentials: Credentials;
  readonly clientTokens: ClientTokens;
}

export interface Tickets {
  /** Answers a POST with the operation, as JSON, by the address of its stream. */
  make(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void>;
  /** Tells whether a request may have a ticket. */
  hasTicket(request: IncomingMessage): boolean;
  /** Gives a request the credentials behind its ticket, where that is good. Throws where the database is out of reach. */
  redeem(request: IncomingMessage): Promise<void>;
}

export function createTickets({ operations, credentials, clientTokens }: TicketOptions): Tickets {
  return {
    async make(request, response, body) {
      if (request.method !== 'POST') return refuse(response, 405, 'METHOD_NOT_ALLOWED', 'POST the operation');
      const viewer = await credentials.authenticate(request.headers.authorization);
      if (!viewer) return answer(response, 401, { errors: [withoutStatus(unauthenticated())] });
      const params = readOperation(bodyText(body) ?? '');
      if (!params) return refuse(response, 400, 'INVALID_INPUT', 'the body is a GraphQL request');
      const prepared = await operations.prepare({ authorization: request.headers.authorization, response }, params);
      if (!('document' in prepared)) return answer(response, 400, { errors: prepared.map(withoutStatus) });
      if (!prepared.isSubscription) return refuse(response, 400, 'INVALID_INPUT', 'a ticket is for a subscription');
      try {
        const search = searchOf(params);
        const { ticket, expiresAt } = await clientTokens.makeTicket(viewer, search.toString());
        search.set(parameter, ticket);
        answer(response, 201, { url: `/graphql/stream?${search}`, expiresAt: expiresAt.toISOString() });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refuse(response, error.code === 'FORBIDDEN' ? 403 : 503, error.code, error.message);
      }
    },

    hasTicket: ({ method, url }) => method === 'GET' && url?.includes(`${parameter}=`) === true,

    async redeem(request) {
      const search = new URL(request.url ?? '/', 'http://localhost').searchParams;
      const ticket = search.get(parameter);
      if (ticket === null) return;
      search.delete(parameter);
      // The ticket is all that counts: never what else the request brings.
      const authorization = await clientTokens.redeem(ticket, search.toString());
      if (authorization === undefined) delete request.headers.authorization;
      else request.headers.authorization = authorization;
    },
  };
}

/** Writes an operation as the parameters of a URL. */
function searchOf({ query, documentId, operationName, variables, extensions }: SentOperation): URLSearchParams {
  const search = new URLSearchParams();
  if (query) search.set('query', query);
  if (documentId) search.set('documentId', documentId);
  const { persistedQuery } = extensions ?? {};
  if (persistedQuery !== undefined) search.set('extensions', JSON.stringify({ persistedQuery }));
  if (operationName != null) search.set('operationName', operationName);
  if (variables != null) search.set('variables', JSON.stringify(variables));
  return search;
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  answer(response, status, { errors: [{ message, extensions: { code } }] });
}

function answer(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(json));
}
