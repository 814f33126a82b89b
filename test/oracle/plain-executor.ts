import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  buildSchema,
  type DocumentNode,
  defaultFieldResolver,
  execute,
  GraphQLError,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLScalarTypeConfig,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  isScalarType,
  Kind,
  parse,
  validate,
} from 'graphql';
import { isDay, parseTimestamp } from '../../src/core/checks.ts';
import type { Payments } from '../../src/domain/commands/command.ts';
import type { Data } from '../setup/gateway.ts';
import type { PlainReads } from './reads.ts';
import { type Asking, requirePermission, resolvers } from './resolvers.ts';
import type { PlainViewer } from './viewer.ts';

/** An error by what clients act on. */
export interface PlainError {
  readonly path: readonly (string | number)[];
  readonly code: string;
}

/** What a document must be answered. */
export interface Expected {
  /** Undefined for a document that is refused before it is executed. */
  readonly data: Data | null | undefined;
  /** Every error of any field, also those hidden by the null of a sibling's error: an answer may have any of them. */
  readonly errors: readonly PlainError[];
  /** How many rows of lists and nodes were found. */
  readonly rows: number;
  /** The fields that had a value, as `Type.field`; of a list, at least one element. */
  readonly seen: ReadonlySet<string>;
}

export interface Operation {
  readonly query: string;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>>;
}

interface Execution extends Asking {
  readonly errors: PlainError[];
  readonly pending: Set<Promise<unknown>>;
  readonly seen: Set<string>;
  rows: number;
}

/** The committed schema, executed by graphql-js on resolvers that read one row after the other. */
export class PlainExecutor {
  readonly schema: GraphQLSchema;
  readonly #from: Pick<Asking, 'reads' | 'payments'>;
  #last: { readonly query: string; readonly known: Known } | undefined;

  constructor(reads: PlainReads, payments: Payments) {
    this.#from = { reads, payments };
    this.schema = plainSchema();
  }

  /** What a caller must be answered. */
  async execute(operation: Operation, viewer: PlainViewer): Promise<Expected> {
    const document = this.#document(operation.query);
    if ('refused' in document) return { data: undefined, errors: document.refused, rows: 0, seen: new Set() };
    const execution: Execution = { ...this.#from, viewer, errors: [], pending: new Set(), seen: new Set(), rows: 0 };
    const { data, errors = [] } = await execute({
      schema: this.schema,
      document,
      operationName: operation.operationName,
      variableValues: { ...operation.variables },
      contextValue: execution,
    });
    // Siblings of a field that failed are still under way.
    while (errors.length > 0 && execution.pending.size > 0) {
      await Promise.allSettled(execution.pending);
      await new Promise(setImmediate);
    }
    for (const error of errors) {
      const one = plainError(error);
      if (!execution.errors.some((known) => isSame(known, one))) execution.errors.push(one);
    }
    return { data, errors: execution.errors, rows: execution.rows, seen: execution.seen };
  }

  /** The document, or why it is refused; the last one is remembered, as several callers ask it one after the other. */
  #document(query: string): Known {
    if (this.#last?.query !== query) {
      const document = parse(query);
      const refused = validate(this.schema, document).map(({ extensions }) => ({
        path: [],
        code: String(extensions.code ?? 'GRAPHQL_VALIDATION_FAILED'),
      }));
      this.#last = { query, known: refused.length > 0 ? { refused } : document };
    }
    return this.#last.known;
  }
}

type Known = DocumentNode | { readonly refused: readonly PlainError[] };

export function isSame(one: PlainError, other: PlainError): boolean {
  return one.code === other.code && JSON.stringify(one.path) === JSON.stringify(other.path);
}

/** graphql-js gives its own errors about values no code. */
function plainError({ path, message, extensions }: GraphQLError): PlainError {
  const ofInput = path === undefined || message.startsWith('Argument "');
  const code = String(extensions.code ?? (ofInput ? 'INVALID_INPUT' : 'INTERNAL_SERVER_ERROR'));
  return { path: path ?? [], code };
}

function plainSchema(): GraphQLSchema {
  const schema = buildSchema(readFileSync(path.resolve(import.meta.dirname, '../../schema.graphql'), 'utf8'));
  for (const [name, type] of Object.entries(schema.getTypeMap())) {
    if (isScalarType(type) && scalars[name]) Object.assign(type, scalar(scalars[name]));
    if (isAbstractType(type)) type.resolveType = ({ __typename }) => __typename;
    // The types of introspection are shared by all schemas.
    if (!isObjectType(type) || name.startsWith('__')) continue;
    for (const [fieldName, resolver] of Object.entries(resolvers[name] ?? {})) {
      const field = type.getFields()[fieldName];
      if (!field) throw new Error(`the schema has no ${name}.${fieldName}`);
      // Each resolver takes the rows that those of the fields above it answer.
      const resolve = resolver as (row: unknown, args: unknown, asking: Asking) => unknown;
      field.resolve = (row, args, execution: Execution, info) =>
        watched(execution, info, async () => {
          if (name === 'Query') requirePermission(fieldName, execution);
          if (isMalformed(args)) throw new GraphQLError('malformed', { extensions: { code: 'INVALID_INPUT' } });
          const value = await resolve(row, args, execution);
          execution.rows += rowsIn(value, info);
          return value;
        });
    }
    for (const field of Object.values(type.getFields())) noteValues(name, field);
  }
  return schema;
}

/** Makes a field remember that it had a value. */
function noteValues(owner: string, field: GraphQLField<unknown, Execution>): void {
  const { name, resolve = defaultFieldResolver } = field;
  field.resolve = async (row, args, execution, info) => {
    const value: unknown = await resolve(row, args, execution, info);
    const isEmpty = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) execution.seen.add(`${owner}.${name}`);
    return value;
  };
}

/** Records the error of a field under way, if it has one. */
function watched(execution: Execution, { path: at }: GraphQLResolveInfo, work: () => Promise<unknown>) {
  const working = work().catch((error: unknown) => {
    const keys: (string | number)[] = [];
    for (let key: typeof at | undefined = at; key; key = key.prev) keys.unshift(key.key);
    const code = error instanceof GraphQLError ? String(error.extensions.code) : 'INTERNAL_SERVER_ERROR';
    execution.errors.push({ path: keys, code });
    throw error;
  });
  execution.pending.add(working);
  working.then(
    () => execution.pending.delete(working),
    () => execution.pending.delete(working),
  );
  return working;
}

function rowsIn(value: unknown, { parentType }: GraphQLResolveInfo): number {
  if (typeof value !== 'object' || value === null) return 0;
  if ('edges' in value && Array.isArray(value.edges)) return value.edges.length;
  if (parentType.name !== 'Query') return 0;
  if (Array.isArray(value)) return value.filter((one) => one && '__typename' in one).length;
  return '__typename' in value ? 1 : 0;
}

interface Scalar {
  readonly serialize: (value: Data) => unknown;
  /** Undefined for any other value. */
  readonly read: (value: unknown) => unknown;
  /** Whether a literal may be written without quotes. */
  readonly digits?: true;
}

const scalars: Readonly<Record<string, Scalar>> = {
  BigInt: { serialize: String, read: bigintIn, digits: true },
  Decimal: {
    serialize: (value) => value,
    read: (value) => (typeof value === 'string' && /^-?\d{1,30}(\.\d{1,30})?$/.test(value) ? value : undefined),
  },
  DateTime: {
    serialize: (value: Date) => value.toISOString(),
    read: (value) => (typeof value === 'string' ? parseTimestamp(value) : undefined),
  },
  Date: {
    serialize: (value) => value,
    read: (value) => (typeof value === 'string' && isDay(value) ? value : undefined),
  },
};

/** Marks a value that its scalar cannot parse: the field with this argument is refused. */
const malformed = Symbol('malformed');

function isMalformed(value: unknown): boolean {
  if (value instanceof Date || typeof value !== 'object' || value === null) return value === malformed;
  return Object.values(value).some(isMalformed);
}

function bigintIn(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) return undefined;
  const text = String(value);
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const number = BigInt(text);
  return BigInt.asIntN(64, number) === number ? number : undefined;
}

function scalar({ serialize, read, digits }: Scalar): Partial<GraphQLScalarTypeConfig<unknown, unknown>> {
  const known = (value: unknown) => read(value) ?? malformed;
  return {
    serialize,
    parseValue: known,
    parseLiteral: (node) =>
      known(node.kind === Kind.STRING || (digits && node.kind === Kind.INT) ? node.value : undefined),
  };
}
