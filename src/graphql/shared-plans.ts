import { contextCacheSymbol } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import type { Context } from './context.ts';
import { keptPlans } from './kept.ts';
import { type Place, topPlace } from './places.ts';
import { scopeOf } from './visible.ts';

/**
 * What Pothos finds out about an operation while it runs: which rows and columns each field needs, where in the answer they
 * are, and whether the caller has the permissions that fields ask for. It keeps that by this object, the context's own
 * unless it is given one to share (its `initContextCache`).
 */
class Plans {
  /** What the root fields select, by response key and type. */
  readonly selections = new Map<string, Selection>();
  /** The places in the answer, those of a list's rows being one. */
  readonly top: Place = topPlace();
}

/** By operation and by what its caller can see and may do. */
const shared = keptPlans<Plans>();

/**
 * The context to execute a query with that is executed again: with what was planned before for callers who see the same and
 * have the same permissions, which are part of it. Nothing that was read is shared. Operations whose plans could differ from
 * one time, or one row, to the next have plans of their own each time (`isFixed`).
 */
export function planningContext({ document, operationName, contextValue }: ExecutionArgs): QueryContext {
  // Envelop leaves the context untyped; it is what server.ts makes.
  const whole = contextValue as Context;
  const operation = getOperationAST(document, operationName);
  const number = operation && numberOf(operation, document);
  if (number === undefined) return whole;
  const { viewer, payments, feed, clientTokens, retentionDays, webhooks, feedHead } = whole;
  const key = [number, scopeOf(viewer), ...viewer.permissions.toSorted()].join(' ');
  let plans = shared.get(key);
  if (!plans) {
    plans = new Plans();
    shared.set(key, plans, document);
  }
  // Pothos keeps the first context beside the plans, so the request and its variables are left out.
  const lean: SharingContext = {
    viewer,
    payments,
    feed,
    clientTokens,
    retentionDays,
    webhooks,
    [contextCacheSymbol]: plans,
  };
  return feedHead === undefined ? lean : { ...lean, feedHead };
}

/** The plans that this operation shares with others of its kind, if it does. */
export function sharedPlans(context: object): Plans | undefined {
  // Pothos' symbol, under which a context has what `planningContext` put there or nothing.
  return (context as Partial<SharingContext>)[contextCacheSymbol];
}

/** What resolvers of queries are given: nothing of the connection, which only streams need. */
type QueryContext = Omit<Context, 'comeBack' | 'eventStream'>;

type SharingContext = QueryContext & { readonly [contextCacheSymbol]: Plans };

interface RootField {
  readonly context: Context;
  readonly info: GraphQLResolveInfo;
  readonly typeName?: string;
  /** Where its rows are below it. */
  readonly path?: string[];
}

type Selection = ReturnType<typeof plan>;

const plan = (field: RootField) => queryFromInfo(field);

/** Pothos' `queryFromInfo` for a root field, planned once where the operation's plans are shared. */
export function selectionOf(field: RootField): Selection {
  const plans = sharedPlans(field.context);
  if (!plans) return plan(field);
  const key = `${field.info.path.key}:${field.typeName ?? ''}`;
  const selection = plans.selections.get(key) ?? plan(field);
  plans.selections.set(key, selection);
  return selection;
}

/** Of operations seen before; undefined for those whose plans are not shared. */
const numbers = new WeakMap<OperationDefinitionNode, number | undefined>();
let lastNumber = 0;

/** The number under which the plans of an operation are kept, if they can be shared. */
function numberOf(operation: OperationDefinitionNode, document: DocumentNode): number | undefined {
  if (!numbers.has(operation)) {
    lastNumber += 1;
    numbers.set(operation, isFixed(operation, document) ? lastNumber : undefined);
  }
  return numbers.get(operation);
}

/**
 * Whether an operation is planned the same whatever its variables are and whatever types its rows turn out to have: no
 * variable below its root fields, and no field with fields of its own that is asked for by two fragments on different types.
 */
function isFixed(operation: OperationDefinitionNode, document: DocumentNode): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return opened([operation.selectionSet], fragments).every(
    ({ field: { selectionSet } }) =>
      !selectionSet || (!usesVariables(selectionSet, fragments) && hasOneShape([selectionSet], fragments)),
  );
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

interface Selected {
  readonly field: FieldNode;
  /** The type of the fragment in which it is asked for, if in any. */
  readonly on: string | undefined;
}

/** The fields of selection sets, with their fragments opened: there are at most as many as the budget of a document allows. */
function opened(sets: readonly SelectionSetNode[], fragments: Fragments, on?: string): Selected[] {
  return sets
    .flatMap(({ selections }) => selections)
    .flatMap((selection): Selected[] => {
      if (selection.kind === Kind.FIELD) return [{ field: selection, on }];
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      if (!fragment) return [];
      return opened([fragment.selectionSet], fragments, fragment.typeCondition?.name.value ?? on);
    });
}

/** Whether there is a variable anywhere in it, or in the fragments that it spreads. */
function usesVariables(node: ASTNode, fragments: Fragments): boolean {
  let uses = false;
  visit(node, {
    Variable: () => {
      uses = true;
      return BREAK;
    },
    FragmentSpread: ({ name }) => {
      const fragment = fragments.get(name.value);
      uses ||= fragment !== undefined && usesVariables(fragment.selectionSet, fragments);
      return uses ? BREAK : undefined;
    },
  });
  return uses;
}

/** Whether each field with fields of its own is asked for on one type only, here and below. */
function hasOneShape(sets: readonly SelectionSetNode[], fragments: Fragments): boolean {
  const inner = new Map<string, { readonly on: string | undefined; readonly sets: SelectionSetNode[] }>();
  for (const { field, on } of opened(sets, fragments)) {
    if (!field.selectionSet) continue;
    const key = field.alias?.value ?? field.name.value;
    const known = inner.get(key) ?? { on, sets: [] };
    if (known.on !== on) return false;
    known.sets.push(field.selectionSet);
    inner.set(key, known);
  }
  return [...inner.values()].every((field) => hasOneShape(field.sets, fragments));
}
