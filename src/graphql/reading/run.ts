import {
  type DocumentNode,
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Viewer } from '../../access/viewer.ts';
import type { Database } from '../../database/database.ts';
import { finished } from './finish.ts';
import { type Asked, NotPlanned, Planner } from './plan.ts';
import { type Run, type Sql, sql, textOf } from './sql.ts';

/** A query whose answer the database makes whole. */
export interface Plan {
  /** One column: the answer's `data`, as JSON. */
  readonly sql: Sql;
  readonly operation: OperationDefinitionNode;
}

const mebibyte = 2 ** 20;

/** Plans by document, operation and what its conditions come to; null for what is resolved. Each weighs about its tokens. */
const plans = new LRUCache<string, { readonly plan: Plan | null }>({ maxSize: 16 * mebibyte });

/** Documents are numbered, since their plans are looked up by several things. */
const numbers = new WeakMap<DocumentNode, { readonly number: number; readonly conditions: readonly string[] }>();
let lastNumber = 0;

/** The plan of a query, made at its first use; undefined where something of it is resolved in JavaScript. */
export function planOf({ schema, document, operationName, variableValues }: ExecutionArgs): Plan | undefined {
  const known = numbers.get(document) ?? { number: ++lastNumber, conditions: conditionsIn(document) };
  numbers.set(document, known);
  const truth = known.conditions.map((name) => String(variableValues?.[name])).join(' ');
  const key = `${known.number} ${operationName ?? ''} ${truth}`;
  const cached = plans.get(key);
  if (cached) return cached.plan ?? undefined;
  const plan = planned({ schema, document, operationName, variableValues });
  plans.set(key, { plan: plan ?? null }, { size: 2_048 + 600 * (document.tokenCount ?? 2_000) });
  return plan;
}

/** The variables that @skip and @include ask for. */
function conditionsIn(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(directive) {
      for (const { value } of directive.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}

function planned({ schema, document, operationName, variableValues }: ExecutionArgs): Plan | undefined {
  const operation = getOperationAST(document, operationName);
  const query = schema.getQueryType();
  if (operation?.operation !== 'query' || !query) return undefined;
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 1,
  });
  if (!coerced.coerced) return undefined;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const planner = new Planner({ schema, fragments, variables: coerced.coerced, isTyped: false });
  try {
    const data = planner.object(query, [operation.selectionSet], (asked: Asked) => planner.root(asked));
    return { sql: sql`select ${data}`, operation };
  } catch (error) {
    if (error instanceof NotPlanned) return undefined;
    throw error;
  }
}

/**
 * Runs a plan: one statement, whose one value is the answer.
 * @returns the answer's `data` as JSON
 * @throws NotPlanned where this run asks for what is resolved after all; GraphQLError for wrong arguments
 */
export async function runPlan(
  plan: Plan,
  { schema, variableValues }: Pick<ExecutionArgs, 'schema' | 'variableValues'>,
  { database, viewer }: { readonly database: Database; readonly viewer: Viewer },
): Promise<string> {
  const definitions = plan.operation.variableDefinitions ?? [];
  const coerced =
    definitions.length === 0
      ? { coerced: {} }
      : getVariableValues(schema, definitions, variableValues ?? {}, { maxErrors: 1 });
  if (!('coerced' in coerced) || !coerced.coerced) throw new NotPlanned('variables are wrong');
  const run = new BoundRun(viewer, coerced.coerced);
  const text = textOf(plan.sql, run);
  return finished(await database.readJson(text, run.values), run.notes);
}

class BoundRun implements Run {
  readonly viewer: Viewer;
  readonly values: unknown[] = [];
  readonly notes: unknown[] = [];
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #args = new Map<FieldNode, Readonly<Record<string, unknown>>>();
  #aliases = 0;

  constructor(viewer: Viewer, variables: Readonly<Record<string, unknown>>) {
    this.viewer = viewer;
    this.#variables = variables;
  }

  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    const known = this.#args.get(node);
    if (known) return known;
    const args = getArgumentValues(field, node, this.#variables);
    this.#args.set(node, args);
    return args;
  }

  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  note(value: unknown): number {
    return this.notes.push(value) - 1;
  }

  alias(): string {
    this.#aliases += 1;
    return `f${this.#aliases}`;
  }
}
