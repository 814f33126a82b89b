import {
  type ASTNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import { inTurn, type TakeTurn } from '../../../core/turn.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import { type Context, contextIn } from '../context.ts';

/** The number of results that a group stores: members receive an event at about the same time, or execute it again. */
const maxStored = 32;

/** The subscriptions that get the same result for the same event. */
interface Group {
  members: number;
  readonly args: ExecutionArgs;
  /** The newest results as JSON, by the payload of the event. */
  readonly texts: Map<unknown, Promise<string>>;
}

export interface Follower {
  /** Executes the document for one payload of its stream, or takes another follower's result. Returns JSON. */
  textOf(payload: unknown): Promise<string>;
  leave(): void;
}

/**
 * Executes each event once for all subscriptions that get the same result, because they have the same document and
 * variables, and callers with the same visibility and permissions. A thousand followers of a subject cost one
 * execution and serialization.
 */
export class SharedResults {
  readonly #groupsOf = oncePer((_operation: OperationDefinitionNode) => new Map<string, Group>());
  readonly #serialize: (result: ExecutionResult, args: ExecutionArgs) => string;
  readonly #takeTurn: TakeTurn;

  /** `serialize` writes the JSON that clients get; `takeTurn` waits for an execution's turn in its platform. */
  constructor(serialize: (result: ExecutionResult, args: ExecutionArgs) => string, takeTurn: TakeTurn) {
    this.#serialize = serialize;
    this.#takeTurn = takeTurn;
  }

  join(args: ExecutionArgs): Follower {
    const operation = getOperationAST(args.document, args.operationName);
    if (!operation) throw new Error('a subscription has an operation');
    const groups = this.#groupsOf(operation);
    const key = groupKey(operation, args);
    const group = groups.get(key) ?? newGroup(args);
    groups.set(key, group);
    group.members += 1;
    let hasLeft = false;
    return {
      textOf: (payload) => this.#textOf(group, payload),
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        group.members -= 1;
        if (group.members === 0 && groups.get(key) === group) groups.delete(key);
      },
    };
  }

  #textOf(group: Group, payload: unknown): Promise<string> {
    const stored = group.texts.get(payload);
    if (stored) return stored;
    const text = this.#execute(group.args, payload);
    if (group.members === 1) return text;
    group.texts.set(payload, text);
    if (group.texts.size > maxStored) for (const oldest of group.texts.keys()) if (group.texts.delete(oldest)) break;
    return text;
  }

  async #execute(args: ExecutionArgs, payload: unknown): Promise<string> {
    const { platformId } = contextIn(args).viewer;
    // Any follower may be the first to ask: all belong to this platform.
    const turn = await this.#takeTurn(platformId);
    const result = await inTurn(turn, () =>
      asPlatform(platformId, async () => execute({ ...args, rootValue: payload })),
    );
    return this.#serialize(result, args);
  }
}

function newGroup(args: ExecutionArgs): Group {
  const group: Group = {
    members: 0,
    texts: new Map(),
    args: {
      ...args,
      // On behalf of all members: an action of one of them does not end anything for the others.
      contextValue: {
        ...contextIn(args),
        isAbandoned: () => group.members === 0,
        closeForRetry: () => undefined,
      } satisfies Context,
    },
  };
  return group;
}

/** Returns the key of all inputs to a result besides the document: the scope, and the variables below the root. */
function groupKey(operation: OperationDefinitionNode, args: ExecutionArgs): string {
  const { document, variableValues } = args;
  // Everything about the caller except its token belongs to the key, since it may affect what the caller sees.
  const { tokenId: _token, makers: _makers, subject: _subject, expiresAt: _end, ...scope } = contextIn(args).viewer;
  // A missing variable differs from a null one.
  const variables = variablesBelowRoot(operation, document).map((name) =>
    variableValues && name in variableValues ? [name, variableValues[name]] : [name],
  );
  return JSON.stringify([scope, variables]);
}

/** Finds the variables that a result may depend on: all except those in arguments of the subscription's own field. */
const variablesBelowRoot = oncePer((operation: OperationDefinitionNode, document: DocumentNode): readonly string[] => {
  const names = new Set<string>();
  const rootArguments = new Set<ASTNode>(
    operation.selectionSet.selections.flatMap((selection) =>
      selection.kind === Kind.FIELD ? (selection.arguments ?? []) : [],
    ),
  );
  visit(document, {
    // Variables are declared there, not used.
    VariableDefinition: () => false,
    Argument: (argument) => (rootArguments.has(argument) ? false : undefined),
    Variable({ name }) {
      names.add(name.value);
    },
  });
  return [...names];
});
