import { Cursors } from '../../src/core/cursors.ts';
import { positionOf } from '../../src/domain/events/cursor.ts';

/** The SECRET_KEY, in hexadecimal, of every gateway that runs inside the test process. */
export const secretKey = '6b1f0d4c9a7e3582c4d09be1f7a36258e0b9d3714fc68a25917d3e0c5ba8f642';

/** Encrypts and decrypts cursors with this key. */
export const cursors = new Cursors([Buffer.from(secretKey, 'hex')]);

/** Returns the sequence number that a cursor for the platform's feed contains. */
export function sequenceIn(platformId: string, cursor: string): bigint {
  const position = positionOf(cursors, platformId, cursor);
  if (!position) throw new Error(`${cursor} is not a cursor of this feed`);
  return position.sequence;
}
