import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { act, ended, execute, moving, quote, receiptOf, usdToEur } from '../setup/acts.ts';
import { commit, planWithKey, testProxy } from '../setup/database-proxy.ts';
import { mutationDocument, mutationVariables } from '../setup/documents.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene, withNewCredentials } from '../setup/scene.ts';

const { proxy } = await testProxy();
const t = await testGateway({}, proxy.url, { pace: { statementMs: 500 } });
const platform = await t.newPlatform('cut-off');
const scene = await makeScene(platform, 1_000_000n);
beforeEach(() => proxy.reopen());
afterAll(() => proxy.reopen());

const rest = (method: string, path: string, body?: object, key?: string) =>
  fetch(`${t.url}/2025-10-13${path}`, {
    method,
    headers: {
      authorization: platform.authorization,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).then(async (response) => ({
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    replayed: response.headers.get('idempotency-replayed'),
    body: (await response.json()) as Data,
  }));

const transfer = (idempotencyKey: string, selection = 'transaction { id status }', by = platform) =>
  act(by, 'transferOut', moving(scene.usd, scene.outsideUsd, 100, { idempotencyKey }), selection);

async function askUntilAnswered(query: string): Promise<Data> {
  for (;;) {
    const { data, errors } = await platform.send(query);
    if (!errors) return data;
    expect(errors[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
  }
}

describe('silent connections', () => {
  test('are dropped, and the service and its streams recover', async () => {
    const made = await quote(platform, usdToEur(scene));
    // Silences all connections: the pool's, the listener's and the sequencer's.
    const { pool } = t.gateway.serving;
    const all = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    for (const client of all) client.release();
    const frozen = proxy.freeze();
    expect(frozen).toBeGreaterThanOrEqual(12);
    await askUntilAnswered('{ customers { edges { node { id } } } }');
    // No request has to wait for a second silent connection, because the idle connections were closed along with the
    // first.
    await vi.waitFor(() => expect(proxy.givenUp).toBeGreaterThanOrEqual(10), 60_000);
    await Promise.all(Array.from({ length: 20 }, () => platform.ask('{ customers { edges { node { id } } } }')));

    await execute(platform, made.id);
    expect(await ended(platform, made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
    expect(proxy.givenUp).toBeGreaterThan(frozen - 3);
  });
});

describe('a command whose response from the database is lost in transit', () => {
  test('has an unknown outcome, and says what to do; a repeated request returns the original result', async () => {
    const before = await balanceOf(platform, scene.usd);
    proxy.loseAnswer(planWithKey('lost-1'));
    expect(await transfer('lost-1')).toMatchObject({ __typename: 'OutcomeUnknownError', code: 'OUTCOME_UNKNOWN' });
    expect(await receiptOf(platform, 'transferOut', 'lost-1')).toMatchObject({ outcome: 'SUCCEEDED', code: null });
    expect(await transfer('lost-1')).toMatchObject({ replayed: true, transaction: { status: 'PENDING' } });
    expect(await balanceOf(platform, scene.usd)).toBe(before - 100n);
  });

  test('is 504 over REST, even for plain records', async () => {
    const body = { source: { accountId: scene.usd }, destination: { accountId: scene.outsideUsd }, amount: 100 };
    proxy.loseAnswer(planWithKey('lost-2'));
    expect(await rest('POST', '/transfer-out', body, 'lost-2')).toMatchObject({
      status: 504,
      body: { code: 'OUTCOME_UNKNOWN' },
    });
    expect(await rest('POST', '/transfer-out', body, 'lost-2')).toMatchObject({ status: 201, replayed: 'true' });

    const endpoint = { url: 'http://127.0.0.1:9/hook', idempotencyKey: 'lost-3' };
    proxy.loseAnswer(commit);
    expect(await act(platform, 'createWebhookEndpoint', endpoint, 'endpoint { id }')).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(await receiptOf(platform, 'createWebhookEndpoint', 'lost-3')).toMatchObject({ outcome: 'SUCCEEDED' });
  });

  test('is not reported as unexecuted when only part of its response is unreadable', async () => {
    const input = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 };
    proxy.loseAnswer(planWithKey('partly'), true);
    const answer = await platform.send(
      mutationDocument('transferOut', 'transaction { id ledgerEntries { amount { amount } } timeline { status } }'),
      mutationVariables('transferOut', { ...input, idempotencyKey: 'partly' }),
    );
    proxy.reopen();
    expect(answer.errors?.map(({ extensions }) => extensions.code)).toContain('OUTCOME_UNKNOWN');
    expect(answer.errors?.map(({ extensions }) => extensions.code)).not.toContain('SERVICE_UNAVAILABLE');
    expect(
      await askUntilAnswered('{ mutationReceipt(operation: TRANSFER_OUT, idempotencyKey: "partly") { outcome } }'),
    ).toEqual({ mutationReceipt: { outcome: 'SUCCEEDED' } });

    const body = { source: { accountId: scene.usd }, destination: { accountId: scene.outsideUsd }, amount: 100 };
    proxy.loseAnswer(planWithKey('partly-2'), true);
    expect(await rest('POST', '/transfer-out', body, 'partly-2')).toMatchObject({
      status: 504,
      body: { code: 'OUTCOME_UNKNOWN' },
    });
    proxy.reopen();
    expect(await rest('POST', '/transfer-out', body, 'partly-2')).toMatchObject({ status: 201, replayed: 'true' });
  });
});

describe('while the database is unreachable', () => {
  const query = '{ customers { edges { node { id } } } }';

  test('every API reports this, and says that nothing was executed and when to retry', async () => {
    await askUntilAnswered('{ viewer { kind } }');
    // These credentials are cached. Uncached credentials would have to be looked up.
    const remembered = await withNewCredentials(platform, t.url);
    proxy.shut();
    const stranger = `Basic ${Buffer.from('nobody:nothing').toString('base64')}`;
    const graphql = (authorization: string, accept: string, method: 'GET' | 'POST' = 'POST') =>
      fetch(`${t.url}/graphql${method === 'GET' ? `?query=${encodeURIComponent(query)}` : ''}`, {
        method,
        headers: { authorization, accept, ...(method === 'POST' && { 'content-type': 'application/json' }) },
        ...(method === 'POST' && { body: JSON.stringify({ query }) }),
      });
    const mutation = transfer('never', undefined, remembered);
    const answers = [
      graphql(remembered.authorization, 'application/json'),
      graphql(remembered.authorization, 'application/graphql-response+json'),
      graphql(stranger, 'application/json'),
      graphql(stranger, 'application/graphql-response+json'),
      graphql(stranger, 'application/json', 'GET'),
    ];
    for (const response of await Promise.all(answers)) {
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await response.text()).toContain('"SERVICE_UNAVAILABLE"');
    }
    // Clients of streams reconnect one after the other.
    const stream = await graphql(stranger, 'text/event-stream');
    expect([stream.status, stream.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
    expect(await stream.text()).toContain('"SERVICE_UNAVAILABLE"');
    expect(await (await graphql(remembered.authorization, 'text/event-stream')).text()).toContain(
      '"SERVICE_UNAVAILABLE"',
    );
    expect(await rest('GET', '/customers')).toMatchObject({
      status: 503,
      retryAfter: '1',
      body: { code: 'SERVICE_UNAVAILABLE' },
    });
    expect(await mutation).toMatchObject({ __typename: 'UnavailableError', code: 'SERVICE_UNAVAILABLE' });
  });

  test('a receipt does not claim that nothing was executed', async () => {
    await transfer('happened');
    proxy.shut();
    const { data, errors } = await platform.send(
      '{ viewer { kind } mutationReceipt(operation: TRANSFER_OUT, idempotencyKey: "happened") { outcome } }',
    );
    expect(errors?.[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
    expect(data?.mutationReceipt ?? null).toBeNull();
    proxy.reopen();
    expect(await receiptOf(platform, 'transferOut', 'happened')).toMatchObject({ outcome: 'SUCCEEDED' });
  });
});
