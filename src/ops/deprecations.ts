import {
  buildASTSchema,
  type DirectiveNode,
  type DocumentNode,
  GraphQLSchema,
  isObjectType,
  Kind,
  type NameNode,
  visit,
} from 'graphql';

/** The minimum number of months for which a deprecated element is kept (docs/compatibility.md). */
const months = 6;

interface Deprecable {
  readonly name: NameNode;
  readonly directives?: readonly DirectiveNode[] | undefined;
}

function reasonOf({ directives = [] }: Deprecable): string | undefined {
  const deprecated = directives.find(({ name }) => name.value === 'deprecated');
  const value = deprecated?.arguments?.find(({ name }) => name.value === 'reason')?.value;
  return deprecated && (value?.kind === Kind.STRING ? value.value : '');
}

/** Returns the date in a deprecation reason, such as "Use customer. Since 2027-03-01." */
function sinceOf(element: Deprecable): Date | undefined {
  const [, day] = /\bSince (\d{4}-\d{2}-\d{2})\.$/.exec(reasonOf(element) ?? '') ?? [];
  return day === undefined ? undefined : new Date(day);
}

/** Returns the names of deprecated elements whose reason contains no date. */
export function undatedDeprecations(schema: DocumentNode): string[] {
  const undated: string[] = [];
  const look = (element: Deprecable) => {
    if (reasonOf(element) !== undefined && sinceOf(element) === undefined) undated.push(element.name.value);
  };
  visit(schema, { FieldDefinition: look, InputValueDefinition: look, EnumValueDefinition: look });
  return undated;
}

/** Returns an earlier schema without elements deprecated long ago, and without types reachable only through them. */
export function lasting(earlier: DocumentNode, now: Date): GraphQLSchema {
  const remove = (element: Deprecable) => {
    const since = sinceOf(element);
    since?.setUTCMonth(since.getUTCMonth() + months);
    return since && since <= now ? null : undefined;
  };
  const rest = buildASTSchema(
    visit(earlier, { FieldDefinition: remove, InputValueDefinition: remove, EnumValueDefinition: remove }),
  );
  // A schema contains the types reachable from its roots. Objects reachable only through interfaces must be listed.
  const types = Object.values(rest.getTypeMap()).filter(
    (type) => isObjectType(type) && type.getInterfaces().length > 0,
  );
  return new GraphQLSchema({ ...rest.toConfig(), types });
}
