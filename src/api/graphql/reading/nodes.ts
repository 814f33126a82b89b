import { type IdType, uuidOf } from '../../../core/ids.ts';
import { joinSql, literal, Part, type Run, type Sql, sql } from './sql.ts';

/** The ids of a run: as sent and, for known types, the uuids by type. */
interface NodeQuery {
  readonly ids: readonly string[];
  readonly uuids: ReadonlyMap<string, readonly string[]>;
}

interface NodeLookup {
  readonly isList: boolean;
  readonly types: readonly string[];
  /** Returns the public ids of a run; a single one if it has no list. */
  readonly idsOf: (run: Run) => readonly string[];
  /** Writes the query for a type's rows with these uuids, with the columns `json` and `id`. */
  readonly rowsOf: (type: string, uuidsOf: (run: Run) => readonly string[]) => Sql;
}

/** Writes SQL that reads the rows behind public ids: one, or a list in the order of the ids, reading each row once. */
export function nodesSql({ isList, types, idsOf, rowsOf }: NodeLookup): Sql {
  const cacheKey = {};
  const queryOf = (run: Run): NodeQuery => run.once(cacheKey, () => groupByType(idsOf(run), types));
  const tables = new Map(
    types.map((type) => {
      const rows = rowsOf(type, (run) => queryOf(run).uuids.get(type) ?? []);
      const query = isList
        ? sql`select ${literal(`${type}:`)} || n.id as id, n.json from (${rows}) n`
        : sql`coalesce((select json from (${rows}) n), 'null')`;
      return [type, new Part(query)];
    }),
  );
  return [
    (run) => {
      const { ids, uuids } = queryOf(run);
      const parts = Array.from(uuids.keys(), (type): Sql => [tables.get(type) ?? '']);
      if (!isList) return parts[0] ?? `'null'`;
      if (parts.length === 0) return literal(`[${ids.map(() => 'null').join(',')}]`);
      // A foreign id may contain characters that Postgres rejects.
      const idList = run.bind(ids.map((id) => (knownUuid(id, types) === undefined ? '' : id)));
      return sql`(select '[' || coalesce(string_agg(coalesce(r.json, 'null'), ',' order by u.position), '') || ']' from unnest(${idList}::text[]) with ordinality as u(id, position) left join (${joinSql(parts, ' union all ')}) r on r.id = u.id)`;
    },
  ];
}

function groupByType(ids: readonly string[], types: readonly string[]): NodeQuery {
  const uuids = new Map<string, string[]>();
  for (const id of new Set(ids)) {
    const uuid = knownUuid(id, types);
    if (uuid === undefined) continue;
    const [type = ''] = id.split(':', 1);
    const sameType = uuids.get(type);
    if (sameType) sameType.push(uuid);
    else uuids.set(type, [uuid]);
  }
  return { ids, uuids };
}

/** Returns the uuid in a public id of one of these types of the schema, all of which have ids. */
export function knownUuid(id: string, types: readonly string[]): string | undefined {
  return uuidOf(id, ...(types as readonly IdType[]));
}
