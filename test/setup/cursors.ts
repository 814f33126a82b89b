import { Cursors } from '../../src/core/cursors.ts';
import { positionOf } from '../../src/domain/events/cursor.ts';

/** The SECRET_KEY, in hexadecimal, of all gateways that run in the process of the tests. */
export const secretKey = '6b1f0d4c9a7e3582c4d09be1f7a36258e0b9d3714fc68a25917d3e0c5ba8f642';

/** Encrypts and decrypts those gateways' cursors. */
export const cursors = new Cursors([Buffer.from(secretKey, 'hex')]);

/** Returns the sequence number in a cursor of a platform's feed. */
export function sequenceIn(platformId: string, cursor: string): bigint {
  const position = positionOf(cursors, platformId, cursor);
  if (!position) throw new Error(`${cursor} is not a cursor of this feed`);
  return position.sequence;
}
