import type { IncomingMessage } from 'node:http';
import { Waits } from './waits.ts';

/** The most that a request's body may have. */
export const bodyBytes = 100 * 1024;

/** How many bodies may be under way at once. What has come of each is kept: 100 MB at the very most. */
const mostUnderWay = 1_000;

/** A body in many small pieces is put together now and then, or the pieces would take far more memory than its bytes. */
const manyPieces = 64;

/** A request's whole body, or why there is none: it is over the limit, or others needed its room. */
export type Body = Buffer | 'TOO_LONG' | 'GAVE_WAY';

const empty = Buffer.alloc(0);

/**
 * Reads the bodies of requests, whole. A client may take its time to send one, up to the server's `requestTimeout`, and
 * nobody else waits for it: when too many are under way, the one that has been for longest gives way. Most come in one
 * piece with their head, so that a good client's is through long before its turn, however many others hang.
 */
export class Bodies {
  readonly #underWay = new Waits(mostUnderWay);

  /**
   * What has no place any more is read on and thrown away, so that the answer arrives.
   * @throws Error when the request is broken off
   */
  async read(request: IncomingMessage): Promise<Body> {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (length === '0' && encoding === undefined) return empty;
    if (Number(length) > bodyBytes) {
      request.resume();
      return 'TOO_LONG';
    }
    return this.#readAll(request);
  }

  #readAll(request: IncomingMessage): Promise<Body> {
    return new Promise((resolve, reject) => {
      let pieces: Buffer[] = [];
      let bytes = 0;
      let isOver = false;
      const end = (body?: Body) => {
        // Every request is closed in the end, also one that has arrived.
        if (isOver) return;
        isOver = true;
        arrived();
        pieces = [];
        // One that is closed and not complete was broken off, and there is nobody left to answer.
        if (body === undefined) reject(new Error('the request was broken off'));
        else resolve(body);
      };
      const arrived = this.#underWay.begin(() => {
        bytes = Number.POSITIVE_INFINITY;
        end('GAVE_WAY');
      });
      request
        .on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > bodyBytes) return end('TOO_LONG');
          pieces.push(piece);
          if (pieces.length === manyPieces) pieces = [Buffer.concat(pieces)];
        })
        .on('end', () => end(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)))
        .on('error', () => end())
        .on('close', () => end());
    });
  }
}
