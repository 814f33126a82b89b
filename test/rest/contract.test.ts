import { describe, expect, test } from 'vitest';
import { operations } from '../../src/domain/access/operations.ts';
import { anyCommit, databaseProxy } from '../setup/database-proxy.ts';
import { ownGateway, startTestGateway } from '../setup/gateway.ts';
import { type RestAnswer, type RestClient, restClient, restScene } from '../setup/rest.ts';
import { type Endpoint, type GoodRequest, neededQuery, openCatalog, quoteBody } from '../setup/rest-catalog.ts';

/**
 * Provokes every status that the OpenAPI document lists for an operation. The client checks each response against the
 * document, which rules out other statuses. The test fails if an endpoint or one of its statuses is not covered here.
 */

const catalog = await openCatalog();

const uuid = '01a1fc11-db75-7eac-9cd6-93f3db60e56b';

/** Returns a valid request to an endpoint. */
async function good(endpoint: Endpoint): Promise<GoodRequest> {
  if (endpoint.method !== 'GET') return catalog.good(endpoint.id);
  const needed = neededQuery[endpoint.id]?.join('&');
  return { path: needed ? `${endpoint.path}?${needed}` : endpoint.path };
}

/** Sends the sample request to an endpoint, with the given parts replaced. */
async function send(
  endpoint: Endpoint,
  given: Parameters<RestClient['call']>[2] & { path?: string } = {},
): Promise<RestAnswer> {
  const { path, body } = await good(endpoint);
  return catalog.rest.call(endpoint.method, given.path ?? path, { body, ...given });
}

/** Replaces every id and UMA address in a path or a body with one that does not exist. */
const unknownIn = (text: string) =>
  text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, uuid).replace(/%24[^?]+/, '%24nobody%40test.uma.money');

/** Requests that simulate a deposit for a deleted customer. */
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

/** The response to a request with an unknown query parameter. */
const unknownParameter = {
  code: 'INVALID_INPUT',
  details: { field: 'unknown', errors: [{ field: 'unknown', constraint: 'unknown' }] },
};

const mismatch = { code: 'IDEMPOTENCY_MISMATCH', details: { field: 'Idempotency-Key' } };

/** For each status, a function that provokes it from an endpoint that lists it. */
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
    const { path, body } = await good(endpoint);
    return catalog.rest.call(endpoint.method, unknownIn(path), {
      body: body && JSON.parse(unknownIn(JSON.stringify(body))),
    });
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

/** The statuses that have their own tests below, each of which covers every endpoint that lists the status. */
const inTrouble = [409, 500, 504];
/** Statuses of refusals that do not depend on the path; tested in test/http/rate-limits and test/http/overload. */
const early = [429, 503];

const naming = (status: number) => catalog.endpoints.filter(({ statuses }) => statuses.includes(status));

describe('the contract', () => {
  test('has a test for every status of every endpoint', () => {
    const named = new Set(catalog.endpoints.flatMap(({ statuses }) => statuses));
    expect([...named].sort()).toEqual([...Object.keys(provoke).map(Number), ...inTrouble, ...early].sort());
  });

  test.each(Object.keys(provoke).map(Number))('%i is returned by each endpoint that lists it', async (status) => {
    for (const endpoint of naming(status)) {
      const answer = await provoke[status]?.(endpoint);
      expect({ id: endpoint.id, ...answer }).toMatchObject({ id: endpoint.id, status });
      if (status === 400) expect(answer?.body).toMatchObject(unknownParameter);
      if (status === 404) expect(answer?.body.code).toMatch(/_NOT_FOUND$/);
      if (status === 422) expect(answer?.body).toMatchObject(mismatch);
      if (status >= 400) expect(answer?.body).toMatchObject({ status, details: { reason: expect.any(String) } });
    }
  });

  test('409 is returned by each command whose key is still in use, and for a UMA domain that is taken', async () => {
    const { t, rest, other } = catalog;
    const holder = await t.owner.connect();
    await holder.query('begin');
    // Holds the locks that a running call would hold. Some commands lock their key, and others insert it.
    for (const text of [
      `select pg_advisory_xact_lock(hashtextextended($1::uuid::text || operation || ' held', 0)) from unnest($2::text[]) operation`,
      `insert into idempotency_record (platform_id, operation, key, request_hash) select $1, operation, 'held', '\\x00' from unnest($2::text[]) operation`,
    ])
      await holder.query(text, [t.platform.platformId, Object.keys(operations)]);
    const commands = naming(409).filter(({ keyed }) => keyed);
    // Sends only a few at a time, because each holds a connection while it waits.
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
    holder.release();

    expect(naming(409).filter(({ keyed }) => !keyed)).toMatchObject([{ id: 'updateConfig' }]);
    const { umaDomain } = await other.ask('GET', '/config');
    await rest.ask('PATCH', '/config', { umaDomain }, 409);
  }, 60_000);

  test('500 is returned by each endpoint when the database fails, without details of the failure', async () => {
    const t = await ownGateway();
    const rest = await restClient(t.url, t.platform.authorization);
    await t.owner.query('alter table api_token rename to api_token_gone');
    for (const { id, method, path } of naming(500)) {
      const answer = await rest.call(method, path);
      expect({ id, ...answer }).toMatchObject({ id, status: 500, body: { code: 'INTERNAL_ERROR' } });
      expect(answer.text).not.toMatch(/api_token|relation|postgres/i);
    }
    await t.owner.query('alter table api_token_gone rename to api_token');
  });

  test('504 is returned by each endpoint if the response to its commit is lost, with a code saying that the outcome is unknown', async () => {
    const proxy = await databaseProxy(catalog.t.databaseUrl);
    // This gateway does no background work.
    const serving = await startTestGateway({ ROLE: 'serve' }, proxy.url);
    const rest = await restClient(serving.url, catalog.t.platform.authorization);
    const lose = async (endpoint: Endpoint): Promise<object> => {
      const { path, body } = await good(endpoint);
      proxy.loseAnswer(anyCommit);
      const answer = await rest.call(endpoint.method, path, { body });
      // If the lost response was about recording the token's use, the request succeeds, so another one is sent.
      return answer.status < 300 ? lose(endpoint) : answer;
    };
    for (const endpoint of naming(504))
      expect({ id: endpoint.id, ...(await lose(endpoint)) }).toMatchObject({
        status: 504,
        body: { code: 'OUTCOME_UNKNOWN' },
      });
    await serving.stop();
    await proxy.close();
  });
});
