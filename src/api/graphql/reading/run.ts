import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
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
import { LRUCache } from 'lru-cache';
import type { Cursors } from '../../../core/cursors.ts';
import { oncePer } from '../../../core/once-per.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import { Binding } from '../../../infra/database/conditions.ts';
import type { Context } from '../context.ts';
import { abandoned, failure } from '../failure.ts';
import { maxPlanBytes, planBytes } from '../limits/documents.ts';
import { wrongArgument } from '../wrong-value.ts';
import { errorJson, fillPlaceholders, type Notes, NotSequenced, parseAnswer } from './finish.ts';
import { LeftToExecutor } from './page.ts';
import { Planner } from './plan.ts';
import type { Read } from './reads.ts';
import { inScope, literal, PlanStatement, type Requirement, type Run, type Sql, sql } from './sql.ts';

interface RunInput {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly row?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** The requirements that have been checked, by key, and whether they are met. */
  readonly known?: ReadonlyMap<string, boolean>;
  /** Further arguments of one field. */
  readonly given?: { readonly node: FieldNode; readonly args: Readonly<Record<string, unknown>> } | undefined;
}

class BoundRun extends Binding implements Run, Notes {
  readonly viewer: Viewer;
  readonly cursors: Cursors;
  readonly ids: readonly string[];
  readonly row: string | undefined;
  readonly maxBytes: number;
  readonly notes: unknown[] = [];
  readonly errors: GraphQLError[] = [];
  readonly unknown: Requirement[] = [];
  readonly #input: RunInput;
  /**
   * The results of `once`. In the plan's WeakMap, they would survive V8's young-generation collections (bench/LOG.md).
   */
  readonly #cache = new Map<object, unknown>();

  constructor(context: Context, input: RunInput) {
    super();
    this.viewer = context.viewer;
    this.cursors = context.payments.cursors;
    this.maxBytes = context.maxAnswerBytes;
    this.ids = input.ids ?? [];
    this.row = input.row;
    this.#input = input;
  }

  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    return this.once(node, () => {
      const { variables, given } = this.#input;
      const args = getArgumentValues(field, node, variables);
      const wrong = wrongArgument(args);
      if (wrong) throw wrong;
      return node === given?.node ? { ...args, ...given.args } : args;
    });
  }

  once<Value>(owner: object, make: () => Value): Value {
    const cached = this.#cache.get(owner);
    // All values of an owner have the same type.
    if (cached !== undefined) return cached as Value;
    const value = make();
    this.#cache.set(owner, value);
    return value;
  }

  note(value: unknown): number {
    return this.notes.push(value) - 1;
  }

  require(requirement: Requirement): void {
    const holds = this.#input.known?.get(requirement.key);
    if (holds === undefined) this.unknown.push(requirement);
    else if (!holds) throw requirement.refusal();
  }

  refuse(error: GraphQLError): string {
    return literal(errorJson(error, this));
  }
}

/** A query's plan, if the database can answer the query entirely: a statement that returns its `data` as JSON. */
interface QueryPlan {
  readonly statement: PlanStatement;
  readonly operation: OperationDefinitionNode;
}

/** Plans by document number, operation and directive variables; null if a field is resolved in JavaScript. */
const queryPlans = new LRUCache<string, { readonly plan: QueryPlan | null }>({ maxSize: maxPlanBytes });

let lastNumber = 0;

/** Returns the info of a document or one of its operations; `parts` are the definitions that can have selections. */
const documentInfoOf = oncePer(
  (
    _document: DocumentNode | OperationDefinitionNode,
    parts: () => readonly (OperationDefinitionNode | FragmentDefinitionNode | DocumentNode)[],
  ) => {
    // The variables of directives: their values are part of a plan's key.
    const names = new Set<string>();
    for (const part of parts()) {
      visit(part, {
        Directive(directive) {
          for (const { value } of directive.arguments ?? [])
            if (value.kind === Kind.VARIABLE) names.add(value.name.value);
        },
      });
    }
    lastNumber += 1;
    return { number: lastNumber, directiveVariables: [...names] };
  },
);

/** Returns a query's plan, cached after its first use; undefined if a field is resolved in JavaScript. */
function planQuery({ schema, document, operationName, variableValues }: ExecutionArgs): QueryPlan | undefined {
  const { number, directiveVariables } = documentInfoOf(document, () => [document]);
  const directiveValues = directiveVariables.map((name) => conditionKey(variableValues?.[name])).join(' ');
  const key = `${number} ${operationName ?? ''} ${directiveValues}`;
  let cached = queryPlans.get(key);
  if (!cached) {
    cached = { plan: makePlan({ schema, document, operationName, variableValues }) ?? null };
    queryPlans.set(key, cached, { size: planBytes(document) });
  }
  return cached.plan ?? undefined;
}

/** Returns the part of a plan's key for a condition's value, as sent by the client: it may be any JSON. */
function conditionKey(value: unknown): string {
  return typeof value === 'boolean' || value === undefined ? String(value) : 'invalid';
}

function makePlan({ schema, document, operationName, variableValues }: ExecutionArgs): QueryPlan | undefined {
  const operation = getOperationAST(document, operationName);
  const query = schema.getQueryType();
  if (operation?.operation !== 'query' || !query) return undefined;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  if (!coerced) return undefined;
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const planner = new Planner({ schema, fragments, variables: coerced, isTyped: false });
  try {
    const root = { ...operation, kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'query' } } as const;
    const json = planner.object(query, [root], (selected) => planner.openField(selected, {}));
    return { statement: new PlanStatement(withinLimit(sql`select ${inScope(json)} as json`)), operation };
  } catch (error) {
    if (error instanceof LeftToExecutor) return undefined;
    throw error;
  }
}

/**
 * Runs a query's plan.
 * @returns its `data`, as JSON
 * @throws LeftToExecutor if the executor must run the query, which reports errors in the variables or arguments
 */
async function runQuery({ statement, operation }: QueryPlan, args: ExecutionArgs, context: Context): Promise<string> {
  const { coerced } = getVariableValues(args.schema, operation.variableDefinitions ?? [], args.variableValues ?? {});
  if (!coerced) throw new LeftToExecutor('the variables are wrong');
  const answer = await runStatement(statement, { variables: coerced }, context);
  if (answer.errors.length > 0) throw new LeftToExecutor('the executor says where errors are');
  return answer.json;
}

/**
 * Plans of fields: by a field's first node, and then by everything else that determines a plan, because several
 * fragments may select the same field.
 */
const fieldPlansOf = oncePer((_node: FieldNode) => new Map<string, PlanStatement>());

const nodeNumber = oncePer((_node: FieldNode) => {
  lastNumber += 1;
  return lastNumber;
});

/** The starting point of a field's read: an available row, or rows named by public ids. Neither for a query field. */
interface FieldRead {
  /** The row that has the field, as the columns of a table in JSON; undefined for a field of the query. */
  readonly row?: { readonly table: string; readonly json: string } | undefined;
  /** Rows to read by their public ids, instead of the field's own read. */
  readonly nodes?: { readonly types: readonly string[]; readonly ids: readonly string[] } | undefined;
  /** Arguments that the field does not have in the document but takes over from its stream. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The reasons why whole-query plans failed, keyed by the operation's context: fields that the executor runs afterwards
 * fail for the same reason, without sending a statement.
 */
const faults = new WeakMap<Context, unknown>();

/**
 * Reads a field and everything below it in one statement. For the executor, adds type names and leaves errors in place.
 */
export async function runField(context: Context, info: GraphQLResolveInfo, { row, nodes, given }: FieldRead) {
  if (faults.has(context)) throw faults.get(context);
  const [node] = info.fieldNodes;
  const field = info.parentType.getFields()[info.fieldName];
  if (!node || !field) throw new Error('a field is resolved for a node of its document');
  const { directiveVariables } = documentInfoOf(info.operation, () => [
    info.operation,
    ...Object.values(info.fragments),
  ]);
  const directiveValues = directiveVariables.map((name) => String(info.variableValues[name])).join(' ');
  const key = [
    info.parentType.name,
    row?.table ?? '',
    nodes?.types.join() ?? '',
    ...info.fieldNodes.map((one) => nodeNumber(one)),
    directiveValues,
  ].join(' ');
  const plans = fieldPlansOf(node);
  let statement = plans.get(key);
  if (!statement) {
    const { schema, fragments, variableValues: variables } = info;
    const planner = new Planner({ schema, fragments, variables, isTyped: true });
    // A message's field for its own row has no read: it returns the available row.
    const own: Read | undefined = field.extensions.read ?? (row && { kind: 'value', env: (env) => env });
    const read: Read | undefined = nodes ? { kind: 'node', types: nodes.types, idsFromRun: true } : own;
    const json = inScope(
      planner.field({ key: '', field, node, below: info.fieldNodes }, row ? { row: 'r' } : {}, read),
    );
    statement = new PlanStatement(
      withinLimit(
        row
          ? sql`select ${json} as json from jsonb_populate_record(null::${row.table}, ${(run) => run.bind(run.row)}::jsonb) r`
          : sql`select ${json} as json`,
      ),
    );
    if (plans.size < 100) plans.set(key, statement);
  }
  const input = {
    variables: info.variableValues,
    row: row?.json,
    ids: nodes?.ids,
    given: given && { node, args: given },
  };
  const answer = await runStatement(statement, input, context);
  return parseAnswer(answer.json, answer);
}

/** Replaces an answer that exceeds the run's byte limit with '', so that the database does not send it. */
function withinLimit(read: Sql): Sql {
  // Without the offset Postgres would compute the answer twice: once to count it and once to send it.
  return sql`select case when octet_length(a.json) > ${(run) => run.bind(run.maxBytes)}::int then '' else a.json end from (${read} offset 0) a`;
}

/** The longest wait for a committed change to be sequenced, which usually takes a few milliseconds. */
const sequencingTimeoutMs = 2_000;

async function runStatement(statement: PlanStatement, input: RunInput, context: Context) {
  const { viewer, feed, payments } = context;
  // Checked for every read: at the root of a query, and below the result of a mutation.
  if (!viewer.permissions.includes('VIEW')) throw failure('FORBIDDEN', 'this token lacks the permission VIEW');
  const deadline = Date.now() + sequencingTimeoutMs;
  const known = new Map<string, boolean>();
  for (;;) {
    if (context.isAbandoned()) throw abandoned();
    const run = new BoundRun(context, { ...input, known });
    const text = statement.textFor(run);
    if (run.unknown.length > 0) {
      for (const { key, holds } of run.unknown) known.set(key, await holds(payments.database.pool));
      continue;
    }
    try {
      const json = await payments.database.readText(text, run);
      if (json === '') throw answerTooLarge(context.maxAnswerBytes);
      return { json: fillPlaceholders(json, run, Date.now() >= deadline), errors: run.errors };
    } catch (error) {
      if (!(error instanceof NotSequenced)) throw error;
      await feed.waitForChange(Math.min(Math.max(0, deadline - Date.now()), 50));
    }
  }
}

function answerTooLarge(limit: number): GraphQLError {
  const message = `The answer would have more than ${limit} bytes: select fewer fields or shorter pages.`;
  return new GraphQLError(message, { extensions: { code: 'COST_LIMIT_EXCEEDED', budget: 'answerBytes', limit } });
}

type Extensions = NonNullable<ExecutionResult['extensions']>;

/** An answer written entirely by the database: its text is sent unchanged, and parsed only if it is needed as data. */
export class TextAnswer {
  readonly #data: string;
  readonly #extensions: Extensions | undefined;

  constructor(data: string, extensions?: Extensions) {
    this.#data = data;
    this.#extensions = extensions;
  }

  get text(): string {
    return this.#extensions === undefined
      ? `{"data":${this.#data}}`
      : `{"data":${this.#data},"extensions":${JSON.stringify(this.#extensions)}}`;
  }

  get result(): ExecutionResult {
    return { data: JSON.parse(this.#data), ...(this.#extensions && { extensions: this.#extensions }) };
  }

  with(extensions: Extensions): TextAnswer {
    return new TextAnswer(this.#data, extensions);
  }
}

/**
 * Answers a query with one statement, if the database can produce the whole answer. Returns undefined for other
 * operations and if the statement fails: the executor then runs the operation, and reports errors with locations.
 */
export async function answerByPlan(args: ExecutionArgs, context: Context): Promise<TextAnswer | undefined> {
  if (!context.viewer.permissions.includes('VIEW')) return undefined;
  const plan = planQuery(args);
  if (!plan) return undefined;
  try {
    return new TextAnswer(await runQuery(plan, args, context));
  } catch (error) {
    if (!(error instanceof LeftToExecutor)) faults.set(context, error);
    return undefined;
  }
}
