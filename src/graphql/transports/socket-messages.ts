import type { ExecutionResult } from 'graphql';
import type { StreamMessage } from '../server/stream-messages.ts';
import type { Extra } from './socket-sessions.ts';

/** Sends a message with a payload that is JSON already. Resolves when the system has taken it. */
export function sendNext({ socket, request }: Extra, id: string, payload: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  const connection = request.socket;
  if (connection.writableCorked === 0) {
    // What other operations of this socket send meanwhile goes to the system in the same call.
    connection.cork();
    process.nextTick(() => connection.uncork());
  }
  return new Promise((resolve, reject) => {
    const text = `{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`;
    socket.send(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Sends the messages of a stream as they are. To graphql-ws, which would serialize each for itself, it is a stream without
 * messages that ends when this one ends.
 */
export function sendAll(
  stream: AsyncIterableIterator<StreamMessage>,
  send: (payload: string) => Promise<void>,
): AsyncIterableIterator<ExecutionResult> {
  let isStopped = false;
  return {
    async next() {
      for (;;) {
        const { done, value } = await stream.next();
        if (done || isStopped) return { done: true, value: undefined };
        // A stream that throws is not returned by its reader, and one whose socket has broken would go on without one.
        await send(value.text).catch(async (error: unknown) => {
          await stream.return?.();
          throw error;
        });
      }
    },
    async return() {
      isStopped = true;
      await stream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
