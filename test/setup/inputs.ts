import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLList,
  type GraphQLScalarType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/** A position in the values of an input type. */
export interface InputPlace {
  readonly owner: string;
  /** The names of the fields that lead to the position; `0` stands for a list element. */
  readonly path: readonly string[];
  readonly type: GraphQLScalarType | GraphQLEnumType | GraphQLInputObjectType | GraphQLList<GraphQLInputType>;
}

/** Yields every position in a type, from the outside in: the type itself, list elements, and input fields. */
export function* placesIn(owner: string, type: GraphQLInputType, path: readonly string[] = []): Generator<InputPlace> {
  const bare = getNullableType(type);
  yield { owner, path, type: bare };
  if (isListType(bare)) yield* placesIn(owner, bare.ofType, [...path, '0']);
  if (!isInputObjectType(bare)) return;
  for (const field of Object.values(bare.getFields())) yield* placesIn(bare.name, field.type, [...path, field.name]);
}

/** Returns the smallest value that a type accepts in a field with the given name. */
export function least(type: GraphQLInputType, name = ''): unknown {
  const bare = getNullableType(type);
  if (isListType(bare)) return [];
  if (isEnumType(bare)) return bare.getValues()[0]?.name;
  if (isInputObjectType(bare)) {
    const fields = Object.values(bare.getFields());
    const isNeeded = ({ type, defaultValue }: (typeof fields)[number]) =>
      isNonNullType(type) && defaultValue === undefined;
    const needed = bare.isOneOf ? fields.slice(0, 1) : fields.filter(isNeeded);
    return Object.fromEntries(needed.map((field) => [field.name, least(field.type, field.name)]));
  }
  if (bare.name === 'Boolean') return true;
  if (bare.name === 'Int') return 1;
  return name === 'country' ? 'US' : name === 'name' ? 'FULL_NAME' : '1';
}

/** Returns `around` with `value` at the path and with whatever else the type requires. */
export function putAt(
  type: GraphQLInputType,
  around: unknown,
  [step, ...rest]: readonly string[],
  value: unknown,
): unknown {
  if (step === undefined) return value;
  const bare = getNullableType(type);
  if (isListType(bare)) return [putAt(bare.ofType, Array.isArray(around) ? around[0] : undefined, rest, value)];
  const field = isInputObjectType(bare) ? bare.getFields()[step] : undefined;
  if (!isInputObjectType(bare) || !field) throw new Error(`${type} has no ${step}`);
  const there: Record<string, unknown> = { ...(around as object | undefined) };
  const others = bare.isOneOf ? {} : { ...Object(least(bare)), ...there };
  return { ...others, [step]: putAt(field.type, there[step], rest, value) };
}
