import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { ProgramFolder } from '../setup/programs.ts';
import { base, restClient } from '../setup/rest.ts';
import { restScene } from '../setup/rest-scene.ts';

// Clients that three generators create from the OpenAPI document compile under the strictest options, have a type for
// each body, and work. The generators are installed from npm into a separate folder: with the older TypeScript that
// they need, they take 110 MB.

const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'orval@8.38.0', '@hey-api/openapi-ts@0.99.0'];
const folder = new ProgramFolder();

const t = await testGateway({ PUBLIC_CONTRACT: true });
const { authorization } = t.platform;
const rest = await restClient(t.url, authorization);
const scene = await restScene(rest, 100_000);
/** The operations with a body, and the number of parameters in their paths. */
const withBodies = Object.entries<Data>(rest.document.paths).flatMap(([at, methods]) =>
  Object.values<Data>(methods)
    .filter(({ requestBody }) => requestBody)
    .map(({ operationId }) => ({ id: operationId as string, places: at.split('{').length - 1 })),
);
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
const upper = (id: string) => `${id.charAt(0).toUpperCase()}${id.slice(1)}`;

/** For each generator: how it is run, and a program that uses its client. */
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
      console.log(made.data?.platformCustomerId, quoted.data?.status, listed.data?.data.length);`,
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
      console.log(made.status === 201 && made.data.platformCustomerId, quoted.status === 201 && quoted.data.status, listed.status === 200 && listed.data.data.length);`,
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
      console.log(made.data?.platformCustomerId, quoted.data?.status, listed.data?.data.length);`,
  },
};

folder.write('openapi.json', JSON.stringify(rest.document));
await folder.install(...packages);

test.each(Object.entries(generators))(
  'the client of %s compiles, has a type for every body, and works',
  async (name, { generate, program }) => {
    await generate();
    expect(await folder.compileAndRun(`${name.replace(/\W/g, '')}-program.ts`, program)).toBe('generated PENDING 1');
  },
);
