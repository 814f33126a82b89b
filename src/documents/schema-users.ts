import {
  type DocumentNode,
  findBreakingChanges,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  parse,
  TypeInfo,
  typeFromAST,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** A document that clients send. */
export interface UsedDocument {
  readonly text: string;
  /** Who sends it: names, versions, times. */
  readonly users: readonly DocumentUser[];
}

/** A client of a platform that sends a document. */
export interface DocumentUser {
  readonly platform: string;
  /** Its name and version; empty where it does not say. */
  readonly client: string;
  readonly uses: number;
  readonly lastUsedAt: Date;
}

/**
 * Returns the parts of a schema that a document uses, by their coordinates: `Type`, `Type.field`, `Type.field(argument:)`,
 * `Input.field`, `Enum.VALUE`. Of what comes in variables each part counts, since it may be used; so does each type behind an interface.
 */
export function coordinatesIn(schema: GraphQLSchema, document: DocumentNode): ReadonlySet<string> {
  const found = new Set<string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      VariableDefinition({ type: node }) {
        // A variable has an input type: its document has been validated.
        const type = typeFromAST(schema, node) as GraphQLInputType | undefined;
        if (type) addWhole(getNamedType(type), found);
        return false;
      },
      Field() {
        const [parent, field] = [types.getParentType(), types.getFieldDef()];
        if (!parent || !field) return;
        for (const { name } of [parent, ...(isAbstractType(parent) ? schema.getPossibleTypes(parent) : [])]) {
          found.add(name).add(`${name}.${field.name}`);
        }
        const type = getNamedType(field.type);
        found.add(type.name);
        if (isEnumType(type)) addWhole(type, found);
      },
      Argument({ name }) {
        const [parent, field] = [types.getParentType(), types.getFieldDef()];
        if (parent && field) found.add(`${parent.name}.${field.name}(${name.value}:)`);
      },
      ObjectField({ name }) {
        const input = getNamedType(types.getParentInputType());
        if (input) found.add(input.name).add(`${input.name}.${name.value}`);
      },
      EnumValue({ value }) {
        const type = getNamedType(types.getInputType());
        if (type) found.add(type.name).add(`${type.name}.${value}`);
      },
      InlineFragment: ({ typeCondition }) => void (typeCondition && found.add(typeCondition.name.value)),
      FragmentDefinition: ({ typeCondition }) => void found.add(typeCondition.name.value),
    }),
  );
  return found;
}

/** Adds a type with its values or fields, and the types of its fields. */
function addWhole(type: GraphQLNamedType, found: Set<string>): void {
  if (found.has(`${type.name}.*`)) return;
  found.add(type.name).add(`${type.name}.*`);
  if (isEnumType(type)) for (const { name } of type.getValues()) found.add(`${type.name}.${name}`);
  if (!isInputObjectType(type)) return;
  for (const field of Object.values(type.getFields())) {
    found.add(`${type.name}.${field.name}`);
    addWhole(getNamedType(field.type), found);
  }
}

/** Returns the documents that use a part of a schema, by its coordinate. */
export function usersOf(
  schema: GraphQLSchema,
  coordinate: string,
  documents: readonly UsedDocument[],
): readonly UsedDocument[] {
  return documents.filter(({ text }) => {
    const document = parse(text);
    return validate(schema, document).length === 0 && coordinatesIn(schema, document).has(coordinate);
  });
}

/** A document that a change of the schema breaks, and why. */
export interface BrokenDocument extends UsedDocument {
  readonly reasons: readonly string[];
}

/** What a change of the schema breaks. */
export interface Breakage {
  /** All breaking changes, used or not. */
  readonly changes: readonly string[];
  /** The documents that were valid before, and are not any more or may get what they do not expect. */
  readonly broken: readonly BrokenDocument[];
}

/** Compares two revisions of a schema, and finds the documents that the later one breaks. */
export function findBreakage(
  before: GraphQLSchema,
  after: GraphQLSchema,
  documents: readonly UsedDocument[],
): Breakage {
  const changes = findBreakingChanges(before, after).map(({ description }) => description);
  const broken = documents.flatMap((used) => {
    const document = parse(used.text);
    if (validate(before, document).length > 0) return [];
    const reasons = [
      ...validate(after, document).map(({ message }) => message),
      ...changedResults(before, after, document),
      ...changedInputs(before, document, changes),
    ];
    return reasons.length > 0 ? [{ ...used, reasons: [...new Set(reasons)] }] : [];
  });
  return { changes, broken };
}

/** Returns the selected fields whose results have another type, which clients may not expect. */
function changedResults(before: GraphQLSchema, after: GraphQLSchema, document: DocumentNode): readonly string[] {
  const reasons: string[] = [];
  const types = new TypeInfo(before);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field() {
        const [parent, field] = [types.getParentType(), types.getFieldDef()];
        const later = parent && after.getType(parent.name);
        if (!parent || !field || !later || !('getFields' in later)) return;
        const type = later.getFields()[field.name]?.type;
        if (type && !isSafe(field.type, type as GraphQLOutputType))
          reasons.push(`${parent.name}.${field.name} changed type from ${field.type} to ${type}.`);
      },
    }),
  );
  return reasons;
}

/** Tells whether a client that expects one type of result can take the other: the same, or one that is null less often. */
function isSafe(before: GraphQLOutputType, after: GraphQLOutputType): boolean {
  if (isNonNullType(before)) return isNonNullType(after) && isSafe(before.ofType, after.ofType);
  if (isNonNullType(after)) return isSafe(before, after.ofType);
  if (isListType(before)) return isListType(after) && isSafe(before.ofType, after.ofType);
  return !isListType(after) && getNamedType(before).name === getNamedType(after).name;
}

/** Returns the breaking changes of types that the document takes in variables: their values are not known. */
function changedInputs(before: GraphQLSchema, document: DocumentNode, changes: readonly string[]): readonly string[] {
  const found = new Set<string>();
  visit(document, {
    VariableDefinition({ type: node }) {
      // A variable has an input type. The function has an overload for each kind of node, and none for all of them.
      const type = typeFromAST(before, node as never) as GraphQLInputType | undefined;
      if (type) addWhole(getNamedType(type), found);
    },
  });
  const names = [...found].filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -2));
  return changes.filter((change) => names.some((name) => new RegExp(`\\b${name}\\b`).test(change)));
}
