import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type VariableDefinitionNode,
} from 'graphql';

/** A subscription that can resume: its document selects cursors, and its variables contain the last one received. */
export interface ResumableRequest {
  readonly document: DocumentNode;
  /** Sent with each attempt. The object stays the same, so a library that sends it again sends the newest cursor. */
  readonly variables: Record<string, unknown>;
  /** Stores the cursor of a result: the next attempt resumes after it. */
  readonly advance: (result: unknown) => void;
  /** Sets the cursor that the next attempt resumes after; undefined starts again. */
  readonly resumeAfter: (cursor: string | undefined) => void;
  /** Returns the cursor that the next attempt resumes after. */
  readonly cursor: () => string | undefined;
}

/**
 * Makes a subscription resume after its last message whenever it is sent again: adds `after: $after` and `cursor` to
 * its field, unless they are there. Returns undefined for a document that is not a subscription with one field.
 */
export function resumable(
  document: DocumentNode,
  given: Readonly<Record<string, unknown>> | null | undefined,
  operationName?: string | null,
): ResumableRequest | undefined {
  const operation = document.definitions.find(
    (one): one is OperationDefinitionNode =>
      one.kind === Kind.OPERATION_DEFINITION && (operationName == null || one.name?.value === operationName),
  );
  const [field, ...others] = operation?.selectionSet.selections ?? [];
  if (operation?.operation !== 'subscription' || field?.kind !== Kind.FIELD || others.length > 0) return undefined;
  const { after, value } = afterOf(operation, field);
  const variables: Record<string, unknown> = { ...given, ...(value !== undefined && { [after]: value }) };
  const key = field.alias?.value ?? field.name.value;
  const changed = withCursor(withAfter(operation, field, after));
  return {
    document: {
      ...document,
      definitions: document.definitions.map((one) => (one === operation ? changed : one)),
    },
    variables,
    advance(result) {
      const cursor = cursorIn(result, key);
      if (cursor !== undefined) variables[after] = cursor;
    },
    resumeAfter(cursor) {
      variables[after] = cursor;
    },
    cursor() {
      const cursor = variables[after];
      return typeof cursor === 'string' ? cursor : undefined;
    },
  };
}

/** Finds the variable for the cursor to resume after, and its initial value if the document itself contains it. */
function afterOf({ variableDefinitions = [] }: OperationDefinitionNode, field: FieldNode) {
  const argument = field.arguments?.find(({ name }) => name.value === 'after')?.value;
  if (argument?.kind === Kind.VARIABLE) return { after: argument.name.value, value: undefined };
  const names = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  let after = 'after';
  while (names.has(after)) after += '_';
  return { after, value: argument?.kind === Kind.STRING ? argument.value : undefined };
}

function withAfter(operation: OperationDefinitionNode, field: FieldNode, name: string): OperationDefinitionNode {
  const variable = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } } as const;
  const isDefined = operation.variableDefinitions?.some(({ variable: { name: of } }) => of.value === name);
  const definition: VariableDefinitionNode = {
    kind: Kind.VARIABLE_DEFINITION,
    variable,
    type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'String' } },
  };
  const others = (field.arguments ?? []).filter((argument) => argument.name.value !== 'after');
  const changed: FieldNode = {
    ...field,
    arguments: [...others, { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'after' }, value: variable }],
  };
  return {
    ...operation,
    variableDefinitions: [...(operation.variableDefinitions ?? []), ...(isDefined ? [] : [definition])],
    selectionSet: { ...operation.selectionSet, selections: [changed] },
  };
}

/** Selects the cursor of the operation's field. A field that is selected twice is returned once. */
function withCursor(operation: OperationDefinitionNode): OperationDefinitionNode {
  const [field] = operation.selectionSet.selections;
  if (field?.kind !== Kind.FIELD || !field.selectionSet) return operation;
  const cursor: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'cursor' } };
  const isSelected = field.selectionSet.selections.some(
    (one) => one.kind === Kind.FIELD && one.name.value === 'cursor' && !one.alias,
  );
  if (isSelected) return operation;
  const selectionSet = { ...field.selectionSet, selections: [...field.selectionSet.selections, cursor] };
  return { ...operation, selectionSet: { ...operation.selectionSet, selections: [{ ...field, selectionSet }] } };
}

function cursorIn(result: unknown, key: string): string | undefined {
  const message = member(member(result, 'data'), key);
  const cursor = member(message, 'cursor');
  return typeof cursor === 'string' ? cursor : undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A request as graphql-ws and graphql-sse accept it. */
interface Request {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
}

interface Sink {
  next(result: unknown): void;
}

/** A client of graphql-ws or graphql-sse. */
export interface SubscribingClient {
  subscribe(request: never, sink: never, ...rest: never[]): () => void;
}

/**
 * Makes a graphql-ws or graphql-sse client resume: each subscription that it repeats after a reconnect continues after
 * its last message, instead of showing the current state again. Pass the client to Apollo's GraphQLWsLink or urql's
 * subscriptionExchange, or use it directly.
 */
export function resumingClient<Client extends SubscribingClient>(client: Client): Client {
  const subscribe = client.subscribe.bind(client) as (request: Request, sink: Sink, ...rest: unknown[]) => () => void;
  const resuming = (request: Request, sink: Sink, ...rest: unknown[]) => {
    const made = resumable(parse(request.query), request.variables, request.operationName);
    if (!made) return subscribe(request, sink, ...rest);
    const { document, variables, advance } = made;
    const advancing: Sink = Object.assign(Object.create(sink), {
      next(result: unknown) {
        advance(result);
        sink.next(result);
      },
    });
    return subscribe({ ...request, query: print(document), variables }, advancing, ...rest);
  };
  // Methods of the client that subscribe, such as `iterate`, call this object's `subscribe`.
  return Object.assign(Object.create(client), client, { subscribe: resuming });
}
