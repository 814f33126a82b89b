import type { ServerResponse } from 'node:http';
import {
  type ASTNode,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import { inTurn, type TakeTurn } from '../../../core/outside-wait.ts';
import { mayDoAllThat, type Viewer } from '../../../domain/access/caller.ts';
import type { Session, Sessions } from '../../../domain/access/tokens/sessions.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import type { Context, Farewell, Prepared } from '../context.ts';
import { failure } from '../failure.ts';
import { withExtensions } from '../reading/run.ts';
import type { Message } from '../schema/streams/stream.ts';
import type { SentDocuments } from './sent-documents.ts';

/** How many results a group keeps. Most members need a result at about the same time; for others, it is recomputed. */
const maxStored = 32;

/** The subscriptions that get the same result for the same event. */
interface Group {
  members: number;
  readonly args: Prepared;
  /** The newest results as JSON, keyed by event payload. */
  readonly texts: Map<unknown, Promise<string>>;
}

interface Follower {
  /** Executes the document for one payload of its stream, or reuses another subscriber's result. Returns JSON. */
  readonly textOf: (payload: unknown) => Promise<string>;
  /** Called once. */
  readonly leave: () => void;
}

/**
 * Executes a document once per event for all subscriptions that get the same result: those with the same variables
 * (except in the root field's arguments), visibility and permissions. Returns the function that adds a subscription.
 * @param serialize writes the JSON that clients get
 * @param takeTurn waits for the platform's turn to execute
 */
export function sharedResults(
  serialize: (result: ExecutionResult, args: Prepared) => string,
  takeTurn: TakeTurn,
): (args: Prepared) => Follower {
  const groupsOf = oncePer((_operation: OperationDefinitionNode) => new Map<string, Group>());

  async function run(args: Prepared, payload: unknown): Promise<string> {
    const { platformId } = args.contextValue.viewer;
    // All subscribers belong to the same platform.
    const turn = await takeTurn(platformId);
    const result = await inTurn(turn, () =>
      asPlatform(platformId, async () => execute({ ...args, rootValue: payload })),
    );
    return serialize(result, args);
  }

  function textOf({ args, members, texts }: Group, payload: unknown): Promise<string> {
    const stored = texts.get(payload);
    if (stored) return stored;
    const text = run(args, payload);
    if (members === 1) return text;
    texts.set(payload, text);
    if (texts.size > maxStored) for (const oldest of texts.keys()) if (texts.delete(oldest)) break;
    return text;
  }

  return (args) => {
    const groups = groupsOf(args.operation);
    const key = groupKey(args);
    const group = groups.get(key) ?? newGroup(args);
    groups.set(key, group);
    group.members += 1;
    return {
      textOf: (payload) => textOf(group, payload),
      leave: () => {
        group.members -= 1;
        if (group.members === 0 && groups.get(key) === group) groups.delete(key);
      },
    };
  };
}

function newGroup(args: Prepared): Group {
  const group: Group = {
    members: 0,
    texts: new Map(),
    args: {
      ...args,
      // An execution serves all members, so no single member may end it.
      contextValue: {
        ...args.contextValue,
        isAbandoned: () => group.members === 0,
        closeForRetry: () => undefined,
      } satisfies Context,
    },
  };
  return group;
}

/** Returns a group's key: the caller's scope and the variables below the root field, because both affect the result. */
function groupKey({ operation, document, variableValues, contextValue }: Prepared): string {
  // The key includes everything about the caller that may affect what the caller sees.
  const { tokenId: _token, makers: _makers, subject: _subject, expiresAt: _end, ...scope } = contextValue.viewer;
  // A missing variable differs from a null one.
  const variables = variablesBelowRoot(operation, document).map((name) =>
    variableValues && name in variableValues ? [name, variableValues[name]] : [name],
  );
  return JSON.stringify([scope, variables]);
}

/** The variables that are used outside the arguments of the subscription's own field. */
const variablesBelowRoot = oncePer((operation: OperationDefinitionNode, document: DocumentNode): readonly string[] => {
  const names = new Set<string>();
  const rootArguments = new Set<ASTNode>(
    operation.selectionSet.selections.flatMap((selection) =>
      selection.kind === Kind.FIELD ? (selection.arguments ?? []) : [],
    ),
  );
  visit(document, {
    // A definition declares a variable but does not use it.
    VariableDefinition: () => false,
    Argument: (argument) => (rootArguments.has(argument) ? false : undefined),
    Variable({ name }) {
      names.add(name.value);
    },
  });
  return [...names];
});

/** A message as JSON, and its position in the feed if it has one. */
export interface StreamMessage extends Partial<Message> {
  readonly text: string;
}

interface Reader extends Follower {
  readonly present: (error: unknown) => GraphQLError;
  readonly extensionsOf: (place: Message | undefined, isFirst: boolean) => ExecutionResult['extensions'];
}

/** Returns the messages of an open subscription. Each is computed when the reader asks for it. */
export function streamMessages(
  payloads: AsyncIterable<unknown>,
  { textOf, leave, present, extensionsOf }: Reader,
): AsyncIterableIterator<StreamMessage> {
  const source = payloads[Symbol.asyncIterator]();
  let isFirst = true;
  return {
    async next() {
      try {
        const { done, value } = await source.next();
        if (!done) {
          const text = await textOf(value);
          const place = placeOf(value);
          const extensions = extensionsOf(place, isFirst);
          isFirst = false;
          const more = extensions ? withExtensions(text, extensions) : text;
          return { done: false, value: { text: more, ...place } };
        }
      } catch (error) {
        leave();
        await source.return?.();
        throw present(error);
      }
      leave();
      return { done: true, value: undefined };
    },
    async return() {
      leave();
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function placeOf(payload: unknown): Message | undefined {
  if (typeof payload !== 'object' || payload === null || !('position' in payload)) return undefined;
  // Only feed messages have a position.
  const { cursor, position } = payload as Message;
  return { cursor, position };
}

/** A reader counts as disconnected after reading nothing from its event stream for this long. */
const stallTimeoutMs = 30_000;

/** The delay between the last message to a reader and the closing of its connection. */
const closeDelayMs = 200;

/** Registers a subscription with its connection's session. Returns the function that ends it, or a refusal. */
export async function holdStream(
  { sessions, sent }: { readonly sessions: Sessions; readonly sent: SentDocuments },
  args: Prepared,
): Promise<(() => void) | GraphQLError> {
  const { viewer: begun, session, response, farewell } = args.contextValue;
  const held = session ?? (response && farewell && superviseStream(sessions, begun, response, farewell));
  if (!held) return () => undefined;
  // The stream keeps the rights of the token that opened it, so a renewed token must have all of them.
  const end = await held.begin(
    async (viewer) =>
      mayDoAllThat(viewer, begun) && (!viewer.trustedDocumentsOnly || sent.isRegistered(viewer, args.document)),
  );
  return end ?? failure('FORBIDDEN', 'the renewed token does not permit this operation');
}

/**
 * Supervises an open event stream (SSE). Drops its connection if its token is no longer valid or no longer permits the
 * operation, if the server stops, or if its reader stalls. Sends no `complete` first, because stock clients would treat
 * it as the end, whereas they resume after a dropped connection.
 */
function superviseStream(sessions: Sessions, viewer: Viewer, response: ServerResponse, farewell: Farewell): Session {
  let stalledSince: number | undefined;
  const session = sessions.open(viewer, {
    forbid: ({ code, message }) => {
      session.close();
      farewell({ errors: [{ message, extensions: { code } }] });
      // A reader whose connection is closed immediately may discard what it has just received.
      setTimeout(() => response.destroy(), closeDelayMs);
    },
    leave: () => response.destroy(),
    check: () => {
      if (!response.writableNeedDrain) stalledSince = undefined;
      else if (stalledSince === undefined) stalledSince = performance.now();
      else if (performance.now() - stalledSince > stallTimeoutMs) response.destroy();
    },
  });
  if (response.destroyed) session.close();
  response.once('close', () => session.close());
  return session;
}
