/**
 * A place in a platform's feed, as clients keep it: one kind for subscriptions, `events`, timelines and
 * `viewer.feedCursor`. It names its platform, so that a cursor of another one is not mistaken for a place in this one.
 */
export function feedCursor(platformId: string, sequence: bigint): string {
  return Buffer.from(`feed:${platformId.slice(-12)}:${sequence}`).toString('base64url');
}

/** The sequence in a cursor, or undefined when it is unreadable or another platform's. */
export function sequenceOf(platformId: string, cursor: string): bigint | undefined {
  const [kind, platform, sequence = '', ...rest] = Buffer.from(cursor, 'base64url').toString('latin1').split(':');
  const known =
    kind === 'feed' && platform === platformId.slice(-12) && rest.length === 0 && /^(0|[1-9]\d{0,17})$/.test(sequence);
  return known && feedCursor(platformId, BigInt(sequence)) === cursor ? BigInt(sequence) : undefined;
}
