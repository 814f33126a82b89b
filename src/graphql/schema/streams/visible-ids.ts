import type { Viewer } from '../../../access/viewer.ts';
import { visibleAccounts, visibleCustomers, visibleQuotes, visibleTransactions } from '../../../access/visible.ts';
import { accountNameIn, uuidOf } from '../../../core/ids.ts';
import { readRows, type Where } from '../../../database/read-rows.ts';
import type { SnapshotRows } from '../../../database/rows.ts';
import type { Context } from '../../context.ts';
import { failure } from '../../failure.ts';

/** How rows of a noun are found by their public ids: who may see them, which row an id names, and the word for one. */
const named = {
  Transaction: {
    visible: visibleTransactions,
    word: 'transaction',
    where: (id: string) => byUuid(uuidOf(id, 'Transaction')),
  },
  Quote: { visible: visibleQuotes, word: 'quote', where: (id: string) => byUuid(uuidOf(id, 'Quote')) },
  Customer: { visible: visibleCustomers, word: 'customer', where: (id: string) => byUuid(uuidOf(id, 'Customer')) },
  Account: { visible: visibleAccounts, word: 'account', where: (id: string) => accountNameIn(id) },
} as const satisfies Record<
  string,
  {
    readonly visible: (viewer: Viewer) => object;
    readonly word: string;
    readonly where: (id: string) => { readonly id: string } | undefined;
  }
>;

type Noun = keyof typeof named;

const byUuid = (id: string | undefined) => (id === undefined ? undefined : { id });

/**
 * Reads the rows behind public ids, each once.
 * @param field the name of the argument with the ids
 * @throws GraphQLError NOT_FOUND where the caller may not see one of them
 */
export async function visibleRows<N extends Noun>(
  { payments, viewer }: Context,
  noun: N,
  ids: readonly string[],
  field: string,
): Promise<SnapshotRows[N][]> {
  const { visible, word, where } = named[noun];
  const distinct = [...new Set(ids)];
  const conditions = distinct.map(where).filter((condition) => condition !== undefined);
  const rows =
    conditions.length < distinct.length
      ? []
      : // The conditions of the noun that the ids are of, which the compiler cannot follow through the table.
        await readRows(payments.database, noun, {
          where: { AND: [visible(viewer), { OR: conditions }] } as unknown as Where<N>,
        });
  if (rows.length < distinct.length) throw failure('NOT_FOUND', `no such ${word}`, { field });
  return rows;
}

/**
 * Returns the UUID of a row that the caller may see.
 * @param field the name of the argument
 * @throws GraphQLError NOT_FOUND
 */
export async function visibleId(context: Context, noun: Noun, id: string, field: string): Promise<string> {
  const [row] = await visibleRows(context, noun, [id], field);
  if (!row) throw new Error('a row that is missing is refused');
  return row.id;
}
