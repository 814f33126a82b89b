import type { ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable, mapAsyncIterator } from 'graphql-yoga';
import type { FeedPosition } from '../../../domain/events/cursor.ts';
import type { Message } from '../schema/streams/stream.ts';
import type { Follower } from './shared-results.ts';

export interface StreamMessage {
  readonly text: string;
  /** Its position in the feed; undefined if it has none. */
  readonly cursor?: string;
  readonly position?: FeedPosition;
}

interface MessageOptions {
  readonly present: (error: unknown) => GraphQLError;
  readonly extensionsOf: (place: Place | undefined, isFirst: boolean) => ExecutionResult['extensions'];
}

export type Place = Pick<Message, 'cursor' | 'position'>;

/** Returns the messages of an open subscription, each executed when its reader asks for it. */
export function streamMessages(
  payloads: AsyncIterable<unknown>,
  follower: Follower,
  { present, extensionsOf }: MessageOptions,
): AsyncIterableIterator<StreamMessage> {
  const source = payloads[Symbol.asyncIterator]();
  let isFirst = true;
  return {
    async next() {
      try {
        const { done, value } = await source.next();
        if (!done) {
          const text = await follower.textOf(value);
          const place = placeOf(value);
          const extensions = extensionsOf(place, isFirst);
          isFirst = false;
          const more = extensions ? `${text.slice(0, -1)},"extensions":${JSON.stringify(extensions)}}` : text;
          return { done: false, value: { text: more, ...place } };
        }
      } catch (error) {
        follower.leave();
        await source.return?.();
        throw present(error);
      }
      follower.leave();
      return { done: true, value: undefined };
    },
    async return() {
      follower.leave();
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Returns the same stream with its messages as data, for a server that serializes them itself. */
export function asResults(
  stream: AsyncIterableIterator<StreamMessage> | ExecutionResult,
): AsyncIterableIterator<ExecutionResult> | ExecutionResult {
  if (!isAsyncIterable(stream)) return stream;
  return mapAsyncIterator(stream, ({ text }): ExecutionResult => JSON.parse(text));
}

function placeOf(payload: unknown): Place | undefined {
  if (typeof payload !== 'object' || payload === null || !('position' in payload)) return undefined;
  // Only messages of the feed have a position.
  const { cursor, position } = payload as Message;
  return { cursor, position };
}
