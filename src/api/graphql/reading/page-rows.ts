import type { FieldNode, GraphQLField } from 'graphql';
import type { KeyBound, Page } from '../../../core/paging.ts';
import { type ListRows, listRows } from '../../../infra/database/list-rows.ts';
import { type PageArgs, parsePage } from '../paging.ts';
import { cursorPlaceholder } from './finish.ts';
import { byId, type Env, keyIn, type PageKey, type PageRead } from './reads.ts';
import { Part, type Piece, type Run, type Sql, sql, textOfRun } from './sql.ts';

interface ConnectionField {
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  readonly read: PageRead;
  readonly env: Env;
}

/** The page and the conditions that follow from a run's arguments. */
interface PageQuery {
  readonly page: Page<never>;
  readonly key: PageKey;
  readonly where: object;
}

/** Writes the parts of a connection's SQL that depend on its arguments: conditions, sizes, orders and cursors. */
export class PageArguments {
  readonly size: Piece = (run) => String(this.#query(run).page.size);
  /** The page size plus one: the extra row shows whether there are more. */
  readonly limit: Piece = (run) => String(this.#query(run).page.size + 1);
  /** The order of the returned rows, relative to the order in which they were read and numbered as `n`. */
  readonly answerOrder: Piece = (run) => (this.#query(run).page.backward ? 'desc' : 'asc');
  readonly reverseOrder: Piece = (run) => (this.#query(run).page.backward ? 'asc' : 'desc');
  /** Adds no text, but throws if the arguments are invalid: for a page that reads no rows. */
  readonly check: Piece = (run) => {
    const { field, node, read } = this.#connection;
    this.#query(run);
    read.within?.(run.args(field, node));
    return '';
  };
  readonly #connection: ConnectionField;
  readonly #keyOf: (args: Readonly<Record<string, unknown>>) => PageKey;

  constructor(connection: ConnectionField) {
    this.#connection = connection;
    this.#keyOf = connection.read.key ?? (() => byId);
  }

  keyText(row: string): Piece {
    return (run) => this.#query(run).key.text(row);
  }

  readOrder(row: string): Piece {
    return (run) => {
      const { key, page } = this.#query(run);
      return key.columns.map((column) => `${row}.${column} ${page.read}`).join(', ');
    };
  }

  /** Writes the FROM clause of the rows that the page is taken from, in order. */
  onPage(alias: string): Sql {
    return this.#rows(alias, ({ page: { bound, read, size }, key: { columns } }) => ({
      bound,
      order: { columns, read, limit: size + 1 },
    }));
  }

  /** Writes the FROM clause of all matching rows, on any page. */
  onAnyPage(alias: string): Sql {
    return this.#rows(alias, () => ({}));
  }

  /** Writes JSON that says whether a row, with alias `alias`, matches on the other side of the page's cursor. */
  hasBeyond(alias: string): Sql {
    const exists = new Part(
      sql`(exists (select from ${this.#rows(alias, ({ page: { beyond } }) => ({ bound: beyond }))}))::text`,
    );
    return [(run) => (this.#query(run).page.beyond === undefined ? `'false'` : [exists])];
  }

  /** Writes one expression for pages read from the start of the list, and another for pages read from its end. */
  byDirection(forward: Sql, backward: Sql): Sql {
    const [forwardPart, backwardPart] = [new Part(forward), new Part(backward)];
    return [(run) => [this.#query(run).page.backward ? backwardPart : forwardPart]];
  }

  cursorOf(position: Sql): Sql {
    return cursorPlaceholder(this.#connection.read.list, position);
  }

  #rows(
    alias: string,
    part: (query: PageQuery) => Pick<ListRows, 'order'> & { readonly bound?: KeyBound<never> | undefined },
  ): Sql {
    const { field, node, env, read } = this.#connection;
    const below = read.of?.(env, alias, (run) => run.args(field, node));
    return [
      (run) => {
        const query = this.#query(run);
        const { bound, order } = part(query);
        const where = { AND: [query.where, bound === undefined ? {} : query.key.within(bound)] };
        const ways = below?.map((way) => textOfRun(way, run));
        return listRows({ model: read.model, alias, where, below: ways, order }, run);
      },
    ];
  }

  #query(run: Run): PageQuery {
    return run.once(this, () => {
      const { field, node, read } = this.#connection;
      const args = run.args(field, node);
      const key = this.#keyOf(args);
      const pageArgs: PageArgs = { sortOrder: key.sortOrder, ...args };
      // A key is used only with the order that has parsed it.
      const page = parsePage(pageArgs, (cursor, argument) => keyIn(read, key, run, cursor, argument) as never);
      return { page, key, where: read.where(run.viewer, args) };
    });
  }
}

/**
 * The rows of a page, read once and aggregated as the document selects. The last may be one more than the page size.
 */
export class PageRows {
  readonly #args: PageArguments;
  /** The alias of a row of the table. */
  readonly #row: string;
  /** The alias of the rows that were read. */
  readonly #rows: string;
  readonly #columns: Sql[] = [];
  #isUsed = false;

  constructor(args: PageArguments, row: string) {
    this.#args = args;
    this.#row = row;
    this.#rows = `${row}p`;
  }

  cursor(): Sql {
    return this.#args.cursorOf([this.#args.keyText(this.#row)]);
  }

  /** Writes a list with one item for each row of the page; `item` is an expression on the table's row. */
  list(item: Sql): Sql {
    const { answerOrder, size } = this.#args;
    const [rows, column] = [this.#rows, `i${this.#columns.length}`];
    this.#columns.push(sql`${item} as ${column}`);
    return this.#aggregate(
      sql`coalesce('[' || string_agg(${rows}.${column}, ',' order by ${rows}.n ${answerOrder}) filter (where ${rows}.n <= ${size}) || ']', '[]')`,
    );
  }

  hasMore(): Sql {
    return this.#aggregate(sql`case when count(*) > ${this.#args.size} then 'true' else 'false' end`);
  }

  /** Writes the cursor of the first row of the page, or null, as JSON. */
  startCursor(): Sql {
    return this.#firstCursor(this.#args.answerOrder);
  }

  /** Writes the cursor of the last row of the page, or null, as JSON. */
  endCursor(): Sql {
    return this.#firstCursor(this.#args.reverseOrder);
  }

  /**
   * Writes the query that reads the rows and returns an expression over them. It reads no rows if the expression uses
   * none.
   */
  read(expression: Sql): Sql {
    if (!this.#isUsed) return [this.#args.check, ...expression];
    const { limit } = this.#args;
    const [row, rows] = [this.#row, this.#rows];
    const columns = this.#columns.flatMap((column) => [', ', ...column]);
    const selected = sql`select ${this.#args.keyText(row)} as k${columns} from ${this.#args.onPage(row)} order by ${this.#args.readOrder(row)} limit ${limit}`;
    // `having` yields a single row, even if a run selects no aggregate.
    return sql`(select ${expression} from (select ${rows}s.*, row_number() over () as n from (${selected}) ${rows}s) ${rows} having true)`;
  }

  #firstCursor(order: Piece): Sql {
    const first = sql`(array_agg(${this.#rows}.k order by ${this.#rows}.n ${order}) filter (where ${this.#rows}.n <= ${this.#args.size}))[1]`;
    return this.#aggregate(sql`coalesce(${this.#args.cursorOf(first)}, 'null')`);
  }

  #aggregate(expression: Sql): Sql {
    this.#isUsed = true;
    return expression;
  }
}
