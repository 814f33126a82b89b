import {
  assertCompositeType,
  assertObjectType,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isNonNullType,
} from 'graphql';
// The executor's own function, which the graphql package does not export from its root.
import { collectSubfields } from 'graphql/execution/collectFields.js';
import { type IdType, uuidOf } from '../../../core/ids.ts';
import { conditionsOf, tableOf } from '../../../infra/database/conditions.ts';
import { rowsOf, typeReadOf, variantOf } from './derive.ts';
import { notSequencedPlaceholder } from './finish.ts';
import { type DocumentWalker, LeftToExecutor, PageWriter, type ReadField, type SelectedField } from './page.ts';
import { textAt } from './paths.ts';
import type { Env, Read, Rows } from './reads.ts';
import { concatenate, inScope, joinSql, literal, Part, type Run, type Sql, sql } from './sql.ts';

interface PlannerOptions {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** The variable values that @skip and @include use. A plan is valid only for these values. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether each object has its type's name under `typeKey`, so that the executor can determine the type. */
  readonly isTyped: boolean;
}

/** The key under which an object stores its type's name. It is empty, because no field has an empty name. */
export const typeKey = '';

/**
 * Walks a document's selections and writes the SQL that produces the response. Whatever differs between runs
 * (arguments, variables, the caller) is a piece of SQL that each run fills in, so one plan serves all runs.
 */
export class Planner implements DocumentWalker {
  readonly #options: PlannerOptions;
  #aliases = 0;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  alias(): string {
    this.#aliases += 1;
    return `t${this.#aliases}`;
  }

  /** Returns the fields that nodes select, in response order. Fields with the same response key are merged. */
  selectedFields(type: GraphQLObjectType, nodes: readonly FieldNode[]): SelectedField[] {
    const { schema, fragments, variables } = this.#options;
    return Array.from(collectSubfields(schema, fragments, variables, type, nodes), ([key, below]) => {
      const [node] = below;
      if (!node) throw new Error('a selected field has a node');
      const name = node.name.value;
      const field = name === '__typename' ? undefined : type.getFields()[name];
      if (!field && name !== '__typename') throw new LeftToExecutor(`${name} is introspection`);
      return { key, field, node, below };
    });
  }

  value(type: GraphQLCompositeType, nodes: readonly FieldNode[], env: Env): Sql {
    return isAbstractType(type) ? this.#variants(type, nodes, env) : this.#row(type, nodes, env);
  }

  #variants(type: GraphQLAbstractType, nodes: readonly FieldNode[], env: Env): Sql {
    const { variants } = typeReadOf(type) ?? {};
    if (!variants) throw new LeftToExecutor(`${type.name} has no variants`);
    const by = textAt(undefined, variants.by)(env);
    const cases = Object.entries(variants.types).map(
      ([value, name]) => sql`when ${by} = ${literal(value)} then ${this.#row(this.#objectType(name), nodes, env)}`,
    );
    return sql`case ${joinSql(cases, ' ')} end`;
  }

  #objectType(name: string): GraphQLObjectType {
    return assertObjectType(this.#options.schema.getType(name));
  }

  object(type: GraphQLObjectType, nodes: readonly FieldNode[], each: (selected: ReadField) => Sql): Sql {
    const { isTyped } = this.#options;
    const parts: (string | Sql)[] = [isTyped ? `{"${typeKey}":"${type.name}"` : '{'];
    for (const [at, selected] of this.selectedFields(type, nodes).entries()) {
      parts.push(`${at > 0 || isTyped ? ',' : ''}"${selected.key}":`);
      parts.push(selected.field === undefined ? `"${type.name}"` : each(selected));
    }
    return concatenate([...parts, '}']);
  }

  #row(type: GraphQLObjectType, nodes: readonly FieldNode[], env: Env): Sql {
    return inScope(this.object(type, nodes, (selected) => this.openField(selected, env)));
  }

  /** Writes a field, unless it needs its own permission, which only the executor checks. */
  openField(selected: ReadField, env: Env): Sql {
    const { key, field } = selected;
    if (field.extensions.pothosOptions?.authScopes) throw new LeftToExecutor(`${key} needs a permission`);
    return this.field(selected, env);
  }

  /** Writes a field's SQL expression, which returns JSON as text. */
  field(selected: ReadField, env: Env, read = selected.field.extensions.read): Sql {
    const { field } = selected;
    if (!read) throw new LeftToExecutor(`${field.name} is resolved`);
    const value = this.#read(selected, read, env);
    // If the arguments are invalid, the run replaces only this field with an error and reads the other fields.
    return field.args.length === 0 ? value : [new Part(value, { isGuarded: true })];
  }

  #read(selected: ReadField, read: Read, env: Env): Sql {
    const { field, node, below } = selected;
    const args = (run: Run) => run.args(field, node);
    if (read.kind === 'leaf') {
      const expression = read.sql(env, args);
      return isNonNullType(field.type) ? expression : sql`coalesce(${expression}, 'null')`;
    }
    const type = assertCompositeType(getNamedType(field.type));
    switch (read.kind) {
      case 'value': {
        const value = this.value(type, below, read.env(env));
        return read.unless ? sql`case when ${read.unless(env)} then 'null' else ${value} end` : value;
      }
      case 'values':
        return this.#list(type, below, read.from(env, this.alias(), args));
      case 'row': {
        const alias = this.alias();
        return sql`coalesce((select ${this.value(type, below, { row: alias })} from ${read.from(env, alias, args)}), 'null')`;
      }
      case 'rowOf': {
        const rows = Object.entries(read.types).map(([name, from]) => {
          const alias = this.alias();
          return sql`(select ${this.#row(this.#objectType(name), below, { row: alias })} from ${from(env, alias)})`;
        });
        return sql`coalesce(${joinSql(rows, ', ')}, 'null')`;
      }
      case 'page':
        return new PageWriter(this, selected, read, env).page();
      case 'node':
        return this.#node(selected, read);
    }
  }

  #list(type: GraphQLCompositeType, below: readonly FieldNode[], { from, orderBy, env, isComplete }: Rows): Sql {
    const list = sql`coalesce('[' || string_agg(${this.value(type, below, env)}, ',' order by ${orderBy}) || ']', '[]')`;
    const json =
      isComplete === undefined
        ? list
        : sql`case when ${isComplete} then ${list} else concat(${notSequencedPlaceholder}, ${list}) end`;
    return sql`(select ${json} from ${from})`;
  }

  /** Writes the SQL for the row with a given id, or for rows in the order of the given ids. Reads each row once. */
  #node({ field, node, below }: ReadField, { types, idsFromRun }: Extract<Read, { kind: 'node' }>): Sql {
    const isList = idsFromRun || isListType(getNullableType(field.type));
    const idsOf = (run: Run) => {
      const args = idsFromRun ? { ids: run.input.ids ?? [] } : run.args(field, node);
      return (isList ? args.ids : [args.id]) as readonly string[];
    };
    const owner = {};
    const knownOf = (run: Run) =>
      run.once(owner, () => {
        const known = [...new Set(idsOf(run))].filter((id) => knownUuid(id, types) !== undefined);
        return Map.groupBy(known, (id) => id.split(':', 1)[0] ?? '');
      });
    const tables = new Map(
      types.map((type) => {
        const uuidsOf = (run: Run) => (knownOf(run).get(type) ?? []).flatMap((id) => knownUuid(id, types) ?? []);
        const rows = this.#rowsOfType(this.#objectType(type), below, uuidsOf);
        const query = isList
          ? sql`select ${literal(`${type}:`)} || n.id as id, n.json from (${rows}) n`
          : sql`coalesce((select json from (${rows}) n), 'null')`;
        return [type, new Part(query)];
      }),
    );
    return [
      (run) => {
        const ids = idsOf(run);
        const parts = Array.from(knownOf(run).keys(), (type): Sql => [tables.get(type) ?? '']);
        if (!isList) return parts[0] ?? `'null'`;
        if (parts.length === 0) return literal(`[${ids.map(() => 'null').join(',')}]`);
        // Unknown ids are replaced, because they may contain characters that Postgres rejects.
        const idList = run.bind(ids.map((id) => (knownUuid(id, types) === undefined ? '' : id)));
        return sql`(select '[' || coalesce(string_agg(coalesce(r.json, 'null'), ',' order by u.position), '') || ']' from unnest(${idList}::text[]) with ordinality as u(id, position) left join (${joinSql(parts, ' union all ')}) r on r.id = u.id)`;
      },
    ];
  }

  /** Writes a query for the rows of a type that have the given uuids. It returns the columns `json` and `id`. */
  #rowsOfType(type: GraphQLObjectType, below: readonly FieldNode[], uuidsOf: (run: Run) => readonly string[]): Sql {
    const { model, visible } = rowsOf(type);
    const [column, value = ''] = variantOf(type) ?? [];
    const alias = this.alias();
    const json = this.#row(type, below, { row: alias });
    const conditions = (run: Run) => {
      const uuids = uuidsOf(run);
      const id = uuids.length === 1 ? uuids[0] : { in: uuids };
      return conditionsOf(model, alias, { id, AND: [visible(run.viewer)] }, run);
    };
    const only = column === undefined ? '' : ` and ${textAt(undefined, column)({ row: alias })} = ${literal(value)}`;
    return sql`select ${json} as json, ${alias}.id from ${tableOf(model)} ${alias} where ${conditions}${only}`;
  }
}

/** Returns the uuid in a public id, if the id belongs to one of the given schema types. */
export function knownUuid(id: string, types: readonly string[]): string | undefined {
  return uuidOf(id, ...(types as readonly IdType[]));
}
