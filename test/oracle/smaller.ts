import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  validate,
  visit,
} from 'graphql';

/**
 * Generates the documents that are smaller than this one by a field, a fragment, an argument or a directive, each
 * valid; the largest steps first.
 */
export function* smallerDocuments(schema: GraphQLSchema, query: string): Generator<string> {
  const document = parse(query);
  const parts: ASTNode[] = [];
  visit(document, {
    enter(node) {
      const { kind } = node;
      if (kind === Kind.FIELD || kind === Kind.INLINE_FRAGMENT || kind === Kind.FRAGMENT_SPREAD) parts.push(node);
      if (kind === Kind.ARGUMENT || kind === Kind.OBJECT_FIELD || kind === Kind.DIRECTIVE) parts.push(node);
    },
  });
  for (const part of parts) {
    const rest = tidied(visit(document, { enter: (node) => (node === part ? null : undefined) }));
    if (rest && validate(schema, rest).length === 0) yield print(rest);
  }
}

/** Removes empty selections, and unused fragments and variables; returns undefined if nothing is left. */
function tidied(document: DocumentNode): DocumentNode | undefined {
  let rest = document;
  for (;;) {
    const uses = (kind: Kind.FRAGMENT_SPREAD | Kind.VARIABLE) => {
      const names = new Set<string>();
      visit(rest, {
        VariableDefinition: () => false,
        enter(node) {
          if (node.kind === kind) names.add(node.name.value);
        },
      });
      return names;
    };
    const [spread, used] = [uses(Kind.FRAGMENT_SPREAD), uses(Kind.VARIABLE)];
    const isEmpty = (node: { selectionSet?: { selections: readonly unknown[] } | undefined }) =>
      node.selectionSet?.selections.length === 0;
    const written = new Set<string>();
    for (const definition of rest.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION && !isEmpty(definition)) written.add(definition.name.value);
    }
    const next: DocumentNode = visit(rest, {
      Field: (node) => (isEmpty(node) ? null : undefined),
      InlineFragment: (node) => (isEmpty(node) ? null : undefined),
      FragmentSpread: (node) => (written.has(node.name.value) ? undefined : null),
      FragmentDefinition: (node) => (isEmpty(node) || !spread.has(node.name.value) ? null : undefined),
      VariableDefinition: (node) => (used.has(node.variable.name.value) ? undefined : null),
    });
    if (print(next) === print(rest)) break;
    rest = next;
  }
  let isLeft = true;
  visit(rest, {
    OperationDefinition(node) {
      isLeft &&= node.selectionSet.selections.length > 0;
      return isLeft ? undefined : BREAK;
    },
  });
  return isLeft && rest.definitions.length > 0 ? rest : undefined;
}
