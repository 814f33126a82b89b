import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { oncePer } from '../../../core/once-per.ts';
import { type ExpensiveTurns, inExpensiveTurn, type TakeTurn } from '../../../core/outside-wait.ts';
import { Slots } from '../../../core/slots.ts';
import { RateLimited, type TokenCap } from '../../../domain/access/limits/rate-limits.ts';
import type { Sessions } from '../../../domain/access/tokens/sessions.ts';
import { feedHead } from '../../../domain/events/reads.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import type { Replicas } from '../../../infra/database/replicas/replicas.ts';
import { requestSeconds } from '../../../infra/instruments/instruments.ts';
import { msLeft, noteOperation } from '../../../infra/instruments/request-facts.ts';
import { inSpan } from '../../../infra/instruments/spans.ts';
import { TooLate, within } from '../../../infra/instruments/within.ts';
import type { Context, Prepared, Transport } from '../context.ts';
import { badRequest, failure, invalidInput, rateLimited, unprocessableStatus, withoutStatus } from '../failure.ts';
import { documentBudget } from '../limits/budget.ts';
import type { DocumentSize } from '../limits/document-size.ts';
import { Documents, removeSuggestions } from '../limits/documents.ts';
import { answerByPlan, TextAnswer, withExtensions } from '../reading/run.ts';
import type { Message } from '../schema/streams/stream.ts';
import { asOutcomeUnknown, isTemporaryFailure } from './present-error.ts';
import { isSafe } from './read-operation.ts';
import type { OperationParams, SentDocuments, SentOperation } from './sent-documents.ts';
import { holdStream, type StreamMessage, sharedResults, streamMessages } from './streams.ts';

/** The maximum number of streams that may be opening at once. If all streams opened at once, clients would time out. */
const maxOpenings = 256;

/**
 * The REST headers for which mutations have input fields. If a mutation ignored them, a retry could pay a second time,
 * or overwrite a change that the caller has not seen.
 */
const restHeaders = {
  'idempotency-key': 'idempotencyKey',
  'x-idempotency-key': 'idempotencyKey',
  'if-match': 'expectedVersion',
};

export interface OperationsOptions {
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
  readonly operationMs: number;
  /** Whether every response includes its document's cost, or only on request with `"extensions": { "cost": true }`. */
  readonly reportsCost: boolean;
  readonly sent: SentDocuments;
  readonly sessions: Sessions;
  readonly replicas?: Replicas | undefined;
  /** The maximum number of open subscriptions per token, and of resume keys per subject. */
  readonly streams: TokenCap;
  /** Waits for a message's turn among all of the platform's work. */
  readonly takeTurn: TakeTurn;
  /** Counts an expensive document as additional requests. Returns an error if they exceed the rate limit. */
  readonly countMore: (context: Context, requests: number) => Promise<GraphQLError | undefined>;
  /** Limits how many of a platform's expensive documents are executed at once. */
  readonly expensive: ExpensiveTurns;
  /** Authenticates the caller. Throws a GraphQLError if the credentials are invalid. */
  readonly contextOf: (transport: Transport) => Promise<Context>;
  readonly present: (error: unknown) => GraphQLError;
}

/** An operation that may run, with the size of its document. */
export interface MeasuredOperation extends Prepared {
  readonly size: DocumentSize;
}

/**
 * Runs operations in the same way for every transport: authenticates the caller, parses and validates the document,
 * checks its size, executes the operation or opens its stream within the time limit, and converts errors.
 */
export class Operations {
  readonly documents: Documents;
  readonly #options: OperationsOptions;
  readonly #openings = new Slots(maxOpenings);
  readonly #join: ReturnType<typeof sharedResults>;

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.documents = new Documents(options);
    this.#join = sharedResults((result, args) => this.#messageText(result, args), options.takeTurn);
  }

  /**
   * Authenticates the caller first, so that unauthenticated callers learn nothing about the schema, then reads, parses
   * and validates the operation. Returns the errors if it cannot run.
   */
  async prepare(transport: Transport, read: () => SentOperation): Promise<MeasuredOperation | readonly GraphQLError[]> {
    try {
      const context = await this.#options.contextOf(transport);
      const params = await this.#options.sent.complete(read(), context.viewer);
      const { query, operationName, variables } = params;
      const document = this.documents.parse(query);
      const { size, errors } = this.documents.check({ document, operationName, variables });
      if (errors.length > 0) return errors;
      const operation = getOperationAST(document, operationName);
      if (!operation) {
        const message = 'operationName must be the name of an operation in the document';
        return [badRequest(message, { code: 'OPERATION_RESOLUTION_FAILURE', ...unprocessableStatus })];
      }
      if (operation.operation === 'mutation' && isSafe(transport.response?.req.method)) {
        const notAllowed = { code: 'METHOD_NOT_ALLOWED', status: 405, headers: { allow: 'POST' } };
        return [badRequest('mutations must be sent by POST', notAllowed)];
      }
      const { headers = {} } = transport.response?.req ?? {};
      const [header, field] = Object.entries(restHeaders).find(([name]) => headers[name] !== undefined) ?? [];
      if (operation.operation === 'mutation' && header !== undefined) {
        const message = `${header} is a header of REST: use ${field} in the input`;
        return [badRequest(message, { code: 'INVALID_INPUT', details: { field: header } })];
      }
      if (context.viewer.trustedDocumentsOnly) await this.#options.sent.check(context.viewer, document);
      context.reportsCost = this.#options.reportsCost || params.extensions?.cost === true;
      context.sentAfter = afterIn(params);
      return {
        schema: this.#options.schema,
        document,
        operationName: operationName ?? undefined,
        variableValues: variables ?? undefined,
        contextValue: context,
        operation,
        size,
      };
    } catch (error) {
      // A syntax error, an expired token or an unreachable database is reported without closing the connection.
      return [this.#options.present(error)];
    }
  }

  async execute(args: MeasuredOperation): Promise<ExecutionResult> {
    const answer = await this.answer(args);
    return answer instanceof TextAnswer ? answer.result : answer;
  }

  /** Runs a query or a mutation for a transport that can send a response exactly as the database wrote it. */
  answer(args: MeasuredOperation): Promise<ExecutionResult | TextAnswer> {
    return timeOperation(args, () => this.#answer(args));
  }

  async #answer(args: MeasuredOperation): Promise<ExecutionResult | TextAnswer> {
    const context = args.contextValue;
    const { expensive, countMore } = this.#options;
    const requests = requestsForCost(args.size.cost);
    const tooMany = requests > 1 ? await countMore(context, requests - 1) : undefined;
    if (tooMany) return { errors: [tooMany] };
    // Only a query's cost reflects the work of executing the operation.
    const answer = await (requests > 1 && args.operation.operation === 'query'
      ? inExpensiveTurn(expensive, context.viewer.platformId, () => this.#runInTime(args))
      : this.#runInTime(args));
    const presented = answer instanceof TextAnswer || !answer.errors ? answer : this.#present(answer, args);
    return context.reportsCost ? withCost(presented, costReport(args)) : presented;
  }

  #runInTime(args: Prepared): Promise<ExecutionResult | TextAnswer> {
    const { contextValue: context } = args;
    const onTimeout = () => {
      context.isAbandoned = () => true;
    };
    const run = () => this.#run(args);
    // A mutation's result is read from the primary.
    const replicas = args.operation.operation === 'query' ? this.#options.replicas : undefined;
    const running = asPlatform(context.viewer.platformId, () => (replicas ? replicas.reading(run) : run()));
    return withTimeLimit(running, msLeft(this.#options.operationMs), onTimeout).catch(
      (error: unknown): ExecutionResult => ({ errors: [this.#options.present(error)] }),
    );
  }

  async #run(args: Prepared): Promise<ExecutionResult | TextAnswer> {
    const { contextValue: context } = args;
    const answer = context.isStock ? undefined : await answerByPlan(args);
    if (answer) return answer;
    // Reads the cursor first, so that a list in the same query includes all changes before it. If both were read in
    // parallel, a change between the two reads could be missed.
    if (mentionsFeedCursor(args.document))
      context.feedHead = await feedHead(context.payments.database, context.viewer.platformId);
    return execute(args);
  }

  async subscribe(args: MeasuredOperation): Promise<AsyncIterableIterator<StreamMessage> | ExecutionResult> {
    const { streams, present } = this.#options;
    const { viewer, reportsCost } = args.contextValue;
    const end = streams.open(viewer);
    if (end instanceof RateLimited) return { errors: [rateLimited(end)] };
    const held = new DisposableStack();
    held.defer(end);
    try {
      // The time that a stream spends waiting for its turn to open does not count against the time limit.
      const stream = await this.#openings.run(() => asPlatform(viewer.platformId, () => this.#open(args)));
      if (!isAsyncIterable(stream)) {
        const refused = this.#present(stream, args);
        return reportsCost ? { ...refused, extensions: { cost: costReport(args) } } : refused;
      }
      const release = await holdStream(this.#options, args);
      if (typeof release !== 'function') {
        await stream[Symbol.asyncIterator]().return?.();
        return { errors: [release] };
      }
      held.defer(release);
      const { textOf, leave } = this.#join(args);
      held.defer(leave);
      const ofStream = held.move();
      return streamMessages(stream, {
        ...{ textOf, present, leave: () => ofStream.dispose() },
        extensionsOf: (place, isFirst) => extensionsOf(args, place, isFirst),
      });
    } finally {
      held.dispose();
    }
  }

  async #open(args: Prepared): Promise<AsyncIterable<unknown> | ExecutionResult> {
    const opening = createSourceEventStream(args);
    const endLate = async (late: unknown) => {
      if (isAsyncIterable(late)) await late[Symbol.asyncIterator]().return?.();
    };
    const onTimeout = () => void opening.then(endLate, () => undefined);
    const stream = await withTimeLimit(opening, this.#options.operationMs, onTimeout);
    if (!isAsyncIterable(stream) && isTemporaryFailure(stream)) args.contextValue.closeForRetry();
    return stream;
  }

  /** Returns a subscription's result as JSON, without HTTP statuses, which mean nothing on an open connection. */
  #messageText(result: ExecutionResult, args: Prepared): string {
    const { errors, ...rest } = result.errors ? this.#present(result, args) : result;
    return JSON.stringify(errors ? { ...rest, errors: errors.map(withoutStatus) } : rest);
  }

  #present(result: ExecutionResult, args: Prepared): ExecutionResult {
    const { errors = [] } = result;
    const { introspection, present } = this.#options;
    // If there is no data, nothing has run, because the executor could not coerce the variables.
    if (!introspection && !('data' in result)) removeSuggestions(errors);
    const isMutation = args.operation.operation === 'mutation';
    return {
      ...result,
      errors: errors.map((error) => present(isMutation ? asOutcomeUnknown(error, result.data) : error)),
    };
  }
}

/** Returns whether a document could select the feed's cursor, that is, whether its text contains the field's name. */
const mentionsFeedCursor = oncePer((document: DocumentNode) => document.loc?.source.body.includes('feedCursor'));

/** Returns the `after` that a client sent: null if it has no cursor yet, undefined if `after` was omitted. */
function afterIn({ extensions }: OperationParams): string | null | undefined {
  const after = extensions?.after;
  if (after === undefined || after === null || typeof after === 'string') return after;
  throw invalidInput('extensions.after must be a cursor or null', 'extensions.after');
}

/** Returns the extensions of a stream's message, such as its cursor and whether it may be a repeat. */
function extensionsOf(args: MeasuredOperation, place: Message | undefined, isFirst: boolean) {
  const { reportsCost, resumePoint, sentAfter } = args.contextValue;
  const mayRepeat = place !== undefined && resumePoint?.mayRepeat(place.position.sequence);
  const extensions = {
    ...(isFirst && reportsCost && { cost: costReport(args) }),
    ...(isFirst && resumePoint && { resumed: resumePoint.isResumed }),
    ...(mayRepeat && { mayRepeat }),
    ...(sentAfter !== undefined && place && { cursor: place.cursor }),
  };
  return Object.keys(extensions).length > 0 ? extensions : undefined;
}

/** Returns an operation's `extensions.cost`: the cost and size of its document (`DocumentSize`), and their limits. */
function costReport({ size }: MeasuredOperation) {
  const { cost: limit, depth, fields, aliases } = documentBudget;
  const limits = { depth, fields, aliases };
  return { cost: size.cost, limit, depth: size.depth, fields: size.fields, aliases: size.aliases, limits };
}

function withCost(answer: ExecutionResult | TextAnswer, cost: object): ExecutionResult | TextAnswer {
  return answer instanceof TextAnswer
    ? new TextAnswer(withExtensions(answer.text, { cost }))
    : { ...answer, extensions: { ...answer.extensions, cost } };
}

/** The highest document cost that counts as one request, enough for one read of twenty rows with twenty fields each. */
const includedCost = 800;

const costOfRequest = 500;

/** Returns the number of requests, at least one, that the rate limit counts for a document with the given cost. */
export function requestsForCost(cost: number): number {
  return 1 + Math.max(0, Math.ceil((cost - includedCost) / costOfRequest));
}

/** Executes a valid operation in a span. Records how long it takes, by root field and first error code. */
async function timeOperation(
  { operation: node, operationName }: Prepared,
  execute: () => Promise<ExecutionResult | TextAnswer>,
): Promise<ExecutionResult | TextAnswer> {
  const operation = labelOf(node);
  noteOperation(operation);
  const end = requestSeconds.startTimer({ api: 'graphql', operation });
  const answer = await inSpan(operation, { attributes: { 'graphql.operation.name': operationName ?? '' } }, execute);
  const code = answer instanceof TextAnswer ? undefined : answer.errors?.[0]?.extensions.code;
  end({ code: typeof code === 'string' ? code : 'ok' });
  return answer;
}

/** Returns an operation's kind and root field (`several` for more than one), to limit the number of metric labels. */
const labelOf = oncePer(({ operation, selectionSet: { selections } }: OperationDefinitionNode) => {
  const [first, ...others] = selections;
  return `${operation} ${first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'several'}`;
});

/**
 * Returns the result of `work`, or a TIMEOUT error if it takes longer than `limitMs`. The work continues, so a
 * mutation may still take effect. The database ends statements after 10 s.
 */
function withTimeLimit<Result>(
  work: Promise<Result>,
  limitMs: number,
  onTimeout: () => void,
): Promise<Result | ExecutionResult> {
  return within(limitMs, work).catch((error: unknown) => {
    if (!(error instanceof TooLate)) throw error;
    onTimeout();
    const message = `the operation took longer than ${Math.round(limitMs)} ms; to find out whether a mutation took effect, query mutationReceipt or repeat it with the same idempotencyKey`;
    return { errors: [failure('TIMEOUT', message, { status: 504 })] };
  });
}
