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

/** How rows of a noun are found by public id: who may see them, which row an id names, and the noun's name. */
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
 * Reads the rows with the public ids in an argument, each once. Throws NOT_FOUND for a row that the caller may not
 * see.
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
      : // The conditions of the ids' noun, which the compiler cannot follow through the table.
        await readRows(payments.database, noun, {
          where: { AND: [visible(viewer), { OR: conditions }] } as unknown as Where<N>,
        });
  if (rows.length < distinct.length) throw failure('NOT_FOUND', `no such ${word}`, { field });
  return rows;
}

/** A row by its uuid, and the viewer who asks for it. */
interface Sought {
  readonly viewer: Viewer;
  readonly noun: 'Customer' | 'Transaction';
  readonly id: string;
}

/** Streams that open in one turn of the event loop share a read: thousands do after an instance restarts. */
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
      readRows(database, noun, { where: { AND: [named[noun].visible(viewer), ids] } }),
    );
    for (const { id } of rows) found.add(`${scope} ${id}`);
  }
  return sought.map((one) => found.has(`${scopeOf(one)} ${one.id}`));
}

/** Returns a key for the rows of a noun that a viewer may see, the same for all viewers with the same bound. */
function scopeOf({ viewer, noun }: Sought): string {
  return JSON.stringify([noun, viewer.platformId, viewer.bound]);
}

/** Returns the UUID in a public id. Throws GraphQLError NOT_FOUND if the caller may not see such a row. */
export async function visibleId(
  { payments: { database }, viewer }: Context,
  noun: Sought['noun'],
  publicId: string,
  field: string,
): Promise<string> {
  const id = uuidOf(publicId, noun);
  if (id === undefined || !(await loaderOf(database).load({ viewer, noun, id })))
    throw failure('NOT_FOUND', `no such ${named[noun].word}`, { field });
  return id;
}
