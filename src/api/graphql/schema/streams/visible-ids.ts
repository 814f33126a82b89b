import { accountNameIn, uuidOf } from '../../../../core/ids.ts';
import {
  isVisibleStatements,
  visibleAccounts,
  visibleCustomers,
  visibleQuotes,
  visibleTransactions,
} from '../../../../domain/access/visible.ts';
import { readRows, type Where } from '../../../../infra/database/read-rows.ts';
import type { SnapshotRows } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { failure } from '../../failure.ts';

const visible = {
  Transaction: visibleTransactions,
  Quote: visibleQuotes,
  Customer: visibleCustomers,
  Account: visibleAccounts,
} as const;

type Noun = keyof typeof visible;

/** Returns the condition for the row with the given public id; undefined if it is not an id for this noun. */
function whereId(noun: Noun, id: string) {
  if (noun === 'Account') return accountNameIn(id);
  const uuid = uuidOf(id, noun);
  return uuid === undefined ? undefined : { id: uuid };
}

/** Reads the rows with the given public ids, each row once. Throws NOT_FOUND for a row that the caller may not see. */
export async function visibleRows<N extends Noun>(
  { payments, viewer }: Context,
  noun: N,
  ids: readonly string[],
  field: string,
): Promise<SnapshotRows[N][]> {
  const distinct = [...new Set(ids)];
  const conditions = distinct.map((id) => whereId(noun, id)).filter((condition) => condition !== undefined);
  const rows =
    conditions.length < distinct.length
      ? []
      : // These conditions belong to the ids' noun; the compiler cannot infer that through the table.
        await readRows(payments.database, noun, {
          where: { AND: [visible[noun](viewer), { OR: conditions }] } as unknown as Where<N>,
        });
  if (rows.length < distinct.length) throw noSuch(noun, field);
  return rows;
}

const noSuch = (noun: Noun, field: string) => failure('NOT_FOUND', `no such ${noun.toLowerCase()}`, { field });

/** Returns the UUID in a public id, if one is given. Throws NOT_FOUND if the caller may not see the row. */
export async function visibleId(
  { payments, viewer }: Context,
  noun: keyof typeof isVisibleStatements,
  publicId: string | null | undefined,
  field: string,
): Promise<string | undefined> {
  if (publicId == null) return undefined;
  const id = uuidOf(publicId, noun);
  const { pool } = payments.database;
  if (id === undefined || !(await isVisibleStatements[noun](pool, viewer, id)).isVisible) throw noSuch(noun, field);
  return id;
}
