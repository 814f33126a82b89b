import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashSecret, newCredentials } from '../../src/access/api-tokens.ts';
import { openDatabase } from '../../src/database/database.ts';
import { basicAuthorization } from '../../src/graphql/graphiql.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { base, type RestClient, restClient } from '../setup/rest.ts';
import { type RestScene, restScene, usAccount } from '../setup/rest-scene.ts';

let t: TestGateway;
let rest: RestClient;
let other: RestClient;
let scene: RestScene;
let quoteId: string;
let viewOnly: string;
let transactOnly: string;

beforeAll(async () => {
  t = await startTestGateway();
  rest = await restClient(t.url, t.platform.authorization);
  other = await restClient(t.url, (await t.newPlatform('other')).authorization);
  scene = await restScene(rest);
  quoteId = (await rest.ask('POST', '/quotes', quoteBody(), 201)).quoteId;
  viewOnly = await tokenWith('VIEW');
  transactOnly = await tokenWith('TRANSACT');
});
afterAll(() => t.stop());

async function tokenWith(permission: 'VIEW' | 'TRANSACT'): Promise<string> {
  const credentials = newCredentials();
  const database = openDatabase({ url: t.databaseUrl, poolSize: 1 });
  await database.prisma.apiToken.create({
    data: {
      platformId: t.platform.platformId,
      clientId: credentials.clientId,
      secretHash: new Uint8Array(hashSecret(credentials.secret)),
      name: permission,
      permissions: [permission],
    },
  });
  await database.close();
  return basicAuthorization(credentials);
}

function quoteBody() {
  return {
    source: { sourceType: 'ACCOUNT', accountId: scene.usd.id },
    destination: { destinationType: 'ACCOUNT', accountId: scene.outsideEur.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 1_000,
  };
}

let made = 0;

/** A good request of every command: an endpoint that is not here fails the tests. */
const commands: Record<string, () => { path: string; body?: Record<string, unknown> } | Promise<{ path: string }>> = {
  createQuote: () => ({ path: '/quotes', body: quoteBody() }),
  executeQuote: async () => {
    const quote = await rest.ask('POST', '/quotes', quoteBody(), 201);
    return { path: `/quotes/${quote.quoteId}/execute` };
  },
  transferOut: () => ({
    path: '/transfer-out',
    body: { source: { accountId: scene.usd.id }, destination: { accountId: scene.outsideUsd.id }, amount: 100 },
  }),
  transferIn: () => ({
    path: '/transfer-in',
    body: { source: { accountId: scene.outsideUsd.id }, destination: { accountId: scene.usd.id }, amount: 100 },
  }),
  createCustomer: () => {
    made += 1;
    return { path: '/customers', body: { customerType: 'INDIVIDUAL', platformCustomerId: `contract-${made}` } };
  },
  createExternalAccount: () => ({
    path: '/customers/external-accounts',
    body: { currency: 'USD', accountInfo: usAccount(), customerId: scene.customer.id },
  }),
  createPlatformExternalAccount: () => ({
    path: '/platform/external-accounts',
    body: { currency: 'USD', accountInfo: usAccount() },
  }),
  sandboxSend: async () => {
    const source = { sourceType: 'REALTIME_FUNDING', customerId: scene.customer.id, currency: 'USD' };
    const quote = await rest.ask('POST', '/quotes', { ...quoteBody(), source }, 201);
    return { path: '/sandbox/send', body: { quoteId: quote.quoteId, currencyCode: 'USD' } };
  },
  sandboxFundAccount: () => ({ path: `/sandbox/internal-accounts/${scene.usd.id}/fund`, body: { amount: 5 } }),
};

interface Endpoint {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Data[];
  readonly hasBody: boolean;
}

function endpoints(): Endpoint[] {
  return Object.entries(rest.document.paths as Data).flatMap(([path, methods]) =>
    Object.entries(methods as Data).map(([method, operation]: [string, Data]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path: path
        .replace('{quoteId}', quoteId)
        .replace('{accountId}', scene.usd.id)
        .replace('{customerId}', scene.customer.id)
        .replace('{transactionId}', 'Transaction:0'),
      parameters: operation.parameters ?? [],
      hasBody: operation.requestBody !== undefined,
    })),
  );
}

const command = async (id: string) => {
  const good = commands[id];
  if (!good) throw new Error(`no good request of ${id} is known here`);
  return (await good()) as { path: string; body?: Record<string, unknown> };
};

/** The parameters that a good query needs. */
const neededQuery: Record<string, string> = { listExchangeRates: 'sourceCurrency=USD' };
const withQuery = ({ id, path }: Endpoint, query: string) =>
  `${path}?${[neededQuery[id], query].filter(Boolean).join('&')}`;

describe('every endpoint', () => {
  test('asks for credentials', async () => {
    for (const { method, path } of endpoints()) {
      for (const authorization of ['', 'Basic bm9ib2R5OmF0YWxs', 'Bearer abc', 'Basic !!!']) {
        const answer = await rest.call(method, path, { headers: { authorization } });
        expect(answer).toMatchObject({ status: 401, body: { status: 401, code: 'UNAUTHORIZED' } });
        expect(answer.headers.get('www-authenticate')).toMatch(/^Basic/);
      }
    }
  });

  test('asks for its permission', async () => {
    for (const { id, method, path } of endpoints()) {
      const authorization = method === 'GET' ? transactOnly : viewOnly;
      const options = commands[id] ? await command(id) : { path };
      const answer = await rest.call(method, options.path, { ...options, headers: { authorization } });
      expect({ id, ...answer }).toMatchObject({ id, status: 403, body: { code: 'FORBIDDEN' } });
    }
  });

  test('refuses methods that its path does not have, and says which it has', async () => {
    const paths = new Map<string, string[]>();
    for (const { method, path } of endpoints()) paths.set(path, [...(paths.get(path) ?? []), method]);
    for (const [path, methods] of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !methods.includes(name))) {
        const answer = await rest.call(method, path);
        expect({ path, method, ...answer }).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
        expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...methods].sort());
      }
    }
  });

  test('refuses a parameter that it does not know', async () => {
    for (const endpoint of endpoints()) {
      const { id, method } = endpoint;
      const body = commands[id] && (await command(id)).body;
      const answer = await rest.call(method, withQuery(endpoint, 'limitt=5'), { body });
      expect({ id, ...answer }).toMatchObject({
        id,
        status: 400,
        body: {
          code: 'INVALID_INPUT',
          details: { field: 'limitt', errors: [{ field: 'limitt', constraint: 'unknown' }] },
        },
      });
    }
  });

  test('refuses what its parameters do not admit, and a single one given twice', async () => {
    const bad: Record<string, string[]> = {
      integer: ['0', '101', 'x', '-1', '1.5', ''],
      boolean: ['yes', '1', ''],
      'date-time': ['yesterday', '2026-01-01', '2026-13-01T00:00:00Z', '2026-01-01T00:00:00'],
      enum: ['NOPE', 'pending', ''],
    };
    for (const endpoint of endpoints()) {
      for (const { name, in: place, schema } of endpoint.parameters.filter((one) => one.in === 'query')) {
        expect(place).toBe('query');
        const one = schema.items ?? schema;
        const kind = one.enum ? 'enum' : one.format === 'date-time' ? 'date-time' : one.type;
        const values =
          name === 'sendingAmount' ? ['0', 'x', '1.5'] : name === 'cursor' ? ['x', 'Zm9v'] : (bad[kind] ?? []);
        for (const value of values) {
          const answer = await rest.call('GET', withQuery(endpoint, `${name}=${value}`));
          expect({ id: endpoint.id, name, value, ...answer }).toMatchObject({ status: 400 });
          expect(answer.body.details.field.split('.')[0]).toBe(name);
        }
        if (schema.type === 'array' || name === 'sourceCurrency') continue;
        const twice = await rest.call('GET', withQuery(endpoint, `${name}=1&${name}=2`));
        expect({ id: endpoint.id, name, ...twice }).toMatchObject({ status: 400, body: { details: { field: name } } });
      }
    }
  });
});

describe('every list', () => {
  test('takes each of its filters, and what an unknown id names is nothing', async () => {
    for (const endpoint of endpoints().filter(
      ({ method, path, id }) => method === 'GET' && !path.includes(':') && id !== 'listExchangeRates',
    )) {
      const all = await rest.ask('GET', endpoint.path);
      expect(all.data.length, endpoint.id).toBeGreaterThanOrEqual(
        endpoint.id === 'listPlatformExternalAccounts' ? 0 : 1,
      );
      for (const { name, schema } of endpoint.parameters.filter((one) => one.in === 'query')) {
        const free = schema.type === 'string' && !schema.enum && !schema.format && name !== 'cursor';
        if (!free) continue;
        for (const value of ['nothing', '', 'Customer:x', '%24nobody%40example.com']) {
          expect((await rest.ask('GET', `${endpoint.path}?${name}=${value}`)).data, `${endpoint.id} ${name}`).toEqual(
            [],
          );
        }
      }
    }
  });

  test('pages through everything once, whatever the size, and tells the total', async () => {
    for (const path of [
      '/transactions?sortOrder=asc&',
      '/transactions?',
      '/quotes?',
      '/customers?',
      '/customers/internal-accounts?',
      '/customers/external-accounts?',
    ]) {
      const whole = await rest.ask('GET', `${path}limit=100`);
      expect(whole.hasMore).toBe(false);
      expect('nextCursor' in whole).toBe(false);
      expect(whole.totalCount).toBe(whole.data.length);
      const size = Math.max(1, Math.ceil(whole.data.length / 3));
      const seen: Data[] = [];
      let cursor = '';
      for (;;) {
        const page = await rest.ask('GET', `${path}limit=${size}${cursor}`);
        seen.push(...page.data);
        expect(page.totalCount).toBe(whole.totalCount);
        if (!page.hasMore) break;
        expect(page.data).toHaveLength(size);
        cursor = `&cursor=${page.nextCursor}`;
      }
      expect(seen).toEqual(whole.data);
    }
  });

  test('keeps the cursors of other lists and of other platforms out', async () => {
    const { nextCursor } = await rest.ask('GET', '/customers/internal-accounts?limit=1');
    const foreign = await rest.ask('GET', `/quotes?cursor=${nextCursor}`, undefined, 400);
    expect(foreign).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'cursor' } });
    await other.ask('GET', `/customers/internal-accounts?cursor=${nextCursor}`, undefined, 400);
  });

  test('is inclusive at both ends of a date range', async () => {
    const quote = await rest.ask('GET', `/quotes/${quoteId}`);
    const at = encodeURIComponent(quote.createdAt);
    const { data } = await rest.ask('GET', `/quotes?createdAfter=${at}&createdBefore=${at}`);
    expect(data).toContainEqual(quote);
    const transactions = await rest.ask('GET', `/transactions?startDate=${at}&endDate=${at}`);
    expect(transactions.data.map(({ id }: Data) => id)).toContain(quote.transactionId);
    const several = await rest.ask('GET', '/transactions?status=PENDING&status=COMPLETED&limit=100');
    expect(several.data.every(({ status }: Data) => status === 'PENDING' || status === 'COMPLETED')).toBe(true);
  });
});

describe('every command', () => {
  const withBodies = () => endpoints().filter(({ hasBody }) => hasBody);

  test('is known to this test', () => {
    const known = endpoints().flatMap(({ id, method }) => (method === 'GET' ? [] : [id]));
    expect(known.sort()).toEqual(Object.keys(commands).sort());
  });

  test('refuses malformed JSON, other content types and bodies that are too large', async () => {
    for (const { id, method } of withBodies()) {
      const { path, body } = await command(id);
      for (const raw of ['{', '', '{"a":}', 'null x']) {
        const answer = await rest.call(method, path, { raw });
        expect({ id, raw, ...answer }).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST_FORMAT' } });
      }
      for (const raw of ['null', '[]', '"x"', '7']) {
        const answer = await rest.call(method, path, { raw });
        expect({ id, raw, ...answer }).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
      }
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        'application/jsonx',
      ]) {
        const answer = await rest.call(method, path, { body, headers: { 'content-type': type } });
        expect({ id, type, ...answer }).toMatchObject({ status: 415, body: { code: 'INVALID_REQUEST_FORMAT' } });
      }
      const large = await rest.call(method, path, { body: { ...body, description: 'x'.repeat(102_400) } });
      expect({ id, ...large }).toMatchObject({ id, status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
    }
  });

  test('refuses a large body that does not say its length', async () => {
    const chunk = new TextEncoder().encode('x'.repeat(60_000));
    const stream = new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < 3; sent += 1) controller.enqueue(chunk);
        controller.close();
      },
    });
    const response = await fetch(`${t.url}${base}/transfer-out`, {
      method: 'POST',
      headers: { authorization: t.platform.authorization, 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  });

  test('names every field that is missing, unknown or of the wrong type, all at once', async () => {
    for (const { id, method } of withBodies()) {
      const { path, body = {} } = await command(id);
      const fields = Object.keys(body).filter((field) => field !== 'customerType');
      for (const wrong of [null, true, [], { x: 1 }]) {
        const spoilt = Object.fromEntries(fields.map((field) => [field, wrong]));
        const answer = await rest.call(method, path, { body: { ...body, ...spoilt, extra: 1 } });
        expect({ id, ...answer }).toMatchObject({ id, status: 400 });
        const named = answer.body.details.errors.map((error: Data) => error.field.split('.')[0]);
        expect(named).toEqual(expect.arrayContaining([...fields, 'extra']));
      }
      const unknown = await rest.call(method, path, { body: { ...body, extra: 1 } });
      expect({ id, ...unknown }).toMatchObject({ status: 400, body: { details: { errors: [{ field: 'extra' }] } } });
    }
  });

  test('has one effect per idempotency key, and the same answer byte for byte', async () => {
    for (const { id, method, hasBody } of endpoints().filter((endpoint) => endpoint.method !== 'GET')) {
      const { path, body } = await command(id);
      const key = `contract-${id}`;
      const first = await rest.call(method, path, { body, key });
      expect({ id, ...first }).toMatchObject({ id, status: first.status < 300 ? first.status : 200 });
      expect(first.headers.has('idempotency-replayed')).toBe(false);
      const again = await rest.call(method, path, { body, key });
      expect({ id, status: again.status, text: again.text }).toEqual({ id, status: first.status, text: first.text });
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      if (!hasBody) continue;
      const changed: Record<string, unknown> = {
        ...(await command(id)).body,
        ...(id === 'sandboxFundAccount' ? { amount: 6 } : {}),
      };
      const amounts = Object.keys(changed).filter((field) => /amount$/i.test(field));
      for (const field of amounts) changed[field] = 77;
      const mismatch = await rest.call(method, path, { body: changed, key });
      expect({ id, ...mismatch }).toMatchObject({
        id,
        status: 422,
        body: { code: 'IDEMPOTENCY_MISMATCH', details: { field: 'Idempotency-Key' } },
      });
    }
  });

  test('keeps a stored refusal a refusal, and forgets what was never valid', async () => {
    const body = { source: { accountId: scene.eur.id }, destination: { accountId: scene.outsideEur.id }, amount: 50 };
    const refused = await rest.call('POST', '/transfer-out', { body, key: 'refused' });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'INSUFFICIENT_BALANCE', details: { field: 'source.accountId' } },
    });
    await rest.ask('POST', `/sandbox/internal-accounts/${scene.eur.id}/fund`, { amount: 1_000 });
    const again = await rest.call('POST', '/transfer-out', { body, key: 'refused' });
    expect(again.text).toBe(refused.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await rest.call('POST', '/transfer-out', { body: { ...body, amount: 0 }, key: 'later' })).status).toBe(400);
    expect((await rest.call('POST', '/transfer-out', { body, key: 'later' })).status).toBe(201);
    for (const key of ['with space', 'é'.normalize('NFC'), 'x'.repeat(256)]) {
      const bad = await rest.call('POST', '/transfer-out', { body, key });
      expect(bad).toMatchObject({
        status: 400,
        body: { code: 'INVALID_INPUT', details: { field: 'Idempotency-Key' } },
      });
    }
  });
});

test('what is not there is 404 with its own code, and another platform sees the same', async () => {
  const uuid = '01a1fc11-db75-7eac-9cd6-93f3db60e56b';
  for (const id of ['', 'x', `Customer:${uuid}`, `Quote:${uuid}`, `Transaction:${uuid}`, uuid].map(
    encodeURIComponent,
  )) {
    if (id !== '') {
      expect((await rest.ask('GET', `/quotes/${id}`, undefined, 404)).code).toBe('QUOTE_NOT_FOUND');
      expect((await rest.ask('GET', `/transactions/${id}`, undefined, 404)).code).toBe('TRANSACTION_NOT_FOUND');
      expect((await rest.ask('GET', `/customers/${id}`, undefined, 404)).code).toBe('USER_NOT_FOUND');
    }
    expect((await rest.ask('GET', `/nothing/${id}`, undefined, 404)).code).toBe('NOT_FOUND');
  }
  const { transactionId } = await rest.ask('GET', `/quotes/${quoteId}`);
  expect((await other.ask('GET', `/quotes/${quoteId}`, undefined, 404)).code).toBe('QUOTE_NOT_FOUND');
  expect((await other.ask('POST', `/quotes/${quoteId}/execute`, undefined, 404)).code).toBe('QUOTE_NOT_FOUND');
  expect((await other.ask('GET', `/transactions/${transactionId}`, undefined, 404)).code).toBe('TRANSACTION_NOT_FOUND');
  expect((await other.ask('GET', `/customers/${scene.customer.id}`, undefined, 404)).code).toBe('USER_NOT_FOUND');
  expect((await other.ask('POST', '/transfer-out', (await command('transferOut')).body, 404)).code).toBe(
    'ACCOUNT_NOT_FOUND',
  );
});
