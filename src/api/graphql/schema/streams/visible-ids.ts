import DataLoader from 'dataloader';
import { accountNameIn, uuidOf } from '../../../../core/ids.ts';
import { oncePer } from '../../../../core/once-per.ts';
import type { Viewer } from '../../../../domain/access/viewer.ts';
import {
  visibleAccounts,
  visibleCustomers,
  visibleQuotes,
  visibleTransactions,
} from '../../../../domain/access/visible.ts';
import { asPlatform } from '../../../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../../../infra/database/database.ts';
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

/** Returns the condition for the row with a public id; undefined if it is not an id of this noun. */
function whereId(noun: Noun, id: string) {
  if (noun === 'Account') return accountNameIn(id);
  const uuid = uuidOf(id, noun);
  return uuid === undefined ? undefined : { id: uuid };
}

/**
 * Reads the rows with the public ids in an argument, each once. Throws NOT_FOUND for a row that the caller may not
 * see.
 */
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
      : // The conditions of the ids' noun, which the compiler cannot follow through the table.
        await readRows(payments.database, noun, {
          where: { AND: [visible[noun](viewer), { OR: conditions }] } as unknown as Where<N>,
        });
  if (rows.length < distinct.length) throw noSuch(noun, field);
  return rows;
}

const noSuch = (noun: Noun, field: string) => failure('NOT_FOUND', `no such ${noun.toLowerCase()}`, { field });

/** The uuid of a row, and the viewer who wants to see it. */
interface Sought {
  readonly viewer: Viewer;
  readonly noun: 'Customer' | 'Transaction';
  readonly id: string;
}

/** Streams that open in one turn of the event loop share a read: thousands open after an instance restarts. */
const loaderOf = oncePer((database: Database) => {
  const options = { cache: false, maxBatchSize: 500, batchScheduleFn: (run: () => void) => void setImmediate(run) };
  return new DataLoader((sought: readonly Sought[]) => whichAreVisible(database, sought), options);
});

async function whichAreVisible(database: Database, sought: readonly Sought[]): Promise<boolean[]> {
  const found = new Set<string>();
  for (const group of Map.groupBy(sought, scopeOf).values()) {
    const [first] = group;
    if (!first) continue;
    const { viewer, noun } = first;
    const scope = scopeOf(first);
    const ids = { id: { in: [...new Set(group.map(({ id }) => id))] } };
    const rows = await asPlatform(viewer.platformId, () =>
      readRows(database, noun, { where: { AND: [visible[noun](viewer), ids] } }),
    );
    for (const { id } of rows) found.add(`${scope} ${id}`);
  }
  return sought.map((one) => found.has(`${scopeOf(one)} ${one.id}`));
}

/** Returns a key for the rows of a noun that a viewer may see, the same for all viewers bound to the same object. */
function scopeOf({ viewer, noun }: Sought): string {
  return JSON.stringify([noun, viewer.platformId, viewer.bound]);
}

/** Returns the UUID in a public id, if one is given. Throws NOT_FOUND if the caller may not see such a row. */
export async function visibleId(
  { payments: { database }, viewer }: Context,
  noun: Sought['noun'],
  publicId: string | null | undefined,
  field: string,
): Promise<string | undefined> {
  if (publicId == null) return undefined;
  const id = uuidOf(publicId, noun);
  if (id === undefined || !(await loaderOf(database).load({ viewer, noun, id }))) throw noSuch(noun, field);
  return id;
}
