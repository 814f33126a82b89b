import type { ServerResponse } from 'node:http';
import type { Session, Sessions } from '../../access/sessions.ts';
import type { Viewer } from '../../access/viewer.ts';

/** A reader of an event stream that has taken nothing for so long is gone, as far as can be told. */
const stallTimeoutMs = 30_000;

/** How long a reader has for the last word before the cut. */
const closeDelayMs = 200;

const tokenEnded = {
  errors: [{ message: 'the token has ended: come back with a new one', extensions: { code: 'UNAUTHENTICATED' } }],
};

/**
 * Watches over an event stream (SSE) for as long as it is open. Streams are cut, not completed: a stock client takes a
 * cut as "come back and resume", and `complete` as the end of the matter. A token that ends is told before the cut.
 */
export function superviseStream(sessions: Sessions, viewer: Viewer, response: ServerResponse): Session {
  let stalledSince: number | undefined;
  const session = sessions.open(viewer, {
    forbid: () => {
      // Of this connection nothing more is asked: a reader that is cut in the same breath may drop what it has just got.
      session.close();
      response.write(`event: next\ndata: ${JSON.stringify(tokenEnded)}\n\n`);
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
