import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Sessions } from '../../access/sessions.ts';
import type { Context } from '../context.ts';
import { superviseStream } from './supervise-stream.ts';

/** Watches over every subscription that Yoga itself answers: an event stream with a connection of its own. */
export function useEventStreams(sessions: Sessions): Plugin<Context> {
  return {
    onSubscribe: ({ args }) => ({
      onSubscribeResult({ result }) {
        const { eventStream, viewer } = args.contextValue as Context;
        if (eventStream && isAsyncIterable(result)) superviseStream(sessions, viewer, eventStream);
      },
    }),
  };
}
