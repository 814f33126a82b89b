import type { ServerResponse } from 'node:http';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import type { Session, Sessions } from '../../../domain/access/tokens/sessions.ts';
import { mayDoAllThat, type Viewer } from '../../../domain/access/viewer.ts';
import { contextIn } from '../context.ts';
import { failure } from '../failure.ts';
import type { SentDocuments } from './sent-documents.ts';

/** The time after which a reader that has taken nothing from its event stream counts as disconnected. */
const stallTimeoutMs = 30_000;

/** The time between the last message to a reader and the close of its connection. */
const closeDelayMs = 200;

/** Writes the last message of a stream, which gives the reason for cutting its connection. */
export type Farewell = (refusal: { readonly errors: readonly object[] }) => void;

/**
 * Holds an opened subscription in its connection's session. Returns a function that ends the hold, or the error if
 * the token may not begin it.
 */
export async function holdStream(
  { sessions, sent }: { readonly sessions: Sessions; readonly sent: SentDocuments },
  args: ExecutionArgs,
): Promise<(() => void) | GraphQLError> {
  const { viewer: begun, session, eventStream, farewell } = contextIn(args);
  const held = session ?? (eventStream && farewell && superviseStream(sessions, begun, eventStream, farewell));
  if (!held) return () => undefined;
  // The stream keeps the rights of the token with which it began.
  const end = await held.begin(
    async (viewer) =>
      mayDoAllThat(viewer, begun) && (!viewer.trustedDocumentsOnly || sent.isRegistered(viewer, args.document)),
  );
  return end ?? failure('FORBIDDEN', 'the renewed token does not permit this operation');
}

/**
 * Supervises an event stream (SSE) while it is open. Closes it if its token is no longer valid or no longer permits the
 * operation, the server stops, or its reader stalls. The connection is cut without `complete`: a stock client
 * reconnects and resumes after a cut, and takes `complete` as the end. A token's error is sent before the cut.
 * @param farewell writes that error
 */
function superviseStream(sessions: Sessions, viewer: Viewer, response: ServerResponse, farewell: Farewell): Session {
  let stalledSince: number | undefined;
  const session = sessions.open(viewer, {
    forbid: ({ code, message }) => {
      session.close();
      farewell({ errors: [{ message, extensions: { code } }] });
      // A reader whose connection is cut at once may drop what it has just received.
      setTimeout(() => response.destroy(), closeDelayMs);
    },
    leave: () => response.destroy(),
    check: () => {
      if (!response.writableNeedDrain) stalledSince = undefined;
      else if (stalledSince === undefined) stalledSince = performance.now();
      else if (performance.now() - stalledSince > stallTimeoutMs) response.destroy();
    },
  });
  if (response.destroyed) session.close();
  response.once('close', () => session.close());
  return session;
}
