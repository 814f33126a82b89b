import { type ExecutionResult, GraphQLError } from 'graphql';
import { Refusal } from '../../core/refusal.ts';

/**
 * How many streams are opened at once. When a server is restarted all its clients come at once: side by side they would
 * all wait for the database until all are given up, one after the other each has its turn.
 */
const maxOpenings = 256;

/** Lets streams open a few at a time. */
export class StreamOpenings {
  readonly #turns: (() => void)[] = [];
  #opening = 0;

  /** Opens a stream when it is its turn. */
  async open<Stream>(open: () => Promise<Stream>): Promise<Stream> {
    if (this.#opening < maxOpenings) this.#opening += 1;
    // Whoever leaves hands its place on, so nobody slips in between.
    else await new Promise<void>((resolve) => this.#turns.push(resolve));
    try {
      return await open();
    } finally {
      const next = this.#turns.shift();
      if (next) next();
      else this.#opening -= 1;
    }
  }
}

/**
 * Tells whether a stream could not be opened through no fault of its request: the database is out of reach, or too slow. Stock
 * clients take an error for the last word, but a connection that is cut, or closed with 1013, for "come back and resume".
 */
export function isTemporaryFailure({ errors = [] }: ExecutionResult): boolean {
  return errors.some((error) => {
    if (!(error instanceof GraphQLError)) return true;
    const { originalError } = error;
    if (originalError === undefined || originalError === null) return error.extensions.code === 'TIMEOUT';
    return !(originalError instanceof GraphQLError) && !(originalError instanceof Refusal);
  });
}
