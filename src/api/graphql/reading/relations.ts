import { fieldsOfModel, type ModelField } from '../../../infra/database/conditions.ts';
import { getDatamodel } from '../../../infra/database/generated/pothos.ts';
import { columnName } from '../../../infra/database/rows.ts';

/** How the relations of the data model are joined in SQL. */

const models = getDatamodel().datamodel.models;

/** The fields by which other models refer to a row of a model: its key. (The view of events has only unique fields.) */
function keyOf(model: string): readonly string[] {
  const {
    fields = [],
    primaryKey,
    uniqueIndexes = [],
  } = models[model as keyof typeof models] as {
    readonly fields?: readonly { readonly name: string; readonly isId: boolean }[];
    readonly primaryKey?: { readonly fields: readonly string[] } | null;
    readonly uniqueIndexes?: readonly { readonly fields: readonly string[] }[];
  };
  return primaryKey?.fields ?? uniqueIndexes[0]?.fields ?? fields.filter(({ isId }) => isId).map(({ name }) => name);
}

/** Returns a relation of a model; undefined where the model has none of this name. */
export function relationOf(model: string, name: string): ModelField | undefined {
  const field = fieldsOfModel(model).get(name);
  return field?.kind === 'object' ? field : undefined;
}

/** Returns a relation of a model. */
export function requireRelation(model: string | undefined, name: string): ModelField {
  const relation = model === undefined ? undefined : relationOf(model, name);
  if (!relation) throw new Error(`${model} has no relation ${name}`);
  return relation;
}

/** Returns the columns of a relation, in pairs: those of the row that has it, and of the one that it leads to. */
export function pairsOf(relation: ModelField): readonly (readonly [here: string, there: string])[] {
  const { type, relationName, relationFromFields: own = [] } = relation;
  if (own.length > 0) {
    const key = keyOf(type);
    return own.map((field, position) => [field, key[position] ?? '']);
  }
  const back = [...fieldsOfModel(type).values()].find(
    (other) => other.relationName === relationName && (other.relationFromFields ?? []).length > 0,
  );
  if (!back) throw new Error(`the data model does not say how ${relation.name} is joined`);
  const key = keyOf(back.type);
  return (back.relationFromFields ?? []).map((field, position) => [key[position] ?? '', field]);
}

/** Writes the condition that joins a row and the one that it has by a relation. */
export function joinOf(relation: ModelField, row: string, there: string): string {
  return pairsOf(relation)
    .map(([from, to]) => `${there}.${columnName(to)} = ${row}.${columnName(from)}`)
    .join(' and ');
}

/** Returns the column by which the rows that a relation leads to refer to the one that has it. */
export function referringColumn(relation: ModelField): string {
  return columnName(pairsOf(relation).at(-1)?.[1] ?? '');
}
