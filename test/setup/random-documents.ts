import fc from 'fast-check';
import {
  type GraphQLField,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { schema } from '../../src/graphql/schema.ts';

export const lists = ['transactions', 'quotes', 'customers', 'accounts'];
const deepest = 9;

/**
 * A document made of choices: the same numbers make the same document, smaller ones a simpler one.
 * @param repeats whether a field may be asked for twice, each time with its own below it, as two fragments often do
 */
export function documentOf(choices: readonly number[], roots: readonly string[], repeats: boolean): string {
  let at = 0;
  const choose = (options: number) => (choices[at++ % choices.length] ?? 0) % options;

  function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): string | undefined {
    if (field.args.some(isRequiredArgument)) return undefined;
    const type = getNamedType(field.type);
    const inner = isCompositeType(type) ? selectionOf(type.name, depth + 1) : '';
    if (inner === undefined) return undefined;
    const alias = choose(6) === 1 ? `${['a', 'b'][choose(2)]}: ` : '';
    const isList = field.args.some(({ name }) => name === 'first');
    const args = !isList ? '' : choose(2) === 0 ? `(first: ${1 + choose(3)})` : `(last: ${1 + choose(3)})`;
    return `${alias}${field.name}${args}${inner}`;
  }

  function selectionOf(typeName: string, depth: number): string | undefined {
    if (depth > deepest) return undefined;
    const type = schema.getType(typeName);
    const parts = ['__typename'];
    if (isObjectType(type) || isInterfaceType(type)) {
      const fields = Object.values(type.getFields());
      // The way to the rows is always taken, or most documents would stop before them.
      for (const name of ['edges', 'node']) {
        const field = fields.find((one) => one.name === name);
        if (field) parts.push(fieldOf(field, depth) ?? '__typename');
      }
      for (let chosen = choose(4); chosen > 0; chosen--) {
        const field = fields[choose(fields.length)];
        if (!field) continue;
        parts.push(fieldOf(field, depth) ?? '__typename');
        if (repeats && choose(4) === 1) parts.push(fieldOf(field, depth) ?? '__typename');
      }
    }
    if (isAbstractType(type)) {
      const types = schema.getPossibleTypes(type);
      for (let chosen = choose(3); chosen > 0; chosen--) {
        const one = types[choose(types.length)];
        if (one) parts.push(`... on ${one.name} ${selectionOf(one.name, depth + 1) ?? '{ __typename }'}`);
      }
    }
    return `{ ${parts.join(' ')} }`;
  }

  const queryFields = schema.getQueryType()?.getFields() ?? {};
  const asked = roots.slice(0, 1 + choose(2)).map((_root, place) => {
    const field = queryFields[roots[(choose(roots.length) + place) % roots.length] ?? ''];
    return field && `r${place}: ${fieldOf(field, 1)?.replace(/^[ab]: /, '')}`;
  });
  return `{ ${asked.join(' ')} }`;
}

export const choices = fc.array(fc.nat(1_000), { minLength: 20, maxLength: 120 });
