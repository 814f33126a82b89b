import { type DocumentNode, visit } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { feedHead } from '../../events/feed.ts';
import type { Context } from '../context.ts';

const asking = new WeakMap<DocumentNode, boolean>();

/** Whether a document selects a field named feedCursor anywhere. Looked at once per cached document. */
function asksForHead(document: DocumentNode): boolean {
  let asks = asking.get(document);
  if (asks === undefined) {
    asks = false;
    visit(document, {
      Field: (node) => {
        if (node.name.value === 'feedCursor') asks = true;
      },
    });
    asking.set(document, asks);
  }
  return asks;
}

/**
 * Reads the end of the feed before the operation reads anything else. A list in the same query then shows all that comes
 * before that cursor; read side by side, a change could fall between the two and be missed by both.
 */
export function useFeedHead(): Plugin<Context> {
  return {
    async onExecute({ args }) {
      const context = args.contextValue as Context;
      if (asksForHead(args.document))
        context.feedHead = await feedHead(context.payments.database, context.viewer.platformId);
    },
  };
}
