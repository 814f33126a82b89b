import {
  type GraphQLCompositeType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isObjectType,
} from 'graphql';
import { idOfCursor, type Page } from '../../core/paging.ts';
import { conditionsOf, tableOf } from '../../database/conditions.ts';
import { type PageArgs, parsePage } from '../paging.ts';
import { base64Url, type Env, type PageRead } from './reads.ts';
import { NotPlanned, type Selected, type Walk } from './selected.ts';
import { Part, type Piece, type Run, type Sql, sql } from './sql.ts';

interface PageOf {
  readonly asked: Selected;
  readonly read: PageRead;
  readonly env: Env;
}

/** How a connection is read in a run. */
interface Reading {
  readonly page: Page<unknown>;
  readonly where: object;
}

/**
 * The SQL of a connection: its page's rows, one more than its size to tell whether there is more, what is counted, and what
 * lies beyond its cursor, each only where it is asked for.
 */
export function pageSql(planner: Walk, { asked, read, env }: PageOf): Sql {
  const { field, node, below } = asked;
  const type = field && getNamedType(field.type);
  if (!field || !isObjectType(type)) throw new Error('a page is of an object type');
  const { list, model, of } = read;
  const key = read.key ?? { column: 'id', of: (platformId, cursor) => idOfCursor(list, platformId, cursor) };
  const table = tableOf(model);
  const row = planner.alias();
  const rows = `${row}p`;

  const reading = (run: Run): Reading =>
    run.once(asked, () => {
      const args = run.args(field, node);
      const given: PageArgs = { sortOrder: read.key?.sortOrder, ...args };
      const page = parsePage(given, (cursor) => key.of(run.viewer.platformId, cursor));
      return { page, where: read.where(run.viewer, args) };
    });
  /** The conditions on another row of the same table, with one more on its key. */
  const matching = (alias: string, place?: (page: Page<unknown>) => object | undefined): Sql => {
    const conditions: Piece = (run) => {
      const { page, where } = reading(run);
      const bound = place?.(page);
      return conditionsOf(model, alias, { AND: [where, bound === undefined ? {} : { [key.column]: bound }] }, run);
    };
    return of === undefined ? [conditions] : sql`${of(env, alias)} and ${conditions}`;
  };
  const size: Piece = (run) => String(reading(run).page.size);
  const most: Piece = (run) => String(reading(run).page.size + 1);
  const readOrder: Piece = (run) => reading(run).page.read;
  const shownOrder: Piece = (run) => {
    const { read: order, backward } = reading(run).page;
    return backward === (order === 'desc') ? 'asc' : 'desc';
  };
  const shownBackwards: Piece = (run) => {
    const { read: order, backward } = reading(run).page;
    return backward === (order === 'desc') ? 'desc' : 'asc';
  };

  const cursorOf = (place: Sql): Sql => {
    // Who asks is no text of the statement, or each platform would have statements of its own prepared.
    const prefix: Piece = (run) => `${run.bind(`${list}:${run.viewer.platformId.slice(-12)}:`)}::text`;
    return base64Url(sql`${prefix} || ${place}`);
  };

  const items: Sql[] = [];
  let usesRows = false;
  /** What is worked out over the rows that were read, of which the last may be the one too many. */
  const overRows = (expression: Sql): Sql => {
    usesRows = true;
    return expression;
  };
  /** A list of something of each row that is shown. */
  const listOf = (item: Sql): Sql => {
    const name = `i${items.length}`;
    items.push(sql`${item} as ${name}`);
    return overRows(
      sql`coalesce('[' || string_agg(${rows}.${name}, ',' order by ${rows}.${key.column} ${shownOrder}) filter (where ${rows}.n <= ${size}) || ']', '[]')`,
    );
  };
  const hasMore = (): Sql => overRows(sql`case when count(*) > ${size} then 'true' else 'false' end`);
  const hasBeyond = (): Sql => {
    const other = planner.alias();
    const exists = new Part(
      sql`(exists (select from ${table} ${other} where ${matching(other, ({ beyond }) => beyond)}))::text`,
    );
    return [(run) => (reading(run).page.beyond === undefined ? `'false'` : [exists])];
  };
  const byWay = (...ways: readonly [forward: Sql, backward: Sql]): Sql => {
    const [forward, backward] = ways.map((way) => new Part(way)) as [Part, Part];
    return [(run) => [reading(run).page.backward ? backward : forward]];
  };
  const end = (order: Piece): Sql => {
    const place = `${rows}.${key.column}`;
    const last = sql`(array_agg(${place} order by ${place} ${order}) filter (where ${rows}.n <= ${size}))[1]`;
    return overRows(sql`coalesce('"' || ${cursorOf(last)} || '"', 'null')`);
  };

  const edge = (one: Selected): Sql => {
    switch (one.node.name.value) {
      case 'cursor':
        return sql`'"' || ${cursorOf([`${row}.${key.column}`])} || '"'`;
      case 'node':
        return planner.value(compositeOf(one), one.below, { row });
      default:
        throw new NotPlanned(`${one.key} of an edge`);
    }
  };
  const info = (one: Selected): Sql => {
    switch (one.node.name.value) {
      case 'hasNextPage':
        return byWay(hasMore(), hasBeyond());
      case 'hasPreviousPage':
        return byWay(hasBeyond(), hasMore());
      case 'startCursor':
        return end(shownOrder);
      case 'endCursor':
        return end(shownBackwards);
      default:
        throw new NotPlanned(`${one.key} of a page`);
    }
  };
  const whole = planner.object(type, below, (one) => {
    switch (one.node.name.value) {
      case 'edges':
        return listOf(planner.object(objectOf(one), one.below, edge));
      case 'pageInfo':
        return planner.object(objectOf(one), one.below, info);
      case 'totalCount': {
        const other = planner.alias();
        return sql`(select count(*)::text from ${table} ${other} where ${matching(other)})`;
      }
      default:
        throw new NotPlanned(`${one.key} of a connection`);
    }
  });
  // Wrong arguments are wrong whatever is asked for.
  const checked: Piece = (run) => (reading(run) ? '' : '');
  if (!usesRows) return [checked, ...whole];
  const selected = sql`select ${row}.${key.column}${items.flatMap((item) => [', ', ...item])} from ${table} ${row} where ${matching(row, ({ bound }) => bound)} order by ${row}.${key.column} ${readOrder} limit ${most}`;
  // `having` makes one row of them, even where a run works out nothing over them.
  return sql`(select ${whole} from (select ${rows}s.*, row_number() over () as n from (${selected}) ${rows}s) ${rows} having true)`;
}

function objectOf(asked: Selected): GraphQLObjectType {
  const type = compositeOf(asked);
  if (!isObjectType(type)) throw new NotPlanned(`${asked.key} is no object`);
  return type;
}

function compositeOf({ key, field }: Selected): GraphQLCompositeType {
  const type = field && getNamedType(field.type);
  if (!isCompositeType(type)) throw new NotPlanned(`${key} is no object`);
  return type;
}
