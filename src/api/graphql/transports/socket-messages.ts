import { once } from 'node:events';
import type { ExecutionResult } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import type { WorkTurn } from '../../../core/turn.ts';
import type { ResumeKey, ResumePoint, ResumePoints } from '../../../domain/events/resume-points.ts';
import { iterateHere } from '../../../infra/instruments/iterate-here.ts';
import { asRequest, type RequestFacts } from '../../../infra/instruments/request-facts.ts';
import type { Operations, Prepared } from '../server/operations.ts';
import { unavailable } from '../server/server.ts';
import type { StreamMessage } from '../server/stream-messages.ts';
import { closeTryAgain, type Extra } from './socket-sessions.ts';

export interface SocketOperation extends Prepared {
  readonly id: string;
  readonly extra: Extra;
  /** The description of the message in the log. */
  readonly facts: RequestFacts;
  readonly resumeKey: ResumeKey | undefined;
  /** Its turn, which ends when it is answered or its stream is open. */
  readonly turn: WorkTurn;
}

interface SocketStreams {
  readonly operations: Operations;
  readonly resumePoints: ResumePoints;
}

/** Opens an operation's stream; with a resume key, after the last message that its client has acknowledged. */
export async function openSocketStream(
  { operations, resumePoints }: SocketStreams,
  operation: SocketOperation,
): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> {
  const { extra, facts, resumeKey, contextValue } = operation;
  let point: ResumePoint | undefined;
  try {
    point = resumeKey && (await resumePoints.open(resumeKey));
    const stream = await operations.subscribe({
      ...operation,
      ...(point && { contextValue: { ...contextValue, resumePoint: point, resumeAfter: point.resumeAfter } }),
    });
    if (isAsyncIterable(stream))
      return sendAll(
        asRequest(facts, () => iterateHere(stream)),
        operation,
        point,
      );
    point?.close(false);
    return stream;
  } catch (error) {
    point?.close(false);
    if (resumeKey === undefined) throw error;
    // The database did not respond: the client reconnects.
    extra.socket.close(closeTryAgain, 'try again');
    return { errors: [unavailable()] };
  }
}

/** Sends a message whose payload is already JSON. Resolves when the system has accepted it. */
function sendNext({ socket, request }: Extra, id: string, payload: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  const connection = request.socket;
  if (connection.writableCorked === 0) {
    // Meanwhile, messages of this socket's other operations go to the system in the same call.
    connection.cork();
    process.nextTick(() => connection.uncork());
  }
  return new Promise((resolve, reject) => {
    const text = `{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`;
    socket.send(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Sends a stream's messages directly: graphql-ws, which would serialize each, sees a stream without messages. */
function sendAll(
  stream: AsyncIterableIterator<StreamMessage>,
  { id, extra }: SocketOperation,
  point: ResumePoint | undefined,
): AsyncIterableIterator<ExecutionResult> {
  let isStopped = false;
  const send = ({ text, position }: StreamMessage): Promise<void> => {
    const sent = sendNext(extra, id, text);
    if (position && point) extra.acknowledgements?.noteSent(point, position);
    return sent;
  };
  return {
    async next() {
      try {
        for (;;) {
          const { done, value } = await stream.next();
          if (done || isStopped) {
            point?.close(false);
            return { done: true, value: undefined };
          }
          await send(value);
        }
      } catch (error) {
        point?.close(false);
        // Readers do not return a stream that throws; with a broken socket, it would continue without a reader.
        await stream.return?.();
        if (isOpen(extra)) throw error;
        // The connection is broken. Once the socket notices, graphql-ws does not report the end of the operation.
        if (extra.socket.readyState !== extra.socket.CLOSED) await once(extra.socket, 'close');
        return { done: true, value: undefined };
      }
    },
    async return() {
      isStopped = true;
      // On an open socket, the client has ended the stream itself and will not resume it.
      point?.close(isOpen(extra));
      await stream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Returns whether a socket is open. Its connection may be broken without the socket having noticed. */
function isOpen({ socket, request }: Extra): boolean {
  return socket.readyState === socket.OPEN && !request.socket.destroyed;
}
