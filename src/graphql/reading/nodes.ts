import { literal, type Run, type Sql, textOf } from './sql.ts';

/** A table whose rows public ids of a type name: `rows` selects those of some uuids, as `json` and `id`. */
interface NodeTable {
  readonly name: string;
  readonly rows: (ids: readonly string[]) => Sql;
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The rows behind public ids: one, or a list in the order of its ids, each row read once. */
export function nodesSql(
  run: Run,
  ids: readonly string[],
  { isList, tables }: { readonly isList: boolean; readonly tables: readonly NodeTable[] },
): string {
  const byTable = Map.groupBy(new Set(ids), (id) => {
    const [type, uuid = ''] = id.split(':', 2);
    return uuidForm.test(uuid) && id.length === (type?.length ?? 0) + 37
      ? tables.find(({ name }) => name === type)
      : undefined;
  });
  const selects = Array.from(byTable, ([table, named]) => {
    if (!table) return undefined;
    return { table, text: textOf(table.rows(named.map((id) => id.slice(table.name.length + 1))), run) };
  }).filter((one) => one !== undefined);
  if (!isList) {
    const [only] = selects;
    return only ? `coalesce((select json from (${only.text}) n), 'null')` : `'null'`;
  }
  const union = selects.map(
    ({ table, text }) => `select ${literal(`${table.name}:`)} || n.id as id, n.json from (${text}) n`,
  );
  if (union.length === 0) return literal(`[${ids.map(() => 'null').join(',')}]`);
  // Whatever is no id of ours may hold what Postgres cannot take.
  const known = new Set(Array.from(byTable, ([table, named]) => (table ? named : [])).flat());
  const places = run.bind(ids.map((id) => (known.has(id) ? id : '')));
  return `(select '[' || coalesce(string_agg(coalesce(r.json, 'null'), ',' order by u.place), '') || ']' from unnest(${places}::text[]) with ordinality as u(id, place) left join (${union.join(' union all ')}) r on r.id = u.id)`;
}
