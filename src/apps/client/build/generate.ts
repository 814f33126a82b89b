import { hash } from 'node:crypto';
import { glob, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typesOfOperations from '@graphql-codegen/typescript-operations';
import {
  buildSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  visit,
} from 'graphql';
import { scalars } from '../scalars.ts';

// `npm run client:generate`: writes the client package's facts about the schema, and its typed operations. With --check
// it changes nothing, and fails if the files are stale.

const folder = path.resolve(import.meta.dirname, '..');
const root = path.resolve(folder, '../../..');
const heading = '// Made by `npm run client:generate`. Do not edit.\n';

/** The scalars that Apollo's cache can parse. */
const parsed = ['BigInt', 'DateTime'];

/** Lists the fields whose values are parsed, or input objects that have such: `[DateTime]` for a list of DateTime. */
function scalarsOf(
  fields: readonly { readonly name: string; readonly type: GraphQLType }[],
  isParsed: (name: string) => boolean,
): Record<string, string> | undefined {
  const found = fields.flatMap(({ name, type }) =>
    isParsed(getNamedType(type).name) ? [[name, String(type).replaceAll('!', '')] as const] : [],
  );
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

/** Lists the parsed fields of objects, and those of input objects at any depth. */
function scalarFacts(schema: GraphQLSchema) {
  const fieldsOf = (type: GraphQLObjectType | GraphQLInputObjectType) => Object.values(type.getFields());
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const scalarFields = types.filter(isObjectType).flatMap((type) => {
    const fields = scalarsOf(fieldsOf(type), (name) => parsed.includes(name));
    return fields ? [[type.name, fields] as const] : [];
  });
  const inputs = types.filter(isInputObjectType);
  const known = new Set(parsed);
  const leads = (type: GraphQLInputObjectType) => scalarsOf(fieldsOf(type), (name) => known.has(name)) !== undefined;
  for (let size = 0; size < known.size; ) {
    size = known.size;
    for (const type of inputs) if (leads(type)) known.add(type.name);
  }
  const scalarInputs = inputs.flatMap((type) => {
    const fields = scalarsOf(fieldsOf(type), (name) => known.has(name));
    return fields ? [[type.name, fields] as const] : [];
  });
  return { scalarFields: Object.fromEntries(scalarFields), scalarInputs: Object.fromEntries(scalarInputs) };
}

/** Lists the facts that caches need: possible types, how each connection is paged, which objects have no id. */
function schemaFacts(schema: GraphQLSchema): string {
  const possibleTypes: Record<string, string[]> = {};
  const connections: Record<string, Record<string, string[]>> = {};
  const embedded: string[] = [];
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isAbstractType(type)) possibleTypes[type.name] = schema.getPossibleTypes(type).map(({ name }) => name);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    if (isObjectType(type) && !roots.has(type) && !type.getFields().id && type.name !== 'Currency')
      embedded.push(type.name);
    for (const field of Object.values(type.getFields())) {
      const names = field.args.map(({ name }) => name);
      // The first page of a followed list is not a separate list: it cannot be paged.
      if (!getNamedType(field.type).name.endsWith('Connection') || !names.includes('after')) continue;
      connections[type.name] ??= {};
      const ofType = connections[type.name] ?? {};
      ofType[field.name] = names.filter((name) => !['first', 'last', 'after', 'before'].includes(name));
    }
  }
  const { scalarFields, scalarInputs } = scalarFacts(schema);
  const constant = (about: string, name: string, value: unknown, type: string) =>
    `\n/** ${about} */\nexport const ${name}: ${type} = ${JSON.stringify(value, null, 2)};\n`;
  return [
    heading,
    constant(
      'The object types of each interface and union.',
      'possibleTypes',
      possibleTypes,
      'Record<string, string[]>',
    ),
    constant(
      'The arguments that tell one list from another, by the type and the field of the connection.',
      'connections',
      connections,
      'Record<string, Record<string, string[]>>',
    ),
    constant(
      'Object types without an identity: they belong to the object that has them.',
      'embedded',
      embedded,
      'string[]',
    ),
    constant(
      'The fields of objects that are BigInt or DateTime.',
      'scalarFields',
      scalarFields,
      'Record<string, Record<string, string>>',
    ),
    constant(
      'The fields of input objects that are BigInt or DateTime, or that lead to such.',
      'scalarInputs',
      scalarInputs,
      'Record<string, Record<string, string>>',
    ),
  ].join('');
}

/** Makes the operations as text with their types, as hashes of the same texts, and as parsed documents. */
async function typedOperations(schema: GraphQLSchema): Promise<Record<string, string>> {
  const sources: { location: string; document: DocumentNode }[] = [];
  for await (const file of glob('operations/**/*.graphql', { cwd: folder })) {
    sources.push({
      location: file,
      document: parse(await readFile(path.join(folder, file), 'utf8'), { noLocation: true }),
    });
  }
  sources.sort((a, b) => a.location.localeCompare(b.location));
  const types = await codegen({
    schema: parse(schemaText),
    schemaAst: schema,
    documents: sources,
    filename: 'operations.ts',
    config: { scalars: { ...scalars, ...texts, ID: 'string' }, useTypeImports: true },
    plugins: [{ types: {} }],
    pluginMap: { types: typesOfOperations },
  });
  const definitions = sources.flatMap(({ document }) => document.definitions);
  const fragments = new Map(
    definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
      .map((one) => [one.name.value, one]),
  );
  const operations = definitions.flatMap((one) => {
    if (one.kind !== Kind.OPERATION_DEFINITION || !one.name) return [];
    const name = one.name.value;
    const result = name + one.operation.charAt(0).toUpperCase() + one.operation.slice(1);
    const text = [print(one), ...usedFragments(one, fragments).map((fragment) => print(fragment))].join('\n');
    return [{ name, result, text, hash: `sha256:${hash('sha256', text)}` }];
  });
  const each = (write: (one: (typeof operations)[number]) => string) => operations.map(write).join('\n');
  return {
    'operations.ts': `${heading}import type { Operation } from '../operation.ts';
import type { ScalarText } from '../scalars.ts';

${types}

${each(({ name, result, text }) => `export const ${name} = \`${text}\` as Operation<${result}, ${result}Variables>;\n`)}`,
    'hashes.ts': `${heading}import type { Operation } from '../operation.ts';
import type * as of from './operations.ts';

export type * from './operations.ts';
${each(({ name, result, hash }) => `export const ${name} =\n  '${hash}' as Operation<of.${result}, of.${result}Variables>;`)}
`,
    'documents.ts': `${heading}import { type Document, documentOf } from '../document.ts';
import * as of from './operations.ts';

export type * from './operations.ts';
${each(({ name, result }) => `export const ${name}: Document<of.${result}, of.${result}Variables> = /* @__PURE__ */ documentOf(\n  of.${name},\n);`)}
`,
  };
}

/** The type of a scalar's text in the generated types. */
const textOf = (name: string) => `ScalarText<'${name}'>`;
const texts = {
  BigInt: { input: `${textOf('BigInt')} | number`, output: textOf('BigInt') },
  DateTime: { input: textOf('DateTime'), output: textOf('DateTime') },
};

function usedFragments(
  of: Parameters<typeof visit>[0],
  known: ReadonlyMap<string, FragmentDefinitionNode>,
  found = new Set<FragmentDefinitionNode>(),
): readonly FragmentDefinitionNode[] {
  visit(of, {
    FragmentSpread({ name }) {
      const fragment = known.get(name.value);
      if (!fragment || found.has(fragment)) return;
      found.add(fragment);
      usedFragments(fragment, known, found);
    },
  });
  return [...found];
}

// The package throws if a response contains errors, and only errors make these fields null.
const schemaText = (await readFile(path.join(root, 'schema.graphql'), 'utf8')).replaceAll(/ @semanticNonNull$/gm, '!');
const schema = buildSchema(schemaText);
const made = { 'schema-facts.ts': schemaFacts(schema), ...(await typedOperations(schema)) };
for (const [name, text] of Object.entries(made)) {
  const file = path.join(folder, 'generated', name);
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(
      `${path.relative(root, file)} is not what the schema and the operations make: run npm run client:generate.`,
    );
    process.exitCode = 1;
  }
}
