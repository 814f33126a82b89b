import { Duplex } from 'node:stream';

/** A socket whose received bytes are read and recorded, so that another one can be sent the same. */
export class Recorded extends Duplex {
  readonly #socket: Duplex;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  readonly #take = (chunk: Buffer) => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) return void this.#socket.destroy();
    // Its reader unmasks what it gets in place.
    this.#chunks.push(Buffer.from(chunk));
    this.push(chunk);
  };
  readonly #end = () => void this.push(null);
  readonly #close = () => void this.destroy();

  /** @param maxBytes the most bytes to record: a socket that sends more is cut */
  constructor(socket: Duplex, maxBytes: number) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#maxBytes = maxBytes;
  }

  /** Begins to read. @param head what was received with the upgrade */
  begin(head: Buffer): void {
    this.#socket.on('data', this.#take).on('end', this.#end).on('close', this.#close);
    if (head.length > 0) this.#take(head);
  }

  /** Lets go of the socket, and returns all that it has received. Nothing more of it is read until somebody else does. */
  release(): Buffer {
    this.#socket.off('data', this.#take).off('end', this.#end).off('close', this.#close);
    this.#socket.pause();
    return Buffer.concat(this.#chunks);
  }

  override _read(): void {
    // Whatever comes is pushed: its amount has a limit.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
