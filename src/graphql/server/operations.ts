import type { ServerResponse } from 'node:http';
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  subscribe,
  type ValidationRule,
} from 'graphql';
import { isAsyncIterable, mapAsyncIterator } from 'graphql-yoga';
import type { Sessions } from '../../access/sessions.ts';
import type { Context } from '../context.ts';
import { failure } from '../failure.ts';
import { Documents, removeSuggestions } from '../limits/documents.ts';
import { answerByPlan } from '../reading/answer-by-plan.ts';
import { TextAnswer } from '../reading/text-answer.ts';
import { costReport } from './cost-report.ts';
import { lostAnswer } from './lost-answers.ts';
import { asksForHead, readFeedHead } from './read-feed-head.ts';
import { mayOpenLater, StreamOpenings } from './stream-openings.ts';
import { superviseStream } from './supervise-stream.ts';
import { withinTime } from './time-limit.ts';

/** What a client sends to start an operation. */
export interface OperationParams {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly extensions?: Record<string, unknown> | null | undefined;
}

/** What a transport knows of who asks, and how it ends the connection. */
export interface Transport {
  /** As in HTTP's header; on a socket the credentials came with its first message. */
  readonly authorization?: string | undefined;
  /** Ends the connection of a reader that does not keep up or cannot be served; it comes back and resumes. */
  readonly closeForRetry?: () => void;
  /** Whether the client has gone, or has ended the operation; where there is no `response` that tells. */
  readonly isGone?: () => boolean;
  /** The answer, over HTTP, and over SSE with a connection for each operation. */
  readonly response?: ServerResponse | undefined;
}

export interface OperationsOptions {
  readonly schema: GraphQLSchema;
  /** Whether the schema may be asked for. */
  readonly introspection: boolean;
  /** The most that an operation may take, in milliseconds. */
  readonly operationMs: number;
  /** Whether every answer says what its document costs, or only those of requests that ask with `"extensions": { "cost": true }`. */
  readonly reportsCost: boolean;
  readonly sessions: Sessions;
  /** Says who asks. Throws a GraphQLError for a stranger. */
  readonly contextOf: (transport: Transport) => Promise<Context>;
  /** Makes of an error what clients see. */
  readonly present: (error: unknown) => GraphQLError;
  /** The rules of validation; those of the specification, if left out. */
  readonly rules?: readonly ValidationRule[];
}

/** An operation that may run. */
export interface Prepared extends ExecutionArgs {
  readonly contextValue: Context;
  readonly isSubscription: boolean;
}

/**
 * The way of an operation, the same on every transport: its document is parsed, held to the budget and validated, its caller
 * recognised, then it is executed or subscribed to within the time limit, and its errors are made what clients see.
 */
export class Operations {
  readonly documents: Documents;
  readonly #options: OperationsOptions;
  readonly #openings = new StreamOpenings();

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.documents = new Documents(options);
  }

  /** Parses, validates and authenticates an operation. Answers what to run, or the errors of an operation that cannot run. */
  async prepare(transport: Transport, params: OperationParams): Promise<Prepared | readonly GraphQLError[]> {
    const { query, operationName, variables } = params;
    try {
      const document = this.documents.parse(query);
      const errors = this.documents.check({ document, operationName, variables });
      if (errors.length > 0) return errors;
      const operation = getOperationAST(document, operationName);
      if (!operation) {
        return [failure('INVALID_INPUT', 'operationName must name one of the operations of the document')];
      }
      return {
        schema: this.#options.schema,
        document,
        operationName: operationName ?? undefined,
        variableValues: variables ?? undefined,
        contextValue: await this.context(transport, params),
        isSubscription: operation.operation === 'subscription',
      };
    } catch (error) {
      // An answer, not a fault of the connection: a syntax error, a token that has ended, or a database out of reach.
      return [this.#options.present(error)];
    }
  }

  /** Says who asks, and what else resolvers are given. Throws a GraphQLError for a stranger. */
  async context(transport: Transport, { extensions }: Pick<OperationParams, 'extensions'>): Promise<Context> {
    const context = await this.#options.contextOf(transport);
    context.reportsCost = this.#options.reportsCost || extensions?.cost === true;
    return context;
  }

  /** Runs a query or a mutation. */
  async execute(args: ExecutionArgs): Promise<ExecutionResult> {
    const answer = await this.answer(args);
    return answer instanceof TextAnswer ? answer.result : answer;
  }

  /** Runs a query or a mutation, for a transport that can send an answer as the text that the database has made. */
  async answer(args: ExecutionArgs): Promise<ExecutionResult | TextAnswer> {
    const context: Context = args.contextValue as Context;
    const over = () => {
      context.isAbandoned = () => true;
    };
    const answer = await withinTime(this.#run(args, context), this.#options.operationMs, { over }).catch(
      (error: unknown): ExecutionResult => ({ errors: [this.#options.present(error)] }),
    );
    const presented = answer instanceof TextAnswer || !answer.errors ? answer : this.#present(answer, args);
    return context.reportsCost ? withCost(presented, args) : presented;
  }

  async #run(args: ExecutionArgs, context: Context): Promise<ExecutionResult | TextAnswer> {
    const answer = await answerByPlan(args, context);
    if (answer) return answer;
    if (asksForHead(args.document)) await readFeedHead(context);
    return execute(args);
  }

  /** Opens a subscription. */
  async subscribe(args: ExecutionArgs): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> {
    const { sessions, present } = this.#options;
    const context = args.contextValue as Context;
    // Waiting for its turn is not part of a stream's opening, and takes nothing of its time.
    const stream = await this.#openings.open(() => this.#open(args, context));
    if (!isAsyncIterable(stream)) {
      const refused = this.#present(stream, args);
      return context.reportsCost ? { ...refused, extensions: { cost: costReport(args) } } : refused;
    }
    if (context.eventStream) superviseStream(sessions, context.viewer, context.eventStream);
    let isFirst = true;
    return mapAsyncIterator(
      stream,
      (result: ExecutionResult) => {
        const presented = result.errors ? this.#present(result, args) : result;
        const isReported = isFirst && context.reportsCost;
        isFirst = false;
        return isReported
          ? { ...presented, extensions: { ...presented.extensions, cost: costReport(args) } }
          : presented;
      },
      (error: unknown) => {
        throw present(error);
      },
    );
  }

  async #open(
    args: ExecutionArgs,
    context: Context,
  ): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> {
    // graphql-js types an AsyncGenerator, of which transports use the iterator alone.
    const opening: Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> = subscribe(args);
    const stream = await withinTime(opening, this.#options.operationMs, {
      late: (result) => {
        if (isAsyncIterable(result)) result.return?.();
      },
    });
    if (!isAsyncIterable(stream) && mayOpenLater(stream)) context.closeForRetry();
    return stream;
  }

  #present(result: ExecutionResult, { document, operationName }: ExecutionArgs): ExecutionResult {
    const { errors = [] } = result;
    const { introspection, present } = this.#options;
    // Of what has not begun to run: the executor says that variables are wrong.
    if (!introspection && !('data' in result)) removeSuggestions(errors);
    const isMutation = getOperationAST(document, operationName)?.operation === 'mutation';
    return { ...result, errors: errors.map((error) => present(isMutation ? lostAnswer(error) : error)) };
  }
}

function withCost(answer: ExecutionResult | TextAnswer, args: ExecutionArgs): ExecutionResult | TextAnswer {
  const cost = costReport(args);
  return answer instanceof TextAnswer
    ? answer.with({ cost })
    : { ...answer, extensions: { ...answer.extensions, cost } };
}
