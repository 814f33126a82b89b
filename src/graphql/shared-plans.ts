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
import type { Viewer } from '../access/viewer.ts';
import type { Context } from './context.ts';
import { type Place, topPlace } from './places.ts';

/**
 * What Pothos finds out about an operation while it runs: which rows and columns each field needs, and where in the answer
 * they are. It keeps that by this object, the context's own unless it is given one to share (its `initContextCache`).
 */
class Plans {
  /** What the root fields select, by response key and type. */
  readonly selections = new Map<string, Selection>();
  /** The places in the answer, those of a list's rows being one. */
  readonly top: Place = topPlace();
}

const shared = new WeakMap<OperationDefinitionNode, WeakMap<Viewer, Plans>>();

/**
 * Lets an operation that is executed again use what was planned before for the same viewer, whose own `where`s are part of
 * it. Nothing that was read is shared. Operations whose plans could differ from one time, or one row, to the next have
 * plans of their own each time (`isFixed`).
 */
export function sharePlans({ document, operationName, contextValue }: ExecutionArgs): void {
  const operation = getOperationAST(document, operationName);
  if (!operation || !isFixed(operation, document)) return;
  // Envelop leaves the context untyped; it is what server.ts makes.
  const context = contextValue as SharingContext;
  const byViewer = shared.get(operation) ?? new WeakMap<Viewer, Plans>();
  shared.set(operation, byViewer);
  const plans = byViewer.get(context.viewer) ?? new Plans();
  byViewer.set(context.viewer, plans);
  context[contextCacheSymbol] = plans;
}

/** The plans that this operation shares with others of its kind, if it does. */
export function sharedPlans(context: object): Plans | undefined {
  // Pothos' symbol, under which a context has what `sharePlans` put there or nothing.
  return (context as Partial<SharingContext>)[contextCacheSymbol];
}

type SharingContext = Context & { [contextCacheSymbol]?: Plans };

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

const fixed = new WeakMap<OperationDefinitionNode, boolean>();

/**
 * Whether an operation is planned the same whatever its variables are and whatever types its rows turn out to have: no
 * variable below its root fields, and no field with fields of its own that is asked for by two fragments on different types.
 */
function isFixed(operation: OperationDefinitionNode, document: DocumentNode): boolean {
  let known = fixed.get(operation);
  if (known === undefined) {
    const fragments = new Map<string, FragmentDefinitionNode>();
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    }
    known = opened([operation.selectionSet], fragments).every(
      ({ field: { selectionSet } }) =>
        !selectionSet || (!usesVariables(selectionSet, fragments) && hasOneShape([selectionSet], fragments)),
    );
    fixed.set(operation, known);
  }
  return known;
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
