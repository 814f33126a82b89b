import { Transform, type TransformCallback } from 'node:stream';

/** Returns a frame that closes a WebSocket (RFC 6455, 5.5.1), as a server sends it. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, 123);
  const head = Buffer.from([0x88, text.length + 2, code >> 8, code & 0xff]);
  return Buffer.concat([head, text]);
}

/**
 * Passes on what a server sends on a WebSocket, and follows where its frames end: only there something else may be sent. It looks
 * at no content.
 */
export class ServerFrames extends Transform {
  /** The bytes of the present frame's head that have come, until it is whole. */
  #head = Buffer.alloc(0);
  /** How many bytes of the present frame's payload are still to come. */
  #left = 0;
  #goodbye: Buffer | undefined;
  #hasEnded = false;

  /** Sends `frame` as soon as the present frame has ended, and ends. */
  endWith(frame: Buffer): void {
    this.#goodbye ??= frame;
    if (this.#isBetweenFrames()) this.#endNow();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const isLast = this.#goodbye !== undefined;
    let position = 0;
    while (position < chunk.length && !(isLast && this.#isBetweenFrames())) position = this.#step(chunk, position);
    if (!this.#hasEnded) this.push(chunk.subarray(0, position));
    if (isLast && this.#isBetweenFrames()) this.#endNow();
    done();
  }

  #isBetweenFrames(): boolean {
    return this.#left === 0 && this.#head.length === 0;
  }

  #endNow(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.push(this.#goodbye);
    this.push(null);
  }

  /** Follows a part of the chunk: of the payload of a frame, or one byte of its head. Returns where the next part begins. */
  #step(chunk: Buffer, position: number): number {
    if (this.#left > 0) {
      const taken = Math.min(this.#left, chunk.length - position);
      this.#left -= taken;
      return position + taken;
    }
    this.#head = Buffer.concat([this.#head, chunk.subarray(position, position + 1)]);
    const length = payloadLength(this.#head);
    if (length !== undefined) {
      this.#left = length;
      this.#head = Buffer.alloc(0);
    }
    return position + 1;
  }
}

/** Returns the length of the payload of a frame by its head; undefined while that is not whole. A server masks nothing. */
function payloadLength(head: Buffer): number | undefined {
  if (head.length < 2) return undefined;
  const short = head.readUInt8(1) & 0x7f;
  if (short < 126) return short;
  if (short === 126) return head.length < 4 ? undefined : head.readUInt16BE(2);
  return head.length < 10 ? undefined : Number(head.readBigUInt64BE(2));
}
