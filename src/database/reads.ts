import type { PrismaClient } from './generated/client/client.ts';
import { Prisma } from './generated/client/client.ts';
import { type Arguments, type Column, countStatement, type Shape, selectStatement } from './select-statement.ts';
import type { Queryable } from './statement.ts';
import type { StatementNames } from './statement-names.ts';

/** The nouns whose rows are read by statements of our own. */
const models = { account: 'Account', customer: 'Customer', quote: 'Quote', transaction: 'Transaction' } as const;

type ReadModel = keyof typeof models;

/**
 * Rows of the nouns, asked for as Prisma is asked and answered in its types: the same `where`, `select`, `include`,
 * `orderBy` and `take` for as much of Prisma's language as REST and the checks of mutations use, and an error for the rest. One
 * prepared statement reads rows and relations as JSON, which takes a fraction of the client's processor time.
 */
export type Reads = { readonly [M in ReadModel]: Pick<PrismaClient[M], 'findMany' | 'findUnique' | 'count'> };

/** Opens the reads on a pool. `onStatement` is told the text of each statement. */
export function openReads(pool: Queryable, names: StatementNames, onStatement?: (sql: string) => void): Reads {
  const ask = async ({ text, values }: { readonly text: string; readonly values: readonly unknown[] }) => {
    onStatement?.(text);
    const { rows } = await pool.query<[unknown]>({
      name: names.nameOf(text),
      text,
      values: [...values],
      rowMode: 'array',
    });
    return rows[0]?.[0];
  };
  const read = async (model: string, args: Arguments): Promise<object[]> => {
    const statement = selectStatement(model, args);
    const json = await ask(statement);
    // The statement makes a list of lists, as its shape says; the assertions in `revive` follow the same shape.
    return typeof json === 'string' ? (JSON.parse(json) as unknown[][]).map((row) => revive(statement.shape, row)) : [];
  };
  const reader = (model: string) => ({
    findMany: (args: Arguments) => read(model, args),
    findUnique: async (args: Arguments) => (await read(model, { ...args, take: 1 }))[0] ?? null,
    count: (args: Pick<Arguments, 'where' | 'take'>) => ask(countStatement(model, args)),
  });
  // Rows have just the fields that the arguments select, which is what Prisma's own types work out from them.
  return Object.fromEntries(Object.entries(models).map(([name, model]) => [name, reader(model)])) as unknown as Reads;
}

/** A row as Prisma would have read it, from those of its columns that were read, in the order of their shape. */
function revive(shape: Shape, values: readonly unknown[]): object {
  const row: Record<string, unknown> = {};
  let at = 0;
  for (const column of shape) row[column.name] = column.as === 'known' ? column.value : revived(column, values[at++]);
  return row;
}

function revived(column: Exclude<Column, { readonly as: 'known' }>, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (column.as) {
    case 'itself':
      return value;
    case 'bigint':
      return BigInt(value as string);
    case 'date':
      return new Date(value as string);
    case 'decimal':
      return new Prisma.Decimal(value as string);
    case 'row':
      return revive(column.shape, value as unknown[]);
    case 'rows':
      return (value as unknown[][]).map((one) => revive(column.shape, one));
  }
}
