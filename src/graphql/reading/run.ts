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
import { abandoned, failure } from '../failure.ts';
import { planCache } from '../limits/document-cache.ts';
import { errorJson, finished, type Notes, NotSequenced, valuesOf } from './finish.ts';
import { Planner } from './plan.ts';
import type { Read } from './reads.ts';
import { NotPlanned } from './selected.ts';
import { literal, type Run, type Sql, Statement, sql } from './sql.ts';

/** A query whose answer the database makes whole: a statement whose one value is its `data`, as JSON. */
export interface QueryPlan {
  readonly statement: Statement;
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
    const json = planner.object(query, [operation.selectionSet], (asked) => planner.root(asked));
    return { statement: new Statement(bounded(sql`select ${json} as json`)), operation };
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
export async function runQuery(
  { statement, operation }: QueryPlan,
  args: ExecutionArgs,
  context: Context,
): Promise<string> {
  const { coerced } = getVariableValues(args.schema, operation.variableDefinitions ?? [], args.variableValues ?? {});
  if (!coerced) throw new NotPlanned('the variables are wrong');
  const answer = await answerOf(statement, { variables: coerced }, context);
  if (answer.errors.length > 0) throw new NotPlanned('the executor says where errors are');
  return answer.json;
}

/** By the nodes of a field, as several fragments may ask for it, and by what else decides its plan. */
const fieldPlans = new WeakMap<FieldNode, Map<string, Statement>>();

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
  const plans = fieldPlans.get(node) ?? new Map<string, Statement>();
  fieldPlans.set(node, plans);
  let statement = plans.get(key);
  if (!statement) {
    const fragments = new Map(Object.entries(info.fragments));
    const planner = new Planner({ schema: info.schema, fragments, variables: info.variableValues, isTyped: true });
    const read: Read | undefined = nodes && { kind: 'node', types: nodes.types, given: true };
    const below = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const json = planner.field({ key: '', field, node, below }, row ? { row: 'r' } : {}, read);
    statement = new Statement(
      bounded(
        row
          ? sql`select ${json} as json from jsonb_populate_record(null::${row.table}, ${(run) => run.bind(run.row)}::jsonb) r`
          : sql`select ${json} as json`,
      ),
    );
    if (plans.size < 100) plans.set(key, statement);
  }
  const bound = { variables: info.variableValues, row: row?.json, given: nodes?.ids };
  const answer = await answerOf(statement, bound, context);
  return valuesOf(answer.json, answer);
}

const faults = new WeakMap<Context, unknown>();

/** The answer of a read, or '' where it has more bytes than the run may bring: it stays in the database then. */
function bounded(read: Sql): Sql {
  // Without the offset Postgres would make the answer once to count it and once more to send it.
  return sql`select case when octet_length(a.json) > ${(run) => run.bind(run.maxBytes)}::int then '' else a.json end from (${read} offset 0) a`;
}

/** What a plan of a whole query met: its fields meet the same when they are executed, without asking again. */
export function meetFault(context: Context, fault: unknown): void {
  faults.set(context, fault);
}

/** How long a change that is committed and not sequenced yet is waited for: it takes a few milliseconds. */
const sequencedMs = 2_000;

/** What a run is bound with beside who asks. */
interface Bound {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly row?: string | undefined;
  readonly given?: readonly string[] | undefined;
}

async function answerOf(
  statement: Statement,
  bound: Bound,
  context: Context,
): Promise<Pick<Notes, 'errors'> & { readonly json: string }> {
  const { viewer, feed, payments } = context;
  // Wherever a document comes to read: at its root, or below what a mutation answers.
  if (!viewer.permissions.includes('VIEW')) throw failure('FORBIDDEN', 'this token lacks the permission VIEW');
  const deadline = Date.now() + sequencedMs;
  for (;;) {
    if (context.isAbandoned()) throw abandoned();
    const run = new BoundRun(viewer, bound, context.maxAnswerBytes);
    const text = statement.textFor(run);
    try {
      const json = await payments.database.readText(text, run.values);
      if (json === '') throw answerTooLarge(context.maxAnswerBytes);
      return { json: finished(json, run, Date.now() >= deadline), errors: run.errors };
    } catch (error) {
      if (!(error instanceof NotSequenced)) throw error;
      await feed.waitForChange(Math.min(Math.max(0, deadline - Date.now()), 50));
    }
  }
}

function answerTooLarge(limit: number): GraphQLError {
  const message = `The answer would have more than ${limit} bytes: ask for less of it at once, such as shorter pages.`;
  return new GraphQLError(message, { extensions: { code: 'COST_LIMIT_EXCEEDED', budget: 'answerBytes', limit } });
}

class BoundRun extends Binding implements Run, Notes {
  readonly viewer: Viewer;
  readonly given: readonly string[];
  readonly row: string | undefined;
  readonly maxBytes: number;
  readonly notes: unknown[] = [];
  readonly errors: GraphQLError[] = [];
  readonly #variables: Readonly<Record<string, unknown>>;
  /** What was made once. Not in a WeakMap of the plan's: V8's young collections keep what stands in one (bench/LOG.md). */
  readonly #made = new Map<object, unknown>();

  constructor(viewer: Viewer, { variables, row, given = [] }: Bound, maxBytes: number) {
    super();
    this.viewer = viewer;
    this.maxBytes = maxBytes;
    this.given = given;
    this.row = row;
    this.#variables = variables;
  }

  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    return this.once(node, () => getArgumentValues(field, node, this.#variables));
  }

  once<Made>(owner: object, make: () => Made): Made {
    const known = this.#made.get(owner);
    // An owner makes one kind of thing.
    if (known !== undefined) return known as Made;
    const made = make();
    this.#made.set(owner, made);
    return made;
  }

  note(value: unknown): number {
    return this.notes.push(value) - 1;
  }

  refuse(error: GraphQLError): string {
    return literal(errorJson(error, this));
  }
}
