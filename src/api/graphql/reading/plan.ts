import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLCompositeType,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { conditionsOf, tableOf } from '../../../infra/database/conditions.ts';
import { modelOf, typeReadOf } from './derive.ts';
import { notSequencedPlaceholder } from './finish.ts';
import { nodesSql } from './nodes.ts';
import { pageSql } from './page.ts';
import { textAt } from './paths.ts';
import type { Env, Read, Rows } from './reads.ts';
import { type DocumentWalker, LeftToExecutor, type SelectedField } from './selected.ts';
import { concatenate, inScope, type JsonPart, joinSql, literal, Part, type Run, type Sql, sql } from './sql.ts';

interface PlannerOptions {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The values of variables, for @skip and @include: a plan is valid for one set of them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether each object has its type's name under `typeKey`, from which the executor determines the type. */
  readonly isTyped: boolean;
}

/** The key under which an object has the name of its type, since no field has an empty name. */
export const typeKey = '';

/**
 * Walks the selections of a document and writes the SQL that produces the answer. The parts that differ between runs
 * (arguments, variables, the caller) are pieces of SQL that each run fills in, so one plan serves all runs.
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

  /** Returns the selected fields of a type in response order. Fields with the same response key are merged. */
  selectedFields(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): SelectedField[] {
    const fieldsByKey = new Map<
      string,
      { field: SelectedField['field']; node: FieldNode; below: SelectionSetNode[] }
    >();
    for (const set of sets) this.#collect(type, set, fieldsByKey);
    return Array.from(fieldsByKey, ([key, selected]) => ({ key, ...selected }));
  }

  #collect(
    type: GraphQLObjectType,
    set: SelectionSetNode,
    fieldsByKey: Map<string, { field: SelectedField['field']; node: FieldNode; below: SelectionSetNode[] }>,
  ): void {
    for (const selection of set.selections) {
      if (!this.#isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const existing = fieldsByKey.get(key);
        if (existing) {
          if (selection.selectionSet) existing.below.push(selection.selectionSet);
          continue;
        }
        const name = selection.name.value;
        const field = name === '__typename' ? undefined : type.getFields()[name];
        if (!field && name !== '__typename') throw new LeftToExecutor(`${name} is introspection`);
        fieldsByKey.set(key, { field, node: selection, below: selection.selectionSet ? [selection.selectionSet] : [] });
        continue;
      }
      const fragment =
        selection.kind === Kind.FRAGMENT_SPREAD ? this.#options.fragments.get(selection.name.value) : selection;
      const condition = fragment?.typeCondition?.name.value;
      if (fragment && (condition === undefined || this.#satisfies(type, condition))) {
        this.#collect(type, fragment.selectionSet, fieldsByKey);
      }
    }
  }

  #isIncluded(selection: Parameters<typeof getDirectiveValues>[1]): boolean {
    const { variables } = this.#options;
    if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if === true) return false;
    return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !== false;
  }

  #satisfies(type: GraphQLObjectType, condition: string): boolean {
    const other = this.#options.schema.getType(condition);
    return other === type || (isAbstractType(other) && this.#options.schema.isSubType(other, type));
  }

  value(type: GraphQLCompositeType, sets: readonly SelectionSetNode[], env: Env): Sql {
    return isAbstractType(type) ? this.#variants(type, sets, env) : this.#row(type, sets, env);
  }

  #variants(type: GraphQLAbstractType, sets: readonly SelectionSetNode[], env: Env): Sql {
    const { variants } = typeReadOf(type) ?? {};
    if (!variants) throw new LeftToExecutor(`${type.name} has no variants`);
    const by = textAt(undefined, variants.by)(env);
    const cases = Object.entries(variants.types).map(
      ([value, name]) => sql`when ${by} = ${literal(value)} then ${this.#row(this.#objectType(name), sets, env)}`,
    );
    return sql`case ${joinSql(cases, ' ')} end`;
  }

  #objectType(name: string): GraphQLObjectType {
    const type = this.#options.schema.getType(name);
    if (!isObjectType(type)) throw new Error(`${name} is not an object type`);
    return type;
  }

  object(type: GraphQLObjectType, sets: readonly SelectionSetNode[], each: (selected: SelectedField) => Sql): Sql {
    const { isTyped } = this.#options;
    const parts: JsonPart[] = [{ text: isTyped ? `{"${typeKey}":"${type.name}"` : '{' }];
    for (const [at, selected] of this.selectedFields(type, sets).entries()) {
      parts.push({ text: `${at > 0 || isTyped ? ',' : ''}"${selected.key}":` });
      parts.push(selected.field === undefined ? { text: `"${type.name}"` } : { of: each(selected) });
    }
    return concatenate([...parts, { text: '}' }]);
  }

  #row(type: GraphQLObjectType, sets: readonly SelectionSetNode[], env: Env): Sql {
    return inScope(this.object(type, sets, (selected) => this.#field(selected, env)));
  }

  root(selected: SelectedField): Sql {
    return this.#field(selected, {});
  }

  #field(selected: SelectedField, env: Env): Sql {
    assertUnrestricted(selected);
    return this.field(selected, env);
  }

  /** Writes a field of a value in this environment: an expression that is JSON as text. */
  field(selected: SelectedField, env: Env, read = selected.field?.extensions.read): Sql {
    const { field, node } = selected;
    if (!field || !read) throw new LeftToExecutor(`${node.name.value} is resolved`);
    const value = this.#read(selected, field, read, env);
    // Guarded: if its arguments are invalid, the run replaces this field with an error and reads the others.
    return field.args.length === 0 ? value : [new Part(value, { isGuarded: true })];
  }

  #read(selected: SelectedField, field: GraphQLField<unknown, unknown>, read: Read, env: Env): Sql {
    const { node, below } = selected;
    const type = getNamedType(field.type);
    const isNullable = !isNonNullType(field.type);
    if (read.kind === 'leaf') {
      const expression = read.sql(env, (run) => run.args(field, node));
      return isNullable ? sql`coalesce(${expression}, 'null')` : expression;
    }
    if (!isCompositeType(type)) throw new Error(`${field.name} is read as an object but is not one`);
    switch (read.kind) {
      case 'value': {
        const value = this.value(type, below, read.env(env));
        return read.unless ? sql`case when ${read.unless(env)} then 'null' else ${value} end` : value;
      }
      case 'values': {
        const alias = this.alias();
        const list = this.#list(
          type,
          below,
          read.from(env, alias, (run) => run.args(field, node)),
        );
        return read.unless ? sql`case when ${read.unless(env)} then 'null' else ${list} end` : list;
      }
      case 'row': {
        const alias = this.alias();
        return sql`coalesce((select ${this.value(type, below, { row: alias })} from ${read.from(env, alias, (run) => run.args(field, node))}), 'null')`;
      }
      case 'rowOf': {
        const rows = Object.entries(read.types).map(([name, from]) => {
          const alias = this.alias();
          return sql`(select ${this.#row(this.#objectType(name), below, { row: alias })} from ${from(env, alias)})`;
        });
        return sql`coalesce(${joinSql(rows, ', ')}, 'null')`;
      }
      case 'page':
        return pageSql(this, { selected, read, env });
      case 'node':
        return this.#node(selected, read);
    }
  }

  #list(type: GraphQLCompositeType, below: readonly SelectionSetNode[], rows: Rows): Sql {
    const item = this.value(type, below, rows.env);
    const list = sql`coalesce('[' || string_agg(${item}, ',' order by ${rows.orderBy}) || ']', '[]')`;
    const json =
      rows.isComplete === undefined
        ? list
        : sql`case when ${rows.isComplete} then ${list} else concat(${notSequencedPlaceholder}, ${list}) end`;
    return sql`(select ${json} from ${rows.from})`;
  }

  /** Writes the rows behind public ids: one, or a list in the order of the ids, reading each row once. */
  #node({ field, node, below }: SelectedField, { types, idsFromRun }: Extract<Read, { kind: 'node' }>): Sql {
    if (!field) throw new LeftToExecutor('nothing to read');
    const isList = idsFromRun || isListType(isNonNullType(field.type) ? field.type.ofType : field.type);
    return nodesSql({
      isList,
      types,
      idsOf: (run) => {
        const args = run.args(field, node);
        return idsFromRun ? run.ids : ((isList ? args.ids : [args.id]) as readonly string[]);
      },
      rowsOf: (name, uuidsOf) => {
        const type = this.#objectType(name);
        const [model, { visible } = {}] = [modelOf(type), typeReadOf(type)];
        if (!model || !visible) throw new Error(`${name} has no table, or no rule for who may see its rows`);
        const alias = this.alias();
        const json = this.#row(type, below, { row: alias });
        const conditions = (run: Run) => {
          const uuids = uuidsOf(run);
          const id = uuids.length === 1 ? uuids[0] : { in: uuids };
          return conditionsOf(model, alias, { id, AND: [visible(run.viewer)] }, run);
        };
        return sql`select ${json} as json, ${alias}.id from ${tableOf(model)} ${alias} where ${conditions}${onlyOf(type, alias)}`;
      },
    });
  }
}

/** Leaves a field with its own permission to the executor, which checks permissions. */
function assertUnrestricted({ key, field }: SelectedField): void {
  if (field?.extensions.pothosOptions?.authScopes) throw new LeftToExecutor(`${key} needs a permission`);
}

/** Writes the condition on a type's rows, if its interface determines which rows belong to it. */
function onlyOf(type: GraphQLObjectType, alias: string): string {
  for (const { variants } of type.getInterfaces().map((one) => typeReadOf(one) ?? {})) {
    const [value] = Object.entries(variants?.types ?? {}).find(([, name]) => name === type.name) ?? [];
    if (variants && value !== undefined)
      return ` and ${textAt(undefined, variants.by)({ row: alias })} = ${literal(value)}`;
  }
  return '';
}
