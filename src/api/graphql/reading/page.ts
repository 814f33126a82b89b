import {
  assertCompositeType,
  assertObjectType,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
} from 'graphql';
import type { KeyBound, Page } from '../../../core/paging.ts';
import { type ListRows, listRows } from '../../../infra/database/list-rows.ts';
import { type PageArgs, parsePage } from '../paging.ts';
import { cursorPlaceholder } from './finish.ts';
import { type Env, keyIn, type PageKey, type PageRead } from './reads.ts';
import { Part, type Piece, type Run, type Sql, sql, textOfRun } from './sql.ts';

/** Thrown if a plan cannot read a document because the executor must resolve or authorize one of its fields. */
export class LeftToExecutor extends Error {}

/** A field in the response, with its key. `below` contains all nodes that select it; `node` is the first of them. */
export interface ReadField {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  readonly below: readonly FieldNode[];
}

/** A selected field, or `__typename`, for which `field` is undefined. */
export type SelectedField = ReadField | (Omit<ReadField, 'field'> & { readonly field: undefined });

/** The part of the planner that a PageWriter uses. */
export interface DocumentWalker {
  alias(): string;
  value(type: GraphQLCompositeType, nodes: readonly FieldNode[], env: Env): Sql;
  /** Writes an object in the response; `each` writes the value of one field. */
  object(type: GraphQLObjectType, nodes: readonly FieldNode[], each: (selected: ReadField) => Sql): Sql;
}

interface PageQuery {
  readonly page: Page<never>;
  readonly key: PageKey;
  readonly where: object;
}

/**
 * Writes a connection's SQL. The SQL reads the page's rows once, plus one row to see whether the list continues, and
 * aggregates what the document selects. It counts all rows, or looks beyond the page's cursor, only if the document
 * selects the fields that need this.
 */
export class PageWriter {
  readonly #planner: DocumentWalker;
  readonly #selected: ReadField;
  readonly #read: PageRead;
  readonly #env: Env;
  /** The alias of a row of the table. */
  readonly #row: string;
  /** The alias of the rows that were read. Their column `n` numbers them in reading order. */
  readonly #rows: string;
  readonly #columns: Sql[] = [];
  #isUsed = false;
  readonly #size: Piece = (run) => String(this.#query(run).page.size);
  readonly #answerOrder: Piece = (run) => (this.#query(run).page.backward ? 'desc' : 'asc');
  readonly #reverseOrder: Piece = (run) => (this.#query(run).page.backward ? 'asc' : 'desc');
  readonly #keyText: Piece = (run) => this.#query(run).key.text(this.#row);

  constructor(planner: DocumentWalker, selected: ReadField, read: PageRead, env: Env) {
    this.#planner = planner;
    this.#selected = selected;
    this.#read = read;
    this.#env = env;
    this.#row = planner.alias();
    this.#rows = `${this.#row}p`;
  }

  /** Writes the query that returns the connection. It reads rows only if the document selects something from them. */
  page(): Sql {
    const { field, node } = this.#selected;
    const connection = this.#object(this.#selected);
    if (!this.#isUsed) {
      // Adds nothing to the SQL, but throws if the arguments are invalid.
      const check: Piece = (run) => {
        this.#query(run);
        this.#read.within?.(run.args(field, node));
        return '';
      };
      return [check, ...connection];
    }
    const [row, rows] = [this.#row, this.#rows];
    const columns = this.#columns.flatMap((column) => [', ', ...column]);
    const readOrder: Piece = (run) => {
      const { key, page } = this.#query(run);
      return key.columns.map((column) => `${row}.${column} ${page.read}`).join(', ');
    };
    const onPage = this.#from(row, ({ page: { bound, read, size }, key: { columns } }) => ({
      bound,
      order: { columns, read, limit: size + 1 },
    }));
    const limit: Piece = (run) => String(this.#query(run).page.size + 1);
    const selected = sql`select ${this.#keyText} as k${columns} from ${onPage} order by ${readOrder} limit ${limit}`;
    // With `having`, the query returns exactly one row even if a run selects no aggregate.
    return sql`(select ${connection} from (select ${rows}s.*, row_number() over () as n from (${selected}) ${rows}s) ${rows} having true)`;
  }

  #object({ field, below }: ReadField): Sql {
    return this.#planner.object(assertObjectType(getNamedType(field.type)), below, (one) => this.#field(one));
  }

  /** Writes a field of the connection, of an edge, or of `pageInfo`. No two of these fields have the same name. */
  #field(selected: ReadField): Sql {
    switch (selected.node.name.value) {
      case 'edges':
        return this.#list(this.#object(selected));
      case 'cursor':
        return cursorPlaceholder(this.#read.list, [this.#keyText]);
      case 'node':
        return this.#node(selected);
      case 'nodes':
        return this.#list(this.#node(selected));
      case 'totalCount':
        return sql`(select c.count::text from ${{ shared: sql`select count(*) from ${this.#from('c', () => ({}))}` }} c)`;
      case 'pageInfo':
        return this.#object(selected);
      case 'hasNextPage':
        return this.#byDirection(this.#hasMore(), this.#hasBeyond());
      case 'hasPreviousPage':
        return this.#byDirection(this.#hasBeyond(), this.#hasMore());
      case 'startCursor':
        return this.#firstCursor(this.#answerOrder);
      case 'endCursor':
        return this.#firstCursor(this.#reverseOrder);
      default:
        throw new LeftToExecutor(`${selected.key} of a connection`);
    }
  }

  #node({ field, below }: ReadField): Sql {
    return this.#planner.value(assertCompositeType(getNamedType(field.type)), below, { row: this.#row });
  }

  /** Writes a list with one item for each row of the page; `item` is an expression over a row of the table. */
  #list(item: Sql): Sql {
    const [rows, column] = [this.#rows, `i${this.#columns.length}`];
    this.#columns.push(sql`${item} as ${column}`);
    return this.#aggregate(
      sql`coalesce('[' || string_agg(${rows}.${column}, ',' order by ${rows}.n ${this.#answerOrder}) filter (where ${rows}.n <= ${this.#size}) || ']', '[]')`,
    );
  }

  #hasMore(): Sql {
    return this.#aggregate(sql`case when count(*) > ${this.#size} then 'true' else 'false' end`);
  }

  /** Whether the list has rows on the other side of the page's cursor. */
  #hasBeyond(): Sql {
    const beyond = this.#from(this.#planner.alias(), ({ page }) => ({ bound: page.beyond }));
    const exists = new Part(sql`(exists (select from ${beyond}))::text`);
    return [(run) => (this.#query(run).page.beyond === undefined ? `'false'` : [exists])];
  }

  /** Writes one expression for pages read from the start of the list, and another for pages read from its end. */
  #byDirection(forward: Sql, backward: Sql): Sql {
    const [forwardPart, backwardPart] = [new Part(forward), new Part(backward)];
    return [(run) => [this.#query(run).page.backward ? backwardPart : forwardPart]];
  }

  #firstCursor(order: Piece): Sql {
    const first = sql`(array_agg(${this.#rows}.k order by ${this.#rows}.n ${order}) filter (where ${this.#rows}.n <= ${this.#size}))[1]`;
    return this.#aggregate(sql`coalesce(${cursorPlaceholder(this.#read.list, first)}, 'null')`);
  }

  #aggregate(expression: Sql): Sql {
    this.#isUsed = true;
    return expression;
  }

  /** Writes the FROM clause for the list's rows: for all of them, or for those within a bound in a given order. */
  #from(
    alias: string,
    part: (query: PageQuery) => Pick<ListRows, 'order'> & { readonly bound?: KeyBound<never> | undefined },
  ): Sql {
    const { field, node } = this.#selected;
    const { model, of } = this.#read;
    const below = of?.(this.#env, alias, (run) => run.args(field, node));
    return [
      (run) => {
        const query = this.#query(run);
        const { bound, order } = part(query);
        const where = { AND: [query.where, bound === undefined ? {} : query.key.within(bound)] };
        return listRows({ model, alias, where, below: below?.map((way) => textOfRun(way, run)), order }, run);
      },
    ];
  }

  #query(run: Run): PageQuery {
    return run.once(this, () => {
      const read = this.#read;
      const args = run.args(this.#selected.field, this.#selected.node);
      const key = read.key(args);
      const pageArgs: PageArgs = { sortOrder: key.sortOrder, ...args };
      // The cast is safe, because a parsed key is used only with the order for which it was parsed.
      const page = parsePage(pageArgs, (cursor, argument) => keyIn(read, key, run, cursor, argument) as never);
      return { page, key, where: read.where(run.viewer, args) };
    });
  }
}
