/** A position in the primary's log: a standby that has replayed it shows everything committed before it. */
export interface Position {
  readonly lsn: bigint;
  /** The server, its timeline and the epoch of the feed. Positions of different histories cannot be compared. */
  readonly history: string;
}

/** Reads a position in the write-ahead log, such as `1/2AB`. */
export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Prints a position in the write-ahead log. */
export function lsnText(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`;
}
