import { type DocumentNode, visit } from 'graphql';
import { feedHead } from '../../../domain/events/reads.ts';
import type { Context } from '../context.ts';

/**
 * Reads the end of the feed into the context, before the operation reads anything else. A list in the same query then shows all
 * changes before that cursor. Read in parallel, a change could fall between the two and be missed by both.
 */
export async function readFeedHead(context: Context): Promise<void> {
  context.feedHead = await feedHead(context.payments.database, context.viewer.platformId);
}

const documentsWithCursor = new WeakMap<DocumentNode, boolean>();

/** Returns whether a document selects a field named feedCursor anywhere. Computed once per cached document. */
export function selectsFeedCursor(document: DocumentNode): boolean {
  let isSelected = documentsWithCursor.get(document);
  if (isSelected === undefined) {
    isSelected = false;
    visit(document, {
      Field: (node) => {
        if (node.name.value === 'feedCursor') isSelected = true;
      },
    });
    documentsWithCursor.set(document, isSelected);
  }
  return isSelected;
}
