import {
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import { checkBudget } from '../../src/api/graphql/limits/budget.ts';
import { measureDocument } from '../../src/api/graphql/limits/document-size.ts';
import { schema as served } from '../../src/api/graphql/server/schema.ts';
import type { Choices } from './choices.ts';
import type { Material } from './material.ts';
import { valueFor } from './values.ts';

/** A document, with several sets of values for its variables, all of them valid. */
export interface DrawnDocument {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: readonly Readonly<Record<string, unknown>>[];
}

/** Fields that change between two reads: when a token was last used, when a rate was read, and the server's time. */
export const moving: ReadonlySet<string> = new Set([
  'ApiToken.lastUsedAt',
  'ExchangeRate.updatedAt',
  'Viewer.serverTime',
]);

/** How often each field of the query type is chosen, relative to the others. The default is 1. */
const rootWeights: Readonly<Record<string, number>> = {
  transactions: 6,
  customers: 6,
  quotes: 5,
  accounts: 5,
  events: 4,
  nodes: 4,
  node: 4,
  transaction: 2,
  customer: 2,
  quote: 2,
  account: 2,
  viewer: 2,
  webhookEndpoints: 2,
};

/** Lower than the service's limits (graphql/limits/budget.ts), because some fields cost more there than here. */
const budget = { fields: 60, directives: 12, cost: 900, depth: 12 };

/**
 * Writes a document from the given choices. The same choices give the same document, and zeros give the simplest one.
 * If the document exceeds the service's limits, another is written from the choices that follow.
 */
export function drawDocument(schema: GraphQLSchema, choices: Choices, material: Material): DrawnDocument {
  for (;;) {
    const { query, ...drawn } = new Writer(schema, choices, material).document();
    const document = withoutConflicts(schema, parse(query));
    const errors = drawn.variables.flatMap((variables) =>
      checkBudget(measureDocument({ ...drawn, schema: served, document, variables }), true),
    );
    if (errors.length === 0) return { ...drawn, query: print(document) };
  }
}

/** If two fields conflict (GraphQL specification, 5.3.2), gives one of them its own alias. */
function withoutConflicts(schema: GraphQLSchema, document: DocumentNode, aliases = 0): DocumentNode {
  const errors = validate(schema, document, [OverlappingFieldsCanBeMergedRule]);
  if (errors.length === 0) return document;
  const conflicting = new Set<unknown>(errors.map(({ nodes }) => nodes?.[0]));
  let names = aliases;
  const Field = (node: FieldNode): FieldNode | undefined => {
    if (!conflicting.has(node)) return undefined;
    names += 1;
    return { ...node, alias: { kind: Kind.NAME, value: `x${names}` } };
  };
  return withoutConflicts(schema, visit(document, { Field }), names);
}

type Field = GraphQLField<unknown, unknown>;

interface Fragment {
  readonly name: string;
  readonly on: string;
  /** The cost of spreading the fragment once. */
  readonly cost: number;
}

interface Written {
  readonly text: string;
  /** The argument's possible values; empty for an input object. */
  readonly values: readonly unknown[];
}

/** The position of a selection. */
interface Place {
  readonly depth: number;
  /** The maximum number of rows for which the selection is resolved. */
  readonly times: number;
}

class Writer {
  readonly #schema: GraphQLSchema;
  readonly #choices: Choices;
  readonly #material: Material;
  readonly #left = { ...budget };
  readonly #declared: string[] = [];
  readonly #variables: Record<string, unknown>[] = [{}, {}];
  readonly #fragments: Fragment[] = [];
  readonly #texts: string[] = [];
  #names = 0;

  constructor(schema: GraphQLSchema, choices: Choices, material: Material) {
    this.#schema = schema;
    this.#choices = choices;
    this.#material = material;
  }

  document(): DrawnDocument {
    // Documents with @skip or @include are executed differently from those without.
    if (!this.#choices.oneIn(3)) this.#left.directives = 0;
    const place = { depth: 1, times: 1 };
    const fields = Object.values(this.#schema.getQueryType()?.getFields() ?? {});
    const roots = fields.flatMap((field) => Array.from({ length: rootWeights[field.name] ?? 1 }, () => field));
    const count = 1 + this.#choices.below(3);
    const asked = Array.from(
      { length: count },
      () => this.#field('Query', this.#choices.oneOf(roots), place) ?? [],
    ).flat();
    const body = asked.length > 0 ? asked.join(' ') : '__typename';
    const isNamed = this.#declared.length > 0 || this.#choices.oneIn(3);
    const hasTwo = isNamed && this.#choices.oneIn(8);
    const declared = this.#declared.length > 0 ? `(${this.#declared.join(', ')})` : '';
    const operation = isNamed ? `query Q${declared} { ${body} }` : `{ ${body} }`;
    const other = hasTwo ? ['query Other { currencies { code } }'] : [];
    return {
      query: [operation, ...other, ...this.#texts].join('\n'),
      operationName: hasTwo ? 'Q' : undefined,
      variables: this.#declared.length > 0 ? this.#variables : [{}],
    };
  }

  /** Writes a field with its subfields. Returns undefined if it would exceed the budget. */
  #field(owner: string, field: Field, { depth, times }: Place): string | undefined {
    if (this.#left.fields < 1 || this.#left.cost < times || depth > budget.depth) return undefined;
    const type = getNamedType(field.type);
    const args = this.#arguments(owner, field, times);
    this.#left.fields -= 1;
    this.#left.cost -= times;
    const alias = this.#choices.oneIn(7) ? this.#choices.oneOf(['a: ', 'b: ', 'id: ', 'status: ', 'customer: ']) : '';
    const head = `${alias}${field.name}${args.text}${this.#directive()}`;
    if (!isCompositeType(type)) return head;
    return `${head} ${this.#selection(type, { depth: depth + 1, times: times * args.rows })}`;
  }

  #selection(type: GraphQLNamedType, place: Place): string {
    const parts = this.#parts(type, place);
    if (parts.length === 0) parts.push(this.#typename(place));
    return `{ ${parts.join(' ')} }`;
  }

  #typename({ times }: Place): string {
    this.#left.fields -= 1;
    this.#left.cost -= times;
    return '__typename';
  }

  #parts(type: GraphQLNamedType, place: Place): string[] {
    const parts = this.#spreadAgain(type, place);
    if (this.#choices.oneIn(5)) parts.push(this.#typename(place));
    if (isObjectType(type) || isInterfaceType(type)) parts.push(...this.#fields(type, place));
    if (isAbstractType(type)) {
      const types = this.#schema.getPossibleTypes(type);
      const most = Math.min(types.length, 3);
      for (let count = (isInterfaceType(type) ? 0 : 1) + this.#choices.below(most + 1); count > 0; count--)
        parts.push(...this.#fragment(this.#choices.oneOf(types), place));
      const [interfaceOfSome] = isInterfaceType(type) ? this.#schema.getImplementations(type).interfaces : [];
      if (interfaceOfSome && this.#choices.oneIn(4)) parts.push(...this.#fragment(interfaceOfSome, place));
    }
    if (isObjectType(type) && this.#choices.oneIn(8))
      parts.push(...this.#fragment(this.#choices.oneOf([type, ...type.getInterfaces()]), place));
    return parts;
  }

  #fields(type: GraphQLNamedType, place: Place): string[] {
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    const fields = Object.values(type.getFields()).filter(({ name }) => !moving.has(`${type.name}.${name}`));
    const chosen: Field[] = [];
    // Nearly always selects the path to the rows, because otherwise most documents would not reach any rows.
    const way = fields.find(({ name }) => name === 'edges' || (name === 'node' && type.name.endsWith('Edge')));
    if (way && !this.#choices.oneIn(10)) chosen.push(way);
    const isDeep = place.depth > budget.depth - 4;
    const among = isDeep ? fields.filter((field) => isLeafType(getNamedType(field.type))) : fields;
    for (let count = this.#choices.below(way ? 3 : 6); count > 0; count--) {
      if (among.length > 0) chosen.push(this.#choices.oneOf(among));
    }
    if (chosen.length === 0 && among[0]) chosen.push(among[0]);
    return chosen.flatMap((field) => this.#field(type.name, field, place) ?? []);
  }

  /** Writes a fragment on a type, inline or named. Returns an empty list if nothing in it fits the budget. */
  #fragment(type: GraphQLNamedType, place: Place): string[] {
    const before = this.#left.cost;
    const directive = this.#directive();
    const parts = this.#fields(type, place);
    if (parts.length === 0) return [];
    const body = `{ ${parts.join(' ')} }`;
    if (!this.#choices.oneIn(3)) return [`... on ${type.name}${directive} ${body}`];
    const name = this.#name('F');
    this.#texts.push(`fragment ${name} on ${type.name} ${body}`);
    this.#fragments.push({ name, on: type.name, cost: Math.ceil((before - this.#left.cost) / place.times) });
    return [`...${name}${directive}`];
  }

  /** Sometimes spreads an earlier fragment. */
  #spreadAgain(type: GraphQLNamedType, { times }: Place): string[] {
    const fitting = this.#fragments.filter(({ on, cost }) => on === type.name && cost * times <= this.#left.cost);
    if (fitting.length === 0 || !this.#choices.oneIn(6)) return [];
    const { name, cost } = this.#choices.oneOf(fitting);
    this.#left.cost -= cost * times;
    return [`...${name}`];
  }

  #directive(): string {
    if (this.#left.directives < 1 || !this.#choices.oneIn(8)) return '';
    this.#left.directives -= 1;
    const name = this.#choices.oneOf(['skip', 'include']);
    const usual = name === 'include';
    const draw = () => (this.#choices.oneIn(3) ? !usual : usual);
    if (this.#choices.oneIn(2)) return ` @${name}(if: ${draw()})`;
    return ` @${name}(if: ${this.#variable('Boolean!', draw, false)})`;
  }

  /** Writes a field's arguments. Also returns the maximum number of rows that the field can return. */
  #arguments(owner: string, field: Field, times: number): { readonly text: string; readonly rows: number } {
    if (field.args.length === 0) return { text: '', rows: 1 };
    const written: string[] = [];
    let rows = field.name === 'nodes' ? 8 : 1;
    const isList = field.args.some(({ name }) => name === 'first');
    const write = (arg: GraphQLArgument) => {
      const value = this.#written(`${owner}.${field.name}`, arg);
      written.push(`${arg.name}: ${value.text}`);
      return value;
    };
    const named = (name: string) => field.args.find((arg) => arg.name === name);
    if (isList) {
      const sizes: unknown[] = [];
      for (const name of this.#pageArguments(times > 1)) {
        const arg = named(name);
        const value = arg && write(arg);
        if (name === 'first' || name === 'last') sizes.push(...(value?.values ?? []));
      }
      const numbers = sizes.filter((size) => typeof size === 'number' && size > 0);
      const isBounded = written.length > 0 && numbers.length === sizes.length && sizes.length > 0;
      rows = Math.max(isBounded ? 1 : 20, ...(numbers as number[]));
    }
    for (const arg of field.args) {
      if (['first', 'last', 'after', 'before'].includes(arg.name)) continue;
      if (isNonNullType(arg.type) || this.#choices.oneIn(3)) write(arg);
    }
    return { text: written.length > 0 ? `(${written.join(', ')})` : '', rows };
  }

  /** Chooses the paging arguments. Connections inside rows always get a page size, to stay within the budget. */
  #pageArguments(isNested: boolean): string[] {
    if (this.#choices.oneIn(40)) {
      return ['first', 'last', 'after', 'before'].filter(
        (name) => this.#choices.oneIn(2) || (isNested && name === 'last'),
      );
    }
    const [size, cursor] = this.#choices.oneIn(3) ? ['last', 'before'] : ['first', 'after'];
    const hasSize = isNested || !this.#choices.oneIn(6);
    return [...(hasSize ? [size] : []), ...(this.#choices.oneIn(3) ? [cursor] : [])];
  }

  /** Writes the value of an argument or input field: a literal, a variable, or a literal that contains variables. */
  #written(coordinate: string, { name, type }: GraphQLArgument | GraphQLInputField): Written {
    const isNullable = !isNonNullType(type);
    const inner = isNonNullType(type) ? type.ofType : type;
    const draw = () => valueFor(coordinate, name, type, this.#choices, this.#material);
    if (this.#choices.oneIn(4)) {
      const values: unknown[] = [];
      const drawn = () => {
        const value = draw();
        values.push(value);
        return value;
      };
      return { text: this.#variable(String(type), drawn, isNullable), values };
    }
    if (isInputObjectType(inner) && !inner.isOneOf) {
      const fields = Object.values(inner.getFields());
      const chosen = new Set(Array.from({ length: 1 + this.#choices.below(2) }, () => this.#choices.oneOf(fields)));
      const parts = [...chosen].map((field) => `${field.name}: ${this.#written(inner.name, field).text}`);
      return { text: `{ ${parts.join(', ')} }`, values: [] };
    }
    const value = draw();
    if (isListType(inner) && Array.isArray(value) && this.#choices.oneIn(3)) {
      const item = inner.ofType;
      const parts = value.map((one) =>
        this.#choices.oneIn(3)
          ? this.#variable(String(item), () => this.#choices.oneOf(value), false)
          : literal(one, item),
      );
      return { text: `[${parts.join(', ')}]`, values: [value] };
    }
    return { text: literal(value, type), values: [value] };
  }

  /** Declares a variable and draws its value for each set. A nullable variable may be missing from a set. */
  #variable(type: string, draw: () => unknown, isNullable: boolean): string {
    const name = this.#name('v');
    this.#declared.push(`$${name}: ${type}`);
    for (const set of this.#variables) {
      const value = draw();
      if (isNullable && this.#choices.oneIn(10)) continue;
      set[name] = value;
    }
    return `$${name}`;
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }
}

/** Writes a value as a literal. Enum values must be passed as their names, not as their internal values. */
export function literal(value: unknown, type: GraphQLInputType): string {
  if (value === null) return 'null';
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner))
    return `[${[value]
      .flat()
      .map((one) => literal(one, inner.ofType))
      .join(', ')}]`;
  if (isEnumType(inner)) return String(value);
  if (isInputObjectType(inner)) {
    const fields = inner.getFields();
    const parts = Object.entries(value as object).flatMap(([name, one]) =>
      fields[name] ? [`${name}: ${literal(one, fields[name].type)}`] : [],
    );
    return `{ ${parts.join(', ')} }`;
  }
  return JSON.stringify(value);
}
