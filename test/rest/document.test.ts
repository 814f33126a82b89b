import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { base } from '../setup/rest.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway();
});
afterAll(() => t.stop());

test('the OpenAPI 3.1 document passes the linter without an error or a warning', async () => {
  const source = await (await fetch(`${t.url}${base}/openapi.json`)).text();
  const config = await createConfig({
    extends: ['recommended'],
    rules: { 'operation-4xx-response': 'error', 'no-server-example.com': 'off' },
  });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  const told = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
  expect(told).toEqual([]);
  expect(JSON.parse(source)).toMatchObject({ openapi: '3.1.0', servers: [{ url: base }] });
});

test('every operation has an id, a summary, a tag, and says what its errors mean', async () => {
  const document = (await (await fetch(`${t.url}${base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; summary: string; tags: string[]; responses: object }>>;
  };
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { summary, tags, responses } of operations) {
    expect(summary).toMatch(/^[A-Z]/);
    expect(tags).toHaveLength(1);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '500']));
  }
});

test('every field of every record and every parameter says what it is', async () => {
  const document = (await (await fetch(`${t.url}${base}/openapi.json`)).json()) as Data;
  const silent: string[] = [];
  const visit = (schema: Data, path: string) => {
    for (const [name, field] of Object.entries<Data>(schema.properties ?? {})) {
      if (!field.description && !field.$ref && !field.allOf) silent.push(`${path}.${name}`);
      visit(field, `${path}.${name}`);
    }
    if (schema.items) visit(schema.items, `${path}[]`);
  };
  for (const [name, schema] of Object.entries<Data>(document.components.schemas)) visit(schema, name);
  for (const methods of Object.values<Data>(document.paths)) {
    for (const operation of Object.values<Data>(methods)) {
      for (const parameter of operation.parameters ?? []) {
        if (!parameter.$ref && !parameter.description && !parameter.schema.description) {
          silent.push(`${operation.operationId} ${parameter.name}`);
        }
      }
    }
  }
  expect(silent).toEqual([]);
});
