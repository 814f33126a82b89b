import { cpSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type DefinitionNode, type DirectiveNode, type FragmentSpreadNode, Kind, parse, print, visit } from 'graphql';
import { expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { ProgramFolder } from '../setup/programs.ts';

// Relay's compiler and GraphQL Code Generator (client preset, strict scalars) accept schema.graphql and the client
// package's operations without complaint, gql.tada accepts the schema, and apps that use the generated types compile
// and work. The tools are installed from npm into a separate folder.

const folder = new ProgramFolder();
const t = await testGateway();
const scene = await t.platform.makeScene();

/** The TypeScript types that each tool is configured to use for the custom scalars. */
const scalars = {
  ...{ BigInt: 'string', Decimal: 'string', DateTime: 'string', Date: 'string', CurrencyCode: 'string' },
  PathSegment: 'string | number',
};

const document = `mutation QuoteToAccount($input: CreateQuoteInput!) {
  createQuote(input: $input) {
    __typename
    ... on CreateQuoteSuccess { quote { id status totalSendingAmount { amount } } transactionEdge { cursor } }
    ... on UserError { code message }
  }
}`;
const variables = JSON.stringify({
  input: {
    source: { account: { accountId: scene.usd } },
    destination: { account: { accountId: scene.outsideEur } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: { units: '1000' },
  },
});

const nameOf = (value: string) => ({ kind: Kind.NAME, value }) as const;
const as = { kind: Kind.ARGUMENT, name: nameOf('as'), value: { kind: Kind.STRING, value: 'refused' } } as const;
const alias: DirectiveNode = { kind: Kind.DIRECTIVE, name: nameOf('alias'), arguments: [as] };

/** Compiles and runs a program that creates a quote, using the types `Result` and `Variables` that `types` declares. */
const quotingWith = (file: string, types: string) =>
  folder.compileAndRun(
    file,
    `${types}
    const variables: Variables = ${variables};
    const response = await fetch(${JSON.stringify(`${t.url}/graphql`)}, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: ${JSON.stringify(t.platform.authorization)} },
      body: JSON.stringify({ query: ${JSON.stringify(document)}, variables }),
    });
    const { data } = (await response.json()) as { data: Result };
    const quoted = data.createQuote;
    if (quoted?.__typename === 'CreateQuoteSuccess') console.log(quoted.quote?.status, quoted.quote?.totalSendingAmount.amount);
    else console.log(JSON.stringify(quoted));`,
  );

cpSync('schema.graphql', path.join(folder.path, 'schema.graphql'));
cpSync('src/apps/client/operations', path.join(folder.path, 'operations'), { recursive: true });
folder.write('operations/quote-to-account.graphql', document);
const relay = ['relay-compiler@21', 'relay-runtime@21', '@types/relay-runtime@20'];
const codegen = ['@graphql-codegen/cli@7', '@graphql-codegen/client-preset@6', 'graphql@16'];
await folder.install(...relay, ...codegen, 'gql.tada@1.11');

test('GraphQL Code Generator generates types with strict scalars, and an app that uses them works', async () => {
  const config = { strictScalars: true, useTypeImports: true, scalars: { ...scalars, ID: 'string' } };
  const generates = { './codegen/': { preset: 'client', config } };
  const all = { schema: './schema.graphql', documents: ['operations/**/*.graphql'], generates };
  folder.write('codegen-config.json', JSON.stringify(all));
  await folder.bin('graphql-codegen', '--config', 'codegen-config.json');
  const types = `import type { QuoteToAccountMutation as Result, QuoteToAccountMutationVariables as Variables } from './codegen/graphql.ts';`;
  expect(await quotingWith('codegen-app.ts', types)).toBe('PENDING 1000');
});

test('gql.tada generates types, and an app that uses them works', async () => {
  const plugin = { name: 'gql.tada/ts-plugin', schema: './schema.graphql', tadaOutputLocation: './tada-env.d.ts' };
  folder.write('tsconfig.json', JSON.stringify({ compilerOptions: { plugins: [plugin] } }));
  await folder.bin('gql.tada', 'generate-output');
  const types = Object.entries(scalars).map(([name, type]) => `${name}: ${type}`);
  const program = `
    import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada';
    import type { introspection } from './tada-env.d.ts';
    const graphql = initGraphQLTada<{ introspection: introspection; scalars: { ${types.join('; ')} } }>();
    const quote = graphql(${JSON.stringify(document)});
    type Result = ResultOf<typeof quote>;
    type Variables = VariablesOf<typeof quote>;`;
  expect(await quotingWith('tada-app.ts', program)).toBe('PENDING 1000');
});

test("Relay's compiler accepts the schema and every operation, and an app that uses its types works", async () => {
  for (const file of globSync(path.join(folder.path, 'operations/**/*.graphql')))
    for (const definition of parse(readFileSync(file, 'utf8')).definitions) writeRelayModule(definition);
  const config = { src: './relay-app', schema: './schema.graphql', artifactDirectory: './relay-app/types' };
  const written = { language: 'typescript', eagerEsModules: true, customScalarTypes: scalars };
  mkdirSync(path.join(folder.path, config.artifactDirectory));
  folder.write('relay.config.json', JSON.stringify({ ...config, ...written }));
  await folder.bin('relay-compiler', 'relay.config.json');
  const types = `import type { QuoteToAccountMutation$data as Result, QuoteToAccountMutation$variables as Variables } from './relay-app/types/QuoteToAccountMutation.graphql.ts';`;
  expect(await quotingWith('relay-app.ts', types)).toBe('PENDING 1000');
});

/** Writes a definition as Relay requires it: in its own module, with an alias on spreads whose type might not match. */
function writeRelayModule(definition: DefinitionNode): void {
  if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION)
    throw new Error(`operations have no ${definition.kind}`);
  const module = definition.name?.value ?? '';
  const suffix = definition.kind === Kind.FRAGMENT_DEFINITION ? '_item' : definition.operation;
  const name = nameOf(`${module}${suffix.charAt(0).toUpperCase()}${suffix.slice(1)}`);
  const renamed = visit(definition, {
    FragmentSpread: (node): FragmentSpreadNode => ({
      ...node,
      name: { ...node.name, value: `${node.name.value}_item` },
      ...(node.name.value === 'Refused' && { directives: [alias] }),
    }),
  });
  const text = print({ ...renamed, name });
  folder.write(`relay-app/${module}.ts`, `import { graphql } from 'relay-runtime';\ngraphql\`${text}\`;\n`);
}
