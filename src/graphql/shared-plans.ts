import { contextCacheSymbol } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
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

/**
 * What Pothos finds out about an operation while it runs: which rows and columns each field needs, and where in the answer
 * they are. It keeps that by this object, the context's own unless it is given one to share (its `initContextCache`).
 */
class Plans {
  /** What the root fields select, by response key and type. */
  readonly selections = new Map<string, Selection>();
}

type SharingContext = Context & { [contextCacheSymbol]?: Plans };

const shared = new WeakMap<OperationDefinitionNode, WeakMap<Viewer, Plans>>();

/**
 * Lets an operation that is executed again use what was planned before for the same viewer, whose own `where`s are part of
 * it. An operation whose nested fields use variables is planned anew each time. Nothing that was read is shared.
 */
export function sharePlans({ document, operationName, contextValue }: ExecutionArgs): void {
  const operation = getOperationAST(document, operationName);
  if (!operation || !isFixed(operation, document)) return;
  const context = contextValue as SharingContext;
  const byViewer = shared.get(operation) ?? new WeakMap<Viewer, Plans>();
  shared.set(operation, byViewer);
  const plans = byViewer.get(context.viewer) ?? new Plans();
  byViewer.set(context.viewer, plans);
  context[contextCacheSymbol] = plans;
}

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
  const { [contextCacheSymbol]: plans } = field.context as SharingContext;
  if (!plans) return plan(field);
  const key = `${field.info.path.key}:${field.typeName ?? ''}`;
  const selection = plans.selections.get(key) ?? plan(field);
  plans.selections.set(key, selection);
  return selection;
}

const fixed = new WeakMap<OperationDefinitionNode, boolean>();

/** Whether what an operation selects below its root fields is the same whatever its variables are. */
function isFixed(operation: OperationDefinitionNode, document: DocumentNode): boolean {
  let known = fixed.get(operation);
  if (known === undefined) {
    const fragments = new Map<string, FragmentDefinitionNode>();
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    }
    known = !belowRoot(operation.selectionSet, fragments).some((node) => usesVariables(node, fragments));
    fixed.set(operation, known);
  }
  return known;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The selection sets of the root fields, fragments on the root opened. */
function belowRoot({ selections }: SelectionSetNode, fragments: Fragments): SelectionSetNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.selectionSet ?? [];
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    return fragment ? belowRoot(fragment.selectionSet, fragments) : [];
  });
}

/** Whether there is a variable anywhere in it or in the fragments that it spreads, of which none spreads itself (validation). */
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
