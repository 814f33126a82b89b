import type { ServerResponse } from 'node:http';
import type { Session, Sessions } from '../access/sessions.ts';
import type { Viewer } from '../access/viewer.ts';

/** A reader of an event stream that has taken nothing for so long is gone, as far as can be told. */
const stalledMs = 30_000;

const ended = {
  errors: [{ message: 'the token has ended: come back with a new one', extensions: { code: 'UNAUTHENTICATED' } }],
};

/**
 * Watches over an event stream (SSE) for as long as it is open. Streams are cut, not completed: a stock client takes a
 * cut as "come back and resume", and `complete` as the end of the matter. A token that ends is told before the cut.
 */
export function watchOver(sessions: Sessions, viewer: Viewer, response: ServerResponse): Session {
  let stalledSince: number | undefined;
  const session = sessions.open(viewer, {
    forbid: () => response.write(`event: next\ndata: ${JSON.stringify(ended)}\n\n`, () => response.destroy()),
    leave: () => response.destroy(),
    check: () => {
      if (!response.writableNeedDrain) stalledSince = undefined;
      else if (stalledSince === undefined) stalledSince = performance.now();
      else if (performance.now() - stalledSince > stalledMs) response.destroy();
    },
  });
  if (response.destroyed) session.close();
  response.once('close', () => session.close());
  return session;
}
