import { hash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import type { TokenCap } from '../../../domain/access/limits/token-caps.ts';
import type { ResumeKey } from '../../../domain/events/resume-point.ts';
import { invalidInput } from '../failure.ts';
import type { Prepared } from '../server/operations.ts';
import type { SentOperation } from '../server/sent-documents.ts';
import type { Extra } from './socket-sessions.ts';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Returns the key by which a subscription resumes when its client comes back on another socket: `resumeKey` of the operation's
 * extensions or, where the socket was opened with `resume: true`, the operation's own id, which stock clients choose at random
 * and send again. Undefined for an operation without one; an error for a key that is no UUID.
 * @param streams whose cap is also that of the keys of a subject
 */
export function resumeKeyOf(
  { resumes }: Extra,
  id: string,
  { operationName, variables, extensions }: SentOperation,
  { contextValue: { viewer }, isSubscription, document }: Prepared,
  streams: TokenCap,
): ResumeKey | GraphQLError | undefined {
  if (!isSubscription) return undefined;
  const given = extensions?.resumeKey;
  if (given !== undefined && !(typeof given === 'string' && uuidForm.test(given)))
    return invalidInput('resumeKey must be a random UUID, chosen by the client', 'resumeKey');
  const key = given ?? (resumes && uuidForm.test(id) ? id : undefined);
  if (key === undefined) return undefined;
  const { platformId, subject } = viewer;
  // Whether the client sent this text or its hash.
  const query = document.loc?.source.body;
  const text = JSON.stringify([platformId, subject, key, query, operationName ?? null, variables ?? null]);
  return { platformId, subject, digest: hash('sha256', text, 'buffer'), most: streams.mostOf(viewer) };
}
