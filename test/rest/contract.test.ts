import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/api/rest/errors.ts';
import { operations } from '../../src/domain/access/operations.ts';
import { anyCommit, databaseProxy } from '../setup/database-proxy.ts';
import { startTestGateway } from '../setup/gateway.ts';
import { heldTransfer, patient } from '../setup/held-transfer.ts';
import { type RestAnswer, type RestClient, restClient } from '../setup/rest.ts';
import { type Endpoint, type GoodRequest, openCatalog, quoteBody } from '../setup/rest-catalog.ts';
import { restScene, restTransfer } from '../setup/rest-scene.ts';

/**
 * Provokes every status that the document names for an operation. The client checks each answer against the document, so no other
 * is returned. An endpoint, or a status of one, that nothing here provokes fails the test.
 */

const catalog = await openCatalog();
afterAll(() => catalog.stop());

const uuid = '01a1fc11-db75-7eac-9cd6-93f3db60e56b';

/** The required parameters. */
const neededQuery: Record<string, string> = {
  listExchangeRates: 'sourceCurrency=USD',
  getAccountStatement: 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
};

/** Returns a request of an endpoint that succeeds. */
async function good(endpoint: Endpoint): Promise<GoodRequest> {
  if (endpoint.method !== 'GET') return catalog.good(endpoint.id);
  const needed = neededQuery[endpoint.id];
  return { path: needed ? `${endpoint.path}?${needed}` : endpoint.path };
}

/** Sends a request of an endpoint, with these values in place of the sample's. */
async function send(
  endpoint: Endpoint,
  given: Parameters<RestClient['call']>[2] & { path?: string } = {},
): Promise<RestAnswer> {
  const { path, body } = await good(endpoint);
  return catalog.rest.call(endpoint.method, given.path ?? path, { body, ...given });
}

/** A request with an unknown id, for each endpoint that answers 404. */
const missing: Record<string, () => GoodRequest> = {
  createQuote: () => ({
    path: '/quotes',
    body: { ...quoteBody(catalog.scene), source: { sourceType: 'ACCOUNT', accountId: `InternalAccount:${uuid}` } },
  }),
  getQuote: () => ({ path: `/quotes/Quote:${uuid}` }),
  executeQuote: () => ({ path: `/quotes/Quote:${uuid}/execute` }),
  getAccountStatement: () => ({
    path: `/internal-accounts/InternalAccount:${uuid}/statement?${neededQuery.getAccountStatement}`,
  }),
  cancelQuote: () => ({ path: `/quotes/Quote:${uuid}/cancel` }),
  resendWebhookDelivery: () => ({ path: `/webhooks/deliveries/WebhookDelivery:${uuid}/resend` }),
  sandboxSetKycStatus: () => ({
    path: `/sandbox/customers/Customer:${uuid}/kyc-status`,
    body: { kycStatus: 'REJECTED' },
  }),
  getTransaction: () => ({ path: `/transactions/Transaction:${uuid}` }),
  approveTransaction: () => ({ path: `/transactions/Transaction:${uuid}/approve`, body: {} }),
  rejectTransaction: () => ({ path: `/transactions/Transaction:${uuid}/reject`, body: {} }),
  transferOut: () => transfer('/transfer-out', `InternalAccount:${uuid}`, catalog.scene.outsideUsd.id),
  transferIn: () => transfer('/transfer-in', catalog.scene.outsideUsd.id, `InternalAccount:${uuid}`),
  transferInternal: () => transfer('/transfer-internal', `InternalAccount:${uuid}`, catalog.scene.eur.id),
  getCustomer: () => ({ path: `/customers/Customer:${uuid}` }),
  updateCustomer: () => ({ path: `/customers/Customer:${uuid}`, body: { customerType: 'INDIVIDUAL' } }),
  deleteCustomer: () => ({ path: `/customers/Customer:${uuid}` }),
  createExternalAccount: () => ({
    path: '/customers/external-accounts',
    body: {
      currency: 'USDC',
      accountInfo: { accountType: 'BASE_WALLET', address: `0x${'1'.repeat(40)}` },
      customerId: `Customer:${uuid}`,
    },
  }),
  updateExternalAccount: () => ({ path: `/customers/external-accounts/ExternalAccount:${uuid}`, body: {} }),
  deleteExternalAccount: () => ({ path: `/customers/external-accounts/ExternalAccount:${uuid}` }),
  getReceiver: () => ({ path: '/receiver/%24nobody%40test.uma.money' }),
  getUmaReceiver: () => ({ path: '/receiver/uma/%24nobody%40test.uma.money' }),
  sandboxSend: () => ({ path: '/sandbox/send', body: { quoteId: `Quote:${uuid}`, currencyCode: 'USD' } }),
  sandboxFundAccount: () => ({
    path: `/sandbox/internal-accounts/InternalAccount:${uuid}/fund`,
    body: { amount: 5 },
  }),
  sandboxReceiveUma: () => ({
    path: '/sandbox/uma/receive',
    body: {
      senderUmaAddress: '$sender@example.com',
      customerId: `Customer:${uuid}`,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 5,
    },
  }),
  getToken: () => ({ path: `/tokens/ApiToken:${uuid}` }),
  deleteToken: () => ({ path: `/tokens/ApiToken:${uuid}` }),
  rotateToken: () => ({ path: `/tokens/ApiToken:${uuid}/rotate`, body: { overlapHours: 1 } }),
};

/** A deposit that arrives for a deleted customer. */
const gone: Record<string, () => Promise<GoodRequest>> = {
  async sandboxSend() {
    const { rest } = catalog;
    const { customer, outsideEur } = await restScene(rest, 0);
    const source = { sourceType: 'REALTIME_FUNDING', customerId: customer.id, currency: 'USD' };
    const { quoteId } = await rest.make('/quotes', { ...quoteBody({ ...catalog.scene, outsideEur }), source });
    await rest.ask('POST', `/quotes/${quoteId}/cancel`);
    await rest.ask('DELETE', `/customers/${customer.id}`);
    return { path: '/sandbox/send', body: { quoteId, currencyCode: 'USD' } };
  },
  async sandboxFundAccount() {
    const { customer, usd } = await restScene(catalog.rest, 0);
    await catalog.rest.ask('DELETE', `/customers/${customer.id}`);
    return { path: `/sandbox/internal-accounts/${usd.id}/fund`, body: { amount: 5 } };
  },
};

function transfer(path: string, from: string, to: string): GoodRequest {
  return { path, body: restTransfer(from, to, 100) };
}

/** Provokes each status at an endpoint whose document lists it. */
const provoke: Record<number, (endpoint: Endpoint) => Promise<RestAnswer>> = {
  200: (endpoint) => send(endpoint),
  201: (endpoint) => send(endpoint),
  204: (endpoint) => send(endpoint),
  async 400(endpoint) {
    const { path } = await good(endpoint);
    return send(endpoint, { path: `${path}${path.includes('?') ? '&' : '?'}unknown=1` });
  },
  401: (endpoint) => send(endpoint, { headers: { authorization: 'Basic bm9ib2R5OmF0YWxs' } }),
  403: (endpoint) =>
    send(endpoint, {
      headers: { authorization: endpoint.method === 'GET' ? catalog.transactOnly : catalog.viewOnly },
    }),
  async 404(endpoint) {
    const wrong = missing[endpoint.id];
    if (!wrong) throw new Error(`nothing here makes ${endpoint.id} answer 404`);
    return catalog.rest.call(endpoint.method, wrong().path, { body: wrong().body });
  },
  async 410(endpoint) {
    const arriving = await gone[endpoint.id]?.();
    if (arriving) return catalog.rest.call(endpoint.method, arriving.path, { body: arriving.body });
    const { path, body } = await good(endpoint);
    await catalog.rest.ask('DELETE', path.replace(/^\/sandbox(\/customers\/[^/]+).*/, '$1'));
    return catalog.rest.call(endpoint.method, path, { body });
  },
  412: (endpoint) => send(endpoint, { headers: { 'if-match': '"999999"' } }),
  413: (endpoint) => send(endpoint, { raw: JSON.stringify({ description: 'x'.repeat(102_400) }) }),
  415: (endpoint) => send(endpoint, { raw: 'amount=5', headers: { 'content-type': 'text/plain' } }),
  async 422(endpoint) {
    const key = `contract-422-${endpoint.id}`;
    await send(endpoint, { key });
    return send(endpoint, { key });
  },
  async 501() {
    const supportedCurrencies = [{ currencyCode: 'USD', maxAmount: 5 }];
    return catalog.rest.call('PATCH', '/config', { body: { supportedCurrencies } });
  },
};

/** Statuses of a gateway in trouble. Each has a test of its own below, over every endpoint that lists it. */
const inTrouble = [409, 429, 500, 503, 504];

const naming = (status: number) => catalog.endpoints.filter(({ statuses }) => statuses.includes(status));

describe('the contract', () => {
  test('has a test for every status of every endpoint', () => {
    const named = new Set(catalog.endpoints.flatMap(({ statuses }) => statuses));
    expect([...named].sort()).toEqual([...Object.keys(provoke).map(Number), ...inTrouble].sort());
    expect(
      naming(404)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(Object.keys(missing).sort());
  });

  test.each(Object.keys(provoke).map(Number))('%i is returned by each endpoint that lists it', async (status) => {
    for (const endpoint of naming(status)) {
      const answer = await provoke[status]?.(endpoint);
      expect({ id: endpoint.id, ...answer }).toMatchObject({ id: endpoint.id, status });
      if (status >= 400) expect(answer?.body).toMatchObject({ status, details: { reason: expect.any(String) } });
    }
  });

  test('409 is returned by each command whose key is still in use, and for a taken UMA domain', async () => {
    const { t, rest, other } = catalog;
    const holder = new pg.Client({ connectionString: t.databaseUrl });
    await holder.connect();
    await holder.query('begin');
    // As a first call with each key would while it runs: plans lock their key, plain records write theirs.
    await holder.query(
      `select pg_advisory_xact_lock(hashtextextended($1::uuid::text || operation || ' held', 0)) from unnest($2::text[]) operation`,
      [t.platform.platformId, Object.keys(operations)],
    );
    await holder.query(
      `insert into idempotency_record (platform_id, operation, key, request_hash) select $1, operation, 'held', '\\x00' from unnest($2::text[]) operation`,
      [t.platform.platformId, Object.keys(operations)],
    );
    const commands = naming(409).filter(({ keyed }) => keyed);
    // A few at a time: each holds a connection while it waits, and some answer only after a while.
    for (let from = 0; from < commands.length; from += 5) {
      const some = commands.slice(from, from + 5);
      const requests = await Promise.all(some.map(async (endpoint) => [endpoint, await good(endpoint)] as const));
      const answers = requests.map(async ([{ id, method }, { path, body }]) => {
        const answer = await rest.call(method, path, { body, key: 'held' });
        expect({ id, ...answer }).toMatchObject({ id, status: 409, body: { code: 'CONFLICT' } });
      });
      await Promise.all(answers);
    }
    await holder.query('rollback');
    await holder.end();

    expect(
      naming(409)
        .filter(({ keyed }) => !keyed)
        .map(({ id }) => id),
    ).toEqual(['updateConfig']);
    const { umaDomain } = await other.ask('GET', '/config');
    await rest.ask('PATCH', '/config', { umaDomain }, 409);
  }, 60_000);

  test('500 is returned by each endpoint when the database fails, without details of the failure', async () => {
    const t = await startTestGateway();
    const rest = await restClient(t.url, t.platform.authorization);
    const database = new pg.Client({ connectionString: t.databaseUrl });
    await database.connect();
    await database.query('alter table api_token rename to api_token_gone');
    for (const endpoint of naming(500)) {
      const answer = await rest.call(endpoint.method, endpoint.path);
      expect({ id: endpoint.id, ...answer }).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
      expect(answer.text).not.toMatch(/api_token|relation|postgres/i);
    }
    await database.query('alter table api_token_gone rename to api_token');
    await database.end();
    await t.stop();
  });

  test('503 is returned by each endpoint when too many requests are in progress', async () => {
    const t = await startTestGateway({ MAX_IN_FLIGHT: 1 }, undefined, { pace: patient });
    const rest = await restClient(t.url, t.platform.authorization);
    const release = await heldTransfer(t);
    for (const endpoint of naming(503)) {
      const answer = await rest.call(endpoint.method, endpoint.path);
      expect({ id: endpoint.id, ...answer }).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    await release();
    await t.stop();
  });

  test('429 is returned by each endpoint when its platform has sent too many requests', async () => {
    // With a stopped clock, buckets are never refilled.
    const once = { perSecond: 1, burst: 1 };
    const t = await startTestGateway({ RATE_LIMIT_PLATFORM: once }, undefined, { pace: { now: () => 0 } });
    const rest = await restClient(t.url, t.platform.authorization);
    await rest.ask('GET', '/config');
    for (const endpoint of naming(429)) {
      const answer = await rest.call(endpoint.method, endpoint.path);
      expect({ id: endpoint.id, ...answer }).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    await t.stop();
  });

  test('504 is returned by each endpoint whose commit is lost, and says that it may have taken effect', async () => {
    const proxy = await databaseProxy(catalog.t.databaseUrl);
    // A gateway without background work, so that the next commit is the request's.
    const serving = await startTestGateway({ ROLE: 'serve' }, proxy.url);
    const rest = await restClient(serving.url, catalog.t.platform.authorization);
    for (const endpoint of naming(504)) {
      const { path, body } = await good(endpoint);
      proxy.loseAnswer(anyCommit);
      const answer = await rest.call(endpoint.method, path, { body });
      expect({ id: endpoint.id, ...answer }).toMatchObject({ status: 504, body: { code: 'OUTCOME_UNKNOWN' } });
    }
    await serving.stop();
    await proxy.close();
  });
});

/**
 * The file of the test that provokes each code of the table of errors over REST, or the reason why none can. The compiler finds a
 * missing code here.
 */
const codes: Record<ErrorCode, string> = {
  INVALID_REQUEST_FORMAT: 'commands',
  UNAUTHORIZED: 'parameters',
  NOT_FOUND: 'parameters',
  METHOD_NOT_ALLOWED: 'parameters',
  PAYLOAD_TOO_LARGE: 'commands',
  RATE_LIMITED: 'contract',
  INTERNAL_ERROR: 'contract',
  NOT_IMPLEMENTED: 'config',
  INVALID_INPUT: 'refusals',
  INVALID_AMOUNT: 'refusals',
  AMOUNT_OUT_OF_RANGE: 'refusals',
  INVALID_CURRENCY: 'refusals',
  INVALID_BANK_ACCOUNT: 'refusals',
  INVALID_UMA_ADDRESS: 'refusals',
  INVALID_RECEIVER: 'only a rail to the real world refuses a receiver that was found',
  SELF_PAYMENT: 'refusals',
  MISSING_MANDATORY_USER_INFO: 'uma-quotes',
  QUOTE_REQUEST_FAILED: 'only a rail to the real world fails to quote',
  INSUFFICIENT_BALANCE: 'refusals',
  WEBHOOK_ENDPOINT_NOT_SET: 'webhook-endpoint',
  WEBHOOK_DELIVERY_ERROR: 'webhook-endpoint',
  FORBIDDEN: 'parameters',
  USER_NOT_READY: 'refusals',
  CUSTOMER_FROZEN: 'changes',
  ACCOUNT_FROZEN: 'changes',
  LIMIT_EXCEEDED: 'refusals',
  QUOTE_NOT_FOUND: 'parameters',
  TRANSACTION_NOT_FOUND: 'parameters',
  USER_NOT_FOUND: 'parameters',
  ACCOUNT_NOT_FOUND: 'refusals',
  LOOKUP_REQUEST_NOT_FOUND: 'receivers',
  UMA_NOT_FOUND: 'receivers',
  TOKEN_NOT_FOUND: 'tokens',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'REST names endpoints by their URL only',
  WEBHOOK_DELIVERY_NOT_FOUND: 'webhook-endpoint',
  EVENT_NOT_FOUND: 'REST names no events',
  CONFLICT: 'contract',
  QUOTE_EXPIRED: 'refusals',
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 'changes',
  UMA_ADDRESS_EXISTS: 'refusals',
  CUSTOMER_IN_USE: 'changes',
  CUSTOMER_DELETED: 'changes',
  IDEMPOTENCY_MISMATCH: 'commands',
  OUTCOME_UNKNOWN: 'contract',
  SERVICE_UNAVAILABLE: 'contract',
};

test('every code has its test, or a reason for having none', async () => {
  for (const [code, place] of Object.entries(codes)) {
    if (place.includes(' ')) continue;
    const text = await readFile(new URL(`${place}.test.ts`, import.meta.url), 'utf8');
    expect(text.includes(`'${code}'`), `${code} in ${place}.test.ts`).toBe(true);
  }
  const { code } = catalog.rest.document.components.schemas.Error.properties;
  expect(code.enum.toSorted()).toEqual(Object.keys(codes).sort());
});
