import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { ProgramFolder } from '../setup/programs.ts';
import { base, restClient, restScene } from '../setup/rest.ts';

// Checks that the clients that three tools generate from the OpenAPI document compile under the strictest options, have
// a type for each body, and can call every operation. The tools are installed from npm into a separate folder because,
// with the older TypeScript that they need, they take up 110 MB.

const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'orval@8.38.0', '@hey-api/openapi-ts@0.99.0'];
const folder = new ProgramFolder();
const upper = (id: string) => `${id.charAt(0).toUpperCase()}${id.slice(1)}`;

const t = await testGateway({ PUBLIC_CONTRACT: true });
const { authorization } = t.platform;
const rest = await restClient(t.url, authorization);
const scene = await restScene(rest, 100_000);
const required: Readonly<Record<string, string>> = {
  ...{ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', sourceCurrency: 'USD' },
};

const operations = Object.entries<Data>(rest.document.paths).flatMap(([at, methods]) =>
  Object.entries<Data>(methods).map(([method, { operationId, parameters = [], requestBody, responses }]) => {
    const [example] = Object.values<Data>(requestBody?.content['application/json'].examples ?? {});
    const inPath = parameters.filter((parameter: Data) => parameter.in === 'path');
    return {
      ...{ id: operationId as string, at, method: method.toUpperCase(), statuses: Object.keys(responses).map(Number) },
      path: Object.fromEntries<string>(inPath.map(({ name }: Data) => [name, idOf(name)])),
      query: queryOf(parameters.filter((parameter: Data) => parameter.in === 'query')),
      hasBody: requestBody !== undefined,
      body: JSON.stringify(example?.value ?? {}),
    };
  }),
);
const withBodies = operations
  .filter(({ hasBody }) => hasBody)
  .map(({ id, path }) => ({ id, places: Object.keys(path).length }));

/** Returns a value for a path parameter: an id that belongs to no object or, for a lookup, a sandbox receiver. */
function idOf(name: string): string {
  if (name === 'receiverUmaAddress') return '$success.usd@sandbox.uma.money';
  return `${upper(name.replace(/Id$/, ''))}:00000000-0000-7000-8000-000000000000`;
}

/** Returns the required query parameters and their values as JSON, or undefined if there are no query parameters. */
function queryOf(parameters: readonly Data[]): string | undefined {
  if (parameters.length === 0) return undefined;
  const names = parameters.filter((parameter) => parameter.required).map(({ name }) => name as string);
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, required[name]])));
}

/** Returns code that calls all operations and prints the statuses of their responses. */
const callsOf = (call: (operation: (typeof operations)[number]) => string) => `
  const statuses: Record<string, number | undefined> = {};
  ${operations.map((operation) => `statuses.${operation.id} = ${call(operation)};`).join('\n')}
  console.log(JSON.stringify(statuses));`;
/** Returns an operation's path, query and body, if any, for clients that take them in a single object. */
const partsOf = ({ path, query, hasBody, body }: (typeof operations)[number]) =>
  [
    ...(Object.keys(path).length > 0 ? [`path: ${JSON.stringify(path)}`] : []),
    ...(query === undefined ? [] : [`query: ${query}`]),
    ...(hasBody ? [`body: ${body}`] : []),
  ] as const;
const typed = (bodyOf: (operation: (typeof withBodies)[number]) => string) => `
  type IsUntyped<Body> = unknown extends Body ? true : false;
  ${withBodies.map((operation) => `export const ${operation.id}IsUntyped: IsUntyped<${bodyOf(operation)}> = false;`).join('\n')}`;

const customer = JSON.stringify({
  customerType: 'INDIVIDUAL',
  platformCustomerId: 'generated',
  fullName: 'Ada Lovelace',
});
const quote = JSON.stringify({
  source: { sourceType: 'ACCOUNT', accountId: scene.usd.id },
  destination: { destinationType: 'ACCOUNT', accountId: scene.outsideEur.id },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 1_000,
});
const url = JSON.stringify(`${t.url}${base}`);
const headers = JSON.stringify({ authorization });

const generators: Record<string, { readonly generate: () => unknown; readonly program: string }> = {
  'openapi-typescript': {
    generate: () => folder.bin('openapi-typescript', 'openapi.json', '-o', 'schema.ts'),
    program: `
      import createClient from 'openapi-fetch';
      import type { operations, paths } from './schema.ts';
      ${typed(({ id }) => `NonNullable<operations['${id}']['requestBody']>['content']['application/json']`)}
      const client = createClient<paths>({ baseUrl: ${url}, headers: ${headers} });
      const made = await client.POST('/customers', { body: ${customer} });
      const quoted = await client.POST('/quotes', { body: ${quote} });
      const listed = await client.GET('/customers', { params: { query: { limit: 1 } } });
      console.log(made.data?.platformCustomerId, quoted.data?.status, listed.data?.data.length);
      ${callsOf((operation) => {
        const parts = partsOf(operation);
        const params = parts.filter((part) => !part.startsWith('body'));
        const body = parts.filter((part) => part.startsWith('body'));
        const options = [...(params.length > 0 ? [`params: { ${params.join(', ')} }`] : []), ...body];
        return `(await client.${operation.method}('${operation.at}', { ${options.join(', ')} })).response.status`;
      })}`,
  },
  orval: {
    generate: () => {
      folder.write(
        'orval.config.cjs',
        `module.exports = { api: { input: './openapi.json', output: { target: './orval.ts', client: 'fetch', baseUrl: ${url} } } };`,
      );
      return folder.bin('orval', '--config', 'orval.config.cjs');
    },
    program: `
      import * as api from './orval.ts';
      ${typed(({ id, places }) => `NonNullable<Parameters<typeof api.${id}>[${places}]>`)}
      const options = { headers: ${headers} };
      const made = await api.createCustomer(${customer}, options);
      const quoted = await api.createQuote(${quote}, options);
      const listed = await api.listCustomers({ limit: 1 }, options);
      console.log(made.status === 201 && made.data.platformCustomerId, quoted.status === 201 && quoted.data.status, listed.status === 200 && listed.data.data.length);
      ${callsOf(({ id, path, query, hasBody, body }) => {
        const places = Object.values(path).map((value) => JSON.stringify(value));
        const given = [...places, ...(hasBody ? [body] : []), ...(query === undefined ? [] : [query]), 'options'];
        return `(await api.${id}(${given.join(', ')})).status`;
      })}`,
  },
  '@hey-api/openapi-ts': {
    generate: () => folder.bin('openapi-ts', '-i', 'openapi.json', '-o', 'hey'),
    program: `
      import { client } from './hey/client.gen';
      import * as api from './hey';
      ${typed(({ id }) => `NonNullable<api.${upper(id)}Data['body']>`)}
      client.setConfig({ baseUrl: ${url}, headers: ${headers} });
      const made = await api.createCustomer({ body: ${customer} });
      const quoted = await api.createQuote({ body: ${quote} });
      const listed = await api.listCustomers({ query: { limit: 1 } });
      console.log(made.data?.platformCustomerId, quoted.data?.status, listed.data?.data.length);
      ${callsOf((operation) => `(await api.${operation.id}({ ${partsOf(operation).join(', ')} })).response?.status`)}`,
  },
};

folder.write('openapi.json', JSON.stringify(rest.document));
await folder.install(...packages);

test.each(Object.entries(generators))(
  'the client of %s compiles, has a type for every body, and calls every operation',
  async (name, { generate, program }) => {
    await generate();
    const printed = await folder.compileAndRun(`${name.replace(/\W/g, '')}-program.ts`, program);
    const [first, statuses = ''] = printed.split('\n');
    expect(first).toBe('generated PENDING 1');
    const answered: Readonly<Record<string, number>> = JSON.parse(statuses);
    for (const { id, statuses: documented } of operations) {
      expect({ id, documented }).toEqual({ id, documented: expect.arrayContaining([answered[id]]) });
    }
  },
);
