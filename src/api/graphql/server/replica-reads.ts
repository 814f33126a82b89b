import type { IncomingHttpHeaders } from 'node:http';
import { type ArgumentNode, type DocumentNode, type ExecutionResult, type FieldNode, Kind, visit } from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import { Refusal } from '../../../core/refusal.ts';
import { readAfterHeader, readAfterOf } from '../../../domain/events/cursor.ts';
import type { ReadScope, Replicas } from '../../../infra/database/replicas/replicas.ts';
import type { Context, Prepared } from '../context.ts';
import { failure } from '../failure.ts';
import type { TextAnswer } from '../reading/run.ts';
import type { SentOperation } from './sent-documents.ts';

type Answer = ExecutionResult | TextAnswer;

/** Returns the writes that the reads must include, from `extensions.readAfter` or a header. Throws INVALID_INPUT. */
export function sentReadAfter(
  { viewer, payments }: Context,
  headers: IncomingHttpHeaders | undefined,
  { extensions }: SentOperation,
): string | undefined {
  const inExtensions = extensions?.readAfter;
  const sent = inExtensions ?? headers?.[readAfterHeader];
  if (sent === undefined) return undefined;
  try {
    return readAfterOf(payments.cursors, viewer.platformId, typeof sent === 'string' ? sent : '');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const field = inExtensions === undefined ? 'Payments-Read-After' : 'extensions.readAfter';
    throw failure('INVALID_INPUT', `${field} is invalid: ${error.message}`, { field, status: 400 });
  }
}

/**
 * Runs a query on replicas (`run` gets their read scope), or a mutation on the primary, which returns a write token.
 */
export async function withReplicas(
  replicas: Replicas | undefined,
  { operation, document, contextValue }: Prepared,
  run: (reads?: ReadScope) => Promise<Answer>,
): Promise<Answer> {
  if (!replicas) return run();
  const { viewer, readAfter, response } = contextValue;
  if (operation.operation === 'query') {
    // A later page must include all earlier writes, so the client's read token is ignored.
    return replicas.reading(viewer.platformId, namesCursor(document) ? undefined : readAfter, run);
  }
  const answer = (await run()) as ExecutionResult;
  const token = await replicas.afterWrite(viewer.platformId);
  if (response && !response.headersSent) response.setHeader(readAfterHeader, token);
  return { ...answer, extensions: { ...answer.extensions, readAfter: token } };
}

const mentions = (kind: Kind.ARGUMENT | Kind.FIELD, names: readonly string[]) =>
  oncePer((document: DocumentNode) => {
    let isFound = false;
    const find = ({ name }: ArgumentNode | FieldNode) => {
      isFound ||= names.includes(name.value);
    };
    visit(document, { [kind]: find });
    return isFound;
  });

const namesCursor = mentions(Kind.ARGUMENT, ['after', 'before']);

export const selectsFeedCursor = mentions(Kind.FIELD, ['feedCursor']);
