/** A position in the log of the primary: what is committed before it, a standby that has replayed it shows. */
export interface Position {
  readonly lsn: bigint;
  /** The server, its timeline and the epoch of the feed. Positions of different histories cannot be compared. */
  readonly history: string;
}

export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

export function lsnText(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`;
}
