import { isDeepStrictEqual } from 'node:util';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import { fieldName } from '../../../infra/database/rows.ts';
import { plainReadText } from './reads.ts';

/** The alias that stands for the row while the columns of its fields are determined. */
const row = 'the_row';
/** The maximum nesting depth of objects that are read from the same row. */
const maxDepth = 4;

const columnsOf = oncePer(
  (type: GraphQLObjectType, schema: GraphQLSchema): ReadonlyMap<string, readonly string[]> =>
    new Map(Object.values(type.getFields()).map((field) => [field.name, columnsOfField(schema, field)])),
);

/**
 * Returns the names of a type's fields that differ between two rows of its table, judged by the columns that the
 * fields read.
 */
export function changedFields(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  before: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): string[] {
  const isSame = (column: string) => isDeepStrictEqual(before[fieldName(column)], now[fieldName(column)]);
  return [...columnsOf(type, schema)].filter(([, of]) => !of.every(isSame)).map(([name]) => name);
}

function columnsOfField(schema: GraphQLSchema, field: Field): string[] {
  const found = new Set<string>();
  const find = (texts: string) => {
    for (const [, column = ''] of texts.matchAll(new RegExp(`\\b${row}\\.(\\w+)`, 'g'))) found.add(column);
  };
  const visit = (one: Field, depth: number): void => {
    const { read } = one.extensions;
    if (!read) return;
    find(plainReadText(read, row));
    const isSameRow = read.kind === 'value' && read.env({ row }).row === row;
    if (!isSameRow || depth === maxDepth) return;
    const named = getNamedType(one.type);
    for (const made of isAbstractType(named) ? schema.getPossibleTypes(named) : [named])
      if (isObjectType(made)) for (const below of Object.values(made.getFields())) visit(below, depth + 1);
  };
  visit(field, 0);
  return [...found];
}

type Field = GraphQLField<unknown, unknown>;
