import {
  type GraphQLCompositeType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isObjectType,
} from 'graphql';
import { PageArguments, PageRows } from './page-rows.ts';
import type { Env, PageRead } from './reads.ts';
import { type DocumentWalker, LeftToExecutor, type SelectedField } from './selected.ts';
import { Shared, type Sql, sql } from './sql.ts';

interface PageOptions {
  readonly selected: SelectedField;
  readonly read: PageRead;
  readonly env: Env;
}

/**
 * Writes the SQL of a connection: the page's rows plus one (which shows whether there are more), the total count, and
 * whether rows exist on the other side of its cursor; each only if the document selects it.
 */
export function pageSql(planner: DocumentWalker, { selected, read, env }: PageOptions): Sql {
  const { field, node, below } = selected;
  const type = field && getNamedType(field.type);
  if (!field || !isObjectType(type)) throw new Error('a page is of an object type');
  const args = new PageArguments({ field, node, read, env });
  const row = planner.alias();
  const rows = new PageRows(args, row);
  const connection = planner.object(type, below, (selected) => connectionField(selected, { planner, args, rows, row }));
  return rows.read(connection);
}

/** A page whose SQL is being written; `row` is the alias of one of its rows. */
interface PageDraft {
  readonly planner: DocumentWalker;
  readonly args: PageArguments;
  readonly rows: PageRows;
  readonly row: string;
}

function connectionField(selected: SelectedField, page: PageDraft): Sql {
  const { planner, args, rows } = page;
  switch (selected.node.name.value) {
    case 'edges':
      return rows.list(planner.object(objectOf(selected), selected.below, (one) => edgeField(one, page)));
    case 'nodes':
      return rows.list(planner.value(compositeOf(selected), selected.below, { row: page.row }));
    case 'pageInfo':
      return planner.object(objectOf(selected), selected.below, (one) => pageInfoField(one, page));
    case 'totalCount':
      return sql`(select c.count::text from ${new Shared(sql`select count(*) from ${args.onAnyPage('c')}`)} c)`;
    default:
      throw new LeftToExecutor(`${selected.key} of a connection`);
  }
}

function edgeField(selected: SelectedField, { planner, rows, row }: PageDraft): Sql {
  switch (selected.node.name.value) {
    case 'cursor':
      return rows.cursor();
    case 'node':
      return planner.value(compositeOf(selected), selected.below, { row });
    default:
      throw new LeftToExecutor(`${selected.key} of an edge`);
  }
}

function pageInfoField(selected: SelectedField, { planner, args, rows }: PageDraft): Sql {
  switch (selected.node.name.value) {
    case 'hasNextPage':
      return args.byDirection(rows.hasMore(), args.hasBeyond(planner.alias()));
    case 'hasPreviousPage':
      return args.byDirection(args.hasBeyond(planner.alias()), rows.hasMore());
    case 'startCursor':
      return rows.startCursor();
    case 'endCursor':
      return rows.endCursor();
    default:
      throw new LeftToExecutor(`${selected.key} of a page`);
  }
}

function objectOf(selected: SelectedField): GraphQLObjectType {
  const type = compositeOf(selected);
  if (!isObjectType(type)) throw new LeftToExecutor(`${selected.key} is not an object`);
  return type;
}

function compositeOf({ key, field }: SelectedField): GraphQLCompositeType {
  const type = field && getNamedType(field.type);
  if (!isCompositeType(type)) throw new LeftToExecutor(`${key} is not an object`);
  return type;
}
