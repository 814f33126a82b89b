import {
  type DocumentNode,
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLResolveInfo,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { Viewer } from '../../access/viewer.ts';
import { Binding } from '../../database/conditions.ts';
import type { Context } from '../context.ts';
import { failure } from '../failure.ts';
import { planCache } from '../limits/document-cache.ts';
import { NotPlanned } from './asked.ts';
import { errorJson, finished, type Notes, NotSequenced, valuesOf } from './finish.ts';
import { Planner } from './plan.ts';
import type { Read } from './reads.ts';
import { literal, type Run, type Sql, sql, textOf } from './sql.ts';

/** A query whose answer the database makes whole: an expression that is its `data`, as JSON. */
export interface QueryPlan {
  readonly json: Sql;
  readonly operation: OperationDefinitionNode;
}

/** Plans of queries by their number, operation and conditions; null where something of it is resolved. */
const queryPlans = planCache<{ readonly plan: QueryPlan | null }>();

interface Known {
  readonly number: number;
  /** The variables that @skip and @include ask for: what they come to is part of a plan's key. */
  readonly conditions: readonly string[];
}

const known = new WeakMap<DocumentNode | OperationDefinitionNode, Known>();
let lastNumber = 0;

/** What is known of a document, or of one of its operations, whose `parts` are the definitions that a selection can be in. */
function knownOf(
  document: DocumentNode | OperationDefinitionNode,
  parts: () => readonly (OperationDefinitionNode | FragmentDefinitionNode | DocumentNode)[],
): Known {
  let found = known.get(document);
  if (!found) {
    lastNumber += 1;
    found = { number: lastNumber, conditions: conditionsIn(parts()) };
    known.set(document, found);
  }
  return found;
}

function conditionsIn(parts: readonly (OperationDefinitionNode | FragmentDefinitionNode | DocumentNode)[]): string[] {
  const names = new Set<string>();
  for (const part of parts) {
    visit(part, {
      Directive(directive) {
        for (const { value } of directive.arguments ?? [])
          if (value.kind === Kind.VARIABLE) names.add(value.name.value);
      },
    });
  }
  return [...names];
}

/** The plan of a query, made at its first use; undefined where something of it is resolved in JavaScript. */
export function planQuery({ schema, document, operationName, variableValues }: ExecutionArgs): QueryPlan | undefined {
  const { number, conditions } = knownOf(document, () => [document]);
  const truth = conditions.map((name) => String(variableValues?.[name])).join(' ');
  const key = `${number} ${operationName ?? ''} ${truth}`;
  let cached = queryPlans.get(key);
  if (!cached) {
    cached = { plan: plannedQuery({ schema, document, operationName, variableValues }) ?? null };
    queryPlans.set(key, cached, document);
  }
  return cached.plan ?? undefined;
}

function plannedQuery({ schema, document, operationName, variableValues }: ExecutionArgs): QueryPlan | undefined {
  const operation = getOperationAST(document, operationName);
  const query = schema.getQueryType();
  if (operation?.operation !== 'query' || !query) return undefined;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  if (!coerced) return undefined;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const planner = new Planner({ schema, fragments, variables: coerced, isTyped: false });
  try {
    return { json: planner.object(query, [operation.selectionSet], (asked) => planner.root(asked)), operation };
  } catch (error) {
    if (error instanceof NotPlanned) return undefined;
    throw error;
  }
}

/**
 * Runs the plan of a query.
 * @returns its `data`, as JSON
 * @throws NotPlanned where this run asks for something that is resolved after all, or wrongly
 */
export async function runQuery({ json, operation }: QueryPlan, args: ExecutionArgs, context: Context): Promise<string> {
  const { coerced } = getVariableValues(args.schema, operation.variableDefinitions ?? [], args.variableValues ?? {});
  if (!coerced) throw new NotPlanned('the variables are wrong');
  const answer = await answerOf(sql`select ${json}`, coerced, context);
  if (answer.errors.length > 0) throw new NotPlanned('the executor says where errors are');
  return answer.json;
}

/** By the nodes of a field, as several fragments may ask for it, and by what else decides its plan. */
const fieldPlans = new WeakMap<FieldNode, Map<string, Sql>>();

const numbers = new WeakMap<FieldNode, number>();

function numberOf(node: FieldNode): number {
  let number = numbers.get(node);
  if (number === undefined) {
    lastNumber += 1;
    number = lastNumber;
    numbers.set(node, number);
  }
  return number;
}

interface FieldOf {
  /** The row that it is a field of, as the columns of a table in JSON; undefined for a field of the query. */
  readonly row?: { readonly table: string; readonly json: string } | undefined;
  /** Rows to read by their public ids, whatever the field says of itself. */
  readonly nodes?: { readonly types: readonly string[]; readonly ids: readonly string[] } | undefined;
}

/**
 * Reads one field, with all that the document asks below it, in one statement: for the executor, which resolves the rest.
 * @returns its value; objects name their types, and errors stand where arguments are wrong
 */
export async function runField(context: Context, info: GraphQLResolveInfo, { row, nodes }: FieldOf): Promise<unknown> {
  if (faults.has(context)) throw faults.get(context);
  const [node] = info.fieldNodes;
  const field = info.parentType.getFields()[info.fieldName];
  if (!node || !field) throw new Error('a field is resolved for a node of its document');
  const { conditions } = knownOf(info.operation, () => [info.operation, ...Object.values(info.fragments)]);
  const truth = conditions.map((name) => String(info.variableValues[name])).join(' ');
  const key = [
    info.parentType.name,
    row?.table ?? '',
    nodes?.types.join() ?? '',
    ...info.fieldNodes.map(numberOf),
    truth,
  ].join(' ');
  const plans = fieldPlans.get(node) ?? new Map<string, Sql>();
  fieldPlans.set(node, plans);
  let json = plans.get(key);
  if (!json) {
    const fragments = new Map(Object.entries(info.fragments));
    const planner = new Planner({ schema: info.schema, fragments, variables: info.variableValues, isTyped: true });
    const read: Read | undefined = nodes && { kind: 'node', types: nodes.types, given: true };
    const below = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    json = planner.field({ key: '', field, node, below }, row ? { row: 'r' } : {}, read);
    if (plans.size < 100) plans.set(key, json);
  }
  const whole = row
    ? sql`select ${json} from jsonb_populate_record(null::${row.table}, ${(run) => run.bind(row.json)}::jsonb) r`
    : sql`select ${json}`;
  const answer = await answerOf(whole, info.variableValues, context, nodes?.ids);
  return valuesOf(answer.json, answer);
}

const faults = new WeakMap<Context, unknown>();

/** What a plan of a whole query met: its fields meet the same when they are executed, without asking again. */
export function meetFault(context: Context, fault: unknown): void {
  faults.set(context, fault);
}

/** How long a change that is committed and not sequenced yet is waited for: it takes a few milliseconds. */
const sequencedMs = 2_000;

async function answerOf(
  statement: Sql,
  variables: Readonly<Record<string, unknown>>,
  context: Context,
  given?: readonly string[],
): Promise<Pick<Notes, 'errors'> & { readonly json: string }> {
  const { viewer, feed, payments } = context;
  // Wherever a document comes to read: at its root, or below what a mutation answers.
  if (!viewer.permissions.includes('VIEW')) throw failure('FORBIDDEN', 'this token lacks the permission VIEW');
  const deadline = Date.now() + sequencedMs;
  for (;;) {
    const run = new BoundRun(viewer, variables, given);
    const text = textOf(statement, run);
    try {
      const [[json] = []] = await payments.database.read<[string]>(text, run.values);
      if (json === undefined) throw new Error('a plan answers one text');
      return { json: finished(json, run, Date.now() >= deadline), errors: run.errors };
    } catch (error) {
      if (!(error instanceof NotSequenced)) throw error;
      await feed.waitForChange(Math.min(Math.max(0, deadline - Date.now()), 50));
    }
  }
}

class BoundRun extends Binding implements Run, Notes {
  readonly viewer: Viewer;
  readonly given: readonly string[];
  readonly notes: unknown[] = [];
  readonly errors: GraphQLError[] = [];
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #args = new Map<FieldNode, Readonly<Record<string, unknown>>>();

  constructor(viewer: Viewer, variables: Readonly<Record<string, unknown>>, given: readonly string[] = []) {
    super();
    this.viewer = viewer;
    this.given = given;
    this.#variables = variables;
  }

  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    const asked = this.#args.get(node);
    if (asked) return asked;
    const args = getArgumentValues(field, node, this.#variables);
    this.#args.set(node, args);
    return args;
  }

  note(value: unknown): number {
    return this.notes.push(value) - 1;
  }

  attempt(make: () => string): string {
    const bound = this.values.length;
    try {
      return make();
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      // What stands for no value may not be bound.
      this.values.length = bound;
      return literal(errorJson(error, this));
    }
  }
}
