import {
  type DefinitionNode,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLResolveInfo,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { oncePer } from '../../../core/once-per.ts';
import type { Context, Prepared } from '../context.ts';
import { abandoned, failure } from '../failure.ts';
import { maxPlanBytes, planBytes } from '../limits/documents.ts';
import { fillPlaceholders, NotSequenced, parseAnswer, valueSeparator } from './finish.ts';
import { LeftToExecutor } from './page.ts';
import { Planner } from './plan.ts';
import type { Read } from './reads.ts';
import { concatenate, inScope, PlanStatement, Run, type RunInput, type Sql, sql } from './sql.ts';

type Variables = Readonly<Record<string, unknown>>;

/** The plan of a query whose whole response the database can produce. */
interface QueryPlan {
  /** Reads the values of the root fields. */
  readonly statement: PlanStatement;
  /**
   * The parts of the response before, between and after these values. They are not in the statement, so queries whose
   * root fields differ only in their aliases share a prepared statement.
   */
  readonly around: readonly string[];
}

/** The plans of queries, keyed by `planKey`; false for a query that is left to the executor. */
const queryPlans = new LRUCache<string, QueryPlan | false>({ maxSize: maxPlanBytes });

let lastNumber = 0;

/** Returns an operation's number and the variables in its directives. `parts` are all definitions that it may use. */
const operationInfo = oncePer((_operation: OperationDefinitionNode, parts: () => readonly DefinitionNode[]) => {
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
});

/** Returns the key of an operation's plan. Each combination of the directive variables' values has its own. */
function planKey(operation: OperationDefinitionNode, variables: Variables, parts: () => readonly DefinitionNode[]) {
  const { number, directiveVariables } = operationInfo(operation, parts);
  return `${number} ${directiveVariables.map((name) => String(variables[name])).join(' ')}`;
}

function planQuery({ schema, document, operation }: Prepared, variables: Variables): QueryPlan | false {
  const query = schema.getQueryType();
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const planner = new Planner({ schema, fragments, variables, isTyped: false });
  try {
    if (!query) return false;
    const root = { ...operation, kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'query' } } as const;
    const values: Sql[] = [];
    const around: string[] = [];
    let before = '{"data":{';
    for (const [at, selected] of planner.selectedFields(query, [root]).entries()) {
      before += `${at > 0 ? ',' : ''}"${selected.key}":`;
      if (selected.field) {
        values.push(planner.openField(selected, {}));
        around.push(before);
        before = '';
      } else before += `"${query.name}"`;
    }
    if (values.length === 0) return false;
    const json = concatenate(values.flatMap((value, at) => (at === 0 ? [value] : [valueSeparator.sql, value])));
    const statement = new PlanStatement(withinLimit(sql`select (${inScope(json)})::text as json`));
    return { statement, around: [...around, `${before}}}`] };
  } catch (error) {
    if (error instanceof LeftToExecutor) return false;
    throw error;
  }
}

/** Plans of fields, keyed by a field's first node and then by everything else that determines a plan. */
const fieldPlansOf = oncePer((_node: FieldNode) => new Map<string, PlanStatement>());

/** The starting point of a field's read: an available row, or the public ids of rows. A query field has neither. */
interface FieldRead {
  /** The row that has the field, as a JSON object of its table's columns; undefined for a field of the query type. */
  readonly row?: { readonly table: string; readonly json: string } | undefined;
  /** Rows to read by their public ids, instead of the rows that the field itself would read. */
  readonly nodes?: { readonly types: readonly string[]; readonly ids: readonly string[] } | undefined;
  /** Arguments that the field takes from its stream instead of from the document. */
  readonly given?: Variables | undefined;
}

/**
 * The errors with which whole queries failed, keyed by the operation's context. After such an error, the executor runs
 * the query's fields. They fail with the same error, so no further statements are sent.
 */
const faults = new WeakMap<Context, unknown>();

/** Reads a field and everything below it in one statement, with type names and errors for the executor. */
export async function runField(context: Context, info: GraphQLResolveInfo, { row, nodes, given }: FieldRead) {
  if (faults.has(context)) throw faults.get(context);
  const { schema, fragments, operation, fieldNodes, parentType, variableValues: variables } = info;
  const [node] = fieldNodes;
  const field = parentType.getFields()[info.fieldName];
  if (!node || !field) throw new Error('the field to resolve has no node in the document or no definition');
  const key = [
    planKey(operation, variables, () => [operation, ...Object.values(fragments)]),
    parentType.name,
    row?.table ?? '',
    nodes?.types.join() ?? '',
    // Several fragments may select the same field.
    ...fieldNodes.map(({ loc }) => loc?.start),
  ].join(' ');
  const plans = fieldPlansOf(node);
  let statement = plans.get(key);
  if (!statement) {
    const planner = new Planner({ schema, fragments, variables, isTyped: true });
    // A field that returns the row in a stream's message has no read of its own.
    const own: Read | undefined = field.extensions.read ?? (row && { kind: 'value', env: (env) => env });
    const read: Read | undefined = nodes ? { kind: 'node', types: nodes.types, idsFromRun: true } : own;
    const json = inScope(planner.field({ key: '', field, node, below: fieldNodes }, row ? { row: 'r' } : {}, read));
    const from: Sql = row
      ? sql` from jsonb_populate_record(null::${row.table}, ${(run) => run.bind(run.input.row)}::jsonb) r`
      : [];
    statement = new PlanStatement(withinLimit(sql`select (${json})::text as json${from}`));
    if (plans.size < 100) plans.set(key, statement);
  }
  const input = { variables, row: row?.json, ids: nodes?.ids, given: given && { node, args: given } };
  const { json, errors } = await runStatement(statement, input, context);
  return parseAnswer(json, errors);
}

/** Replaces a response that exceeds the run's byte limit with '', so that the database does not send it. */
function withinLimit(read: Sql): Sql {
  // Without the offset, Postgres would compute the response twice: once to measure it and once to send it.
  return sql`select case when octet_length(a.json) > ${(run) => run.bind(run.context.maxAnswerBytes)}::int then '' else a.json end from (${read} offset 0) a`;
}

/** How long a read waits for committed changes to be sequenced, which usually takes only a few milliseconds. */
const sequencingTimeoutMs = 2_000;

async function runStatement(statement: PlanStatement, input: RunInput, context: Context) {
  const { viewer, feed, payments, maxAnswerBytes } = context;
  // Every read needs VIEW, both at the root of a query and below a mutation's result.
  if (!viewer.permissions.includes('VIEW')) throw failure('FORBIDDEN', 'this token lacks the permission VIEW');
  const deadline = Date.now() + sequencingTimeoutMs;
  const known = new Map<string, boolean>();
  for (;;) {
    if (context.isAbandoned()) throw abandoned();
    const run = new Run(context, { ...input, known });
    const text = statement.textFor(run);
    if (run.unknown.length > 0) {
      for (const { key, holds } of run.unknown) known.set(key, await holds(payments.database.pool));
      continue;
    }
    try {
      const json = await payments.database.readText(text, run);
      if (json === '') throw answerTooLarge(maxAnswerBytes);
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

/** A response that the database has written. Its text is sent unchanged, and is parsed only if its data is needed. */
export class TextAnswer {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get result(): ExecutionResult {
    return JSON.parse(this.text);
  }
}

/** Adds extensions to a response that is already JSON text and has no extensions. */
export function withExtensions(json: string, extensions: object): string {
  return `${json.slice(0, -1)},"extensions":${JSON.stringify(extensions)}}`;
}

/**
 * Executes a query with one statement, if the database can produce the whole response. Returns undefined for other
 * operations, or if the statement fails. The executor then runs the operation and reports errors with locations.
 */
export async function answerByPlan(args: Prepared): Promise<TextAnswer | undefined> {
  const { schema, document, operation, variableValues, contextValue: context } = args;
  if (operation.operation !== 'query' || !context.viewer.permissions.includes('VIEW')) return undefined;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  if (!coerced) return undefined;
  const key = planKey(operation, coerced, () => document.definitions);
  let plan = queryPlans.get(key);
  if (plan === undefined) {
    plan = planQuery(args, coerced);
    queryPlans.set(key, plan, { size: planBytes(document) });
  }
  if (!plan) return undefined;
  const { statement, around } = plan;
  try {
    const { json, errors } = await runStatement(statement, { variables: coerced }, context);
    if (errors.length > 0) return undefined;
    const values = json.split(valueSeparator.text);
    return new TextAnswer(around.map((text, at) => text + (values[at] ?? '')).join(''));
  } catch (error) {
    faults.set(context, error);
    return undefined;
  }
}
