import { type ExecutionResult, GraphQLError } from 'graphql';
import { Refusal } from '../../core/refusal.ts';

/**
 * How many streams may be opening at once. After a restart of the server all its clients reconnect together: opened all at
 * once, all would wait for the database until they time out.
 */
const maxOpenings = 256;

/** Limits how many streams are opening at once. */
export class StreamOpenings {
  readonly #queue: (() => void)[] = [];
  #opening = 0;

  /** Opens a stream, after those before it in the queue. */
  async open<Stream>(open: () => Promise<Stream>): Promise<Stream> {
    if (this.#opening < maxOpenings) this.#opening += 1;
    // Whoever finishes passes its slot on, so that no later one overtakes the queue.
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await open();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#opening -= 1;
    }
  }
}

/**
 * Tells whether a stream could not be opened through no fault of its request: the database is out of reach, or too slow. Stock
 * clients take an error as final, but reconnect and resume when the connection is cut, or closed with 1013.
 */
export function isTemporaryFailure({ errors = [] }: ExecutionResult): boolean {
  return errors.some((error) => {
    if (!(error instanceof GraphQLError)) return true;
    const { originalError } = error;
    if (originalError === undefined || originalError === null) return error.extensions.code === 'TIMEOUT';
    return !(originalError instanceof GraphQLError) && !(originalError instanceof Refusal);
  });
}
