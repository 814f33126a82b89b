/**
 * Returns the cursor of a position in a platform's feed: the same for subscriptions, `events`, timelines and
 * `viewer.feedCursor`. It contains its platform, so that another platform does not accept it.
 */
export function feedCursor(platformId: string, sequence: bigint): string {
  return Buffer.from(`feed:${platformId.slice(-12)}:${sequence}`).toString('base64url');
}

/** Reads the sequence in a cursor; undefined when it is malformed or another platform's. */
export function sequenceOf(platformId: string, cursor: string): bigint | undefined {
  const [kind, platform, sequence = '', ...rest] = Buffer.from(cursor, 'base64url').toString('latin1').split(':');
  const isValid =
    kind === 'feed' && platform === platformId.slice(-12) && rest.length === 0 && /^(0|[1-9]\d{0,17})$/.test(sequence);
  return isValid && feedCursor(platformId, BigInt(sequence)) === cursor ? BigInt(sequence) : undefined;
}
