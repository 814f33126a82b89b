import { isDeepStrictEqual } from 'node:util';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import { columnOf } from '../../../infra/database/conditions.ts';
import { fieldName } from '../../../infra/database/rows.ts';
import { plainReadText } from './plain-text.ts';
import { typeReadOf } from './plan.ts';

/** The alias that stands for the row while the columns of its fields are found. */
const row = 'the_row';
/** How deep the objects are that are made of the same row. */
const maxDepth = 4;

const known = new WeakMap<GraphQLObjectType, ReadonlyMap<string, readonly string[]>>();

/**
 * Returns the names of the fields of a type whose values differ between two rows of its table. The reads of the fields say of
 * which columns they are made.
 */
export function changedFields(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  before: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): string[] {
  let columns = known.get(type);
  if (!columns) {
    columns = new Map(
      Object.values(type.getFields()).map((field) => [field.name, columnsOfField(schema, type, field)]),
    );
    known.set(type, columns);
  }
  const isSame = (column: string) => isDeepStrictEqual(before[fieldName(column)], now[fieldName(column)]);
  return [...columns].filter(([, of]) => !of.every(isSame)).map(([name]) => name);
}

function columnsOfField(schema: GraphQLSchema, type: GraphQLObjectType, field: Field): string[] {
  const found = new Set<string>();
  const find = (texts: string) => {
    for (const [, column = ''] of texts.matchAll(new RegExp(`\\b${row}\\.(\\w+)`, 'g'))) found.add(column);
  };
  const visit = (of: GraphQLNamedType, one: Field, depth: number): void => {
    const { read, pothosExposedField: exposed } = one.extensions;
    if (!read) {
      const model = isObjectType(of) ? (typeReadOf(of)?.model ?? typeReadOf(type)?.model) : undefined;
      const column = model && exposed !== undefined ? columnOf(model, exposed) : undefined;
      if (column !== undefined) found.add(column);
      return;
    }
    find(plainReadText(read, row));
    const isSameRow = read.kind === 'value' && read.env({ row }).row === row;
    if (!isSameRow || depth === maxDepth) return;
    const named = getNamedType(one.type);
    for (const made of isAbstractType(named) ? schema.getPossibleTypes(named) : [named])
      if (isObjectType(made)) for (const below of Object.values(made.getFields())) visit(made, below, depth + 1);
  };
  visit(type, field, 0);
  return [...found];
}

type Field = GraphQLField<unknown, unknown>;
