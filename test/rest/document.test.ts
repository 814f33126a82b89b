import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { type Data, testGateway } from '../setup/gateway.ts';
import { base } from '../setup/rest.ts';

const t = await testGateway();
const source = await (await fetch(`${t.url}${base}/openapi.json`)).text();
const document: Data = JSON.parse(source);
const operations = Object.entries<Data>(document.paths).flatMap(([path, methods]) =>
  Object.values<Data>(methods).map((operation): Data => ({ path, ...operation })),
);

/** Yields every object in a part of the document, except the examples, together with its path. */
function* partsOf(part: Data, path = ''): Generator<readonly [path: string, part: Data]> {
  if (typeof part !== 'object' || part === null) return;
  yield [path, part];
  for (const [name, inner] of Object.entries<Data>(part))
    if (name !== 'examples') yield* partsOf(inner, `${path}/${name}`);
}

test('the OpenAPI 3.1 document passes the linter without errors or warnings', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: { 'operation-4xx-response': 'error', 'no-server-example.com': 'off' },
  });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  const told = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
  expect(told).toEqual([]);
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: `..${base}` }] });
});

test('operations and webhooks have an id, a summary, a description and a tag, and operations list their errors', async () => {
  const all = [...operations, ...Object.values<Data>(document.webhooks).map(({ post }) => post)];
  expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
  for (const { operationId, summary, description, tags } of all) {
    expect(summary).toMatch(/^[A-Z]/);
    expect({ operationId, description }).toEqual({ operationId, description: expect.stringMatching(/^[A-Z].*[.:]$/s) });
    expect(document.tags.filter(({ name }: Data) => tags.includes(name))).toMatchObject([
      { description: expect.stringMatching(/^[A-Z].*[.]$/) },
    ]);
  }
  for (const { responses } of operations) {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '429', '500', '503']));
  }
});

test('code generators find a type for everything: there are no intersections or defaults, and numbers have bounds', async () => {
  const wrong: string[] = [];
  for (const [path, part] of partsOf(document)) {
    const isNumber = [part.type].flat().some((one) => one === 'integer' || one === 'number');
    const isBounded = part.minimum !== undefined && part.maximum !== undefined;
    if (part.allOf) wrong.push(`${path}: an intersection`);
    if (isNumber && !isBounded) wrong.push(`${path}: a number without a bound`);
    if (path.startsWith('/components/schemas') && part.default !== undefined) wrong.push(`${path}: a default`);
  }
  for (const { operationId, requestBody } of operations) {
    if (!requestBody) continue;
    const { $ref = '' } = requestBody.content['application/json'].schema;
    const { properties, oneOf, anyOf } = document.components.schemas[$ref.split('/').at(-1)] ?? {};
    if (anyOf || !(properties || oneOf)) wrong.push(`${operationId}: a body without a type`);
  }
  expect(wrong).toEqual([]);
});

test('every field and every parameter has a description', async () => {
  const silent: string[] = [];
  for (const [path, { properties = {} }] of partsOf(document.components.schemas)) {
    for (const [name, field] of Object.entries<Data>(properties))
      if (!field.description && !field.$ref && !field.allOf) silent.push(`${path}.${name}`);
  }
  for (const { operationId, parameters = [] } of operations) {
    for (const { $ref, name, description, schema } of parameters)
      if (!$ref && !description && !schema.description) silent.push(`${operationId} ${name}`);
  }
  expect(silent).toEqual([]);
});

test('every list in a request has a documented maximum length, and the error for a longer list in a query states it', async () => {
  const unbounded: string[] = [];
  const visit = (schema: Data, path: string, seen: readonly string[] = []): void => {
    if (schema.$ref) {
      const name = schema.$ref.split('/').at(-1);
      if (!seen.includes(name)) visit(document.components.schemas[name], path, [...seen, name]);
      return;
    }
    if (schema.items && !(schema.maxItems <= 10_000)) unbounded.push(path);
    if (schema.items) visit(schema.items, `${path}[]`, seen);
    for (const one of [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])])
      visit(one, path, seen);
    for (const [name, field] of Object.entries<Data>(schema.properties ?? {})) visit(field, `${path}.${name}`, seen);
  };
  const lists: (readonly [path: string, name: string])[] = [];
  for (const { path, operationId, parameters = [], requestBody } of operations) {
    for (const { name, in: place, schema } of parameters) {
      if (schema) visit(schema, `${operationId} ${name}`);
      if (schema?.items && place === 'query' && !path.includes('{')) lists.push([path, name]);
    }
    const body = requestBody?.content['application/json']?.schema;
    if (body) visit(body, operationId);
  }
  expect(unbounded).toEqual([]);
  expect(lists.length).toBeGreaterThan(5);
  for (const [path, name] of lists) {
    const query = Array.from({ length: 101 }, () => `${name}=COMPLETED`).join('&');
    const headers = { authorization: t.platform.authorization };
    const answer = await fetch(`${t.url}${base}${path}?sourceCurrency=USD&${query}`, { headers });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(new RegExp(`"${name}".*must have at most 100 values`));
  }
});

test.each(['/openapi.json', '/customers', '/customers/Customer:none', '/quotes?unknown=1'])(
  'HEAD %s returns the same headers as GET, including the content length, but no body',
  async (path) => {
    const headers = { authorization: t.platform.authorization };
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${t.url}${base}${path}`, { method, headers })),
    );
    expect(head?.status).toBe(get?.status);
    for (const name of ['content-length', 'content-type', 'content-encoding'])
      expect([name, head?.headers.get(name)]).toEqual([name, get?.headers.get(name)]);
    expect(Number(head?.headers.get('content-length'))).toBeGreaterThan(0);
    expect(await head?.text()).toBe('');
  },
);
