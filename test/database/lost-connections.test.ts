import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { moving, usdToEur } from '../setup/acts.ts';
import { commit, planWithKey, testProxy } from '../setup/database-proxy.ts';
import { mutationDocument, mutationVariables } from '../setup/documents.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient, restTransfer } from '../setup/rest.ts';

const { proxy } = await testProxy();
const t = await testGateway({}, proxy.url, { pace: { statementMs: 500 } });
const platform = await t.newPlatform('cut-off');
const scene = await platform.makeScene(1_000_000n);
beforeEach(() => proxy.reopen());
afterAll(() => proxy.reopen());

const rest = await restClient(t.url, platform.authorization);

const transfer = (idempotencyKey: string, selection = 'transaction { id status }', by = platform) =>
  by.act('transferOut', moving(scene.usd, scene.outsideUsd, 100, { idempotencyKey }), selection);

/** Makes a REST transfer whose response is lost, and repeats it. */
async function isLostAndReplayed(key: string): Promise<void> {
  const body = restTransfer(scene.usd, scene.outsideUsd, 100);
  const lost = await rest.call('POST', '/transfer-out', { body, key });
  expect(lost).toMatchObject({ status: 504, body: { code: 'OUTCOME_UNKNOWN' } });
  proxy.reopen();
  const { status, headers } = await rest.call('POST', '/transfer-out', { body, key });
  expect([status, headers.get('idempotency-replayed')]).toEqual([201, 'true']);
}

async function askUntilAnswered(query: string): Promise<Data> {
  for (;;) {
    const { data, errors } = await platform.send(query);
    if (!errors) return data;
    expect(errors[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
  }
}

test('silent connections are dropped, and the service and its streams recover', async () => {
  const made = await platform.quote(usdToEur(scene));
  // Silences all connections: the pool's, the listener's and the sequencer's.
  const { pool } = t.gateway.serving;
  const all = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  for (const client of all) client.release();
  const frozen = proxy.freeze();
  expect(frozen).toBeGreaterThanOrEqual(12);
  await askUntilAnswered('{ customers { edges { node { id } } } }');
  // No request waits for another silent connection, because the idle ones were closed along with the first.
  await vi.waitFor(() => expect(proxy.givenUp).toBeGreaterThanOrEqual(10), 60_000);
  await Promise.all(Array.from({ length: 20 }, () => platform.ask('{ customers { edges { node { id } } } }')));

  await platform.execute(made.id);
  expect(await platform.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  expect(proxy.givenUp).toBeGreaterThan(frozen - 3);
});

describe('a command whose response from the database is lost in transit', () => {
  test('has an unknown outcome, which its receipt or a repeated request reveals', async () => {
    const before = await platform.balanceOf(scene.usd);
    proxy.loseAnswer(planWithKey('lost-1'));
    expect(await transfer('lost-1')).toMatchObject({ __typename: 'OutcomeUnknownError', code: 'OUTCOME_UNKNOWN' });
    expect(await platform.receiptOf('transferOut', 'lost-1')).toMatchObject({ outcome: 'SUCCEEDED', code: null });
    expect(await transfer('lost-1')).toMatchObject({ replayed: true, transaction: { status: 'PENDING' } });
    expect(await platform.balanceOf(scene.usd)).toBe(before - 100n);
  });

  test('returns 504 over REST, even for plain records', async () => {
    proxy.loseAnswer(planWithKey('lost-2'));
    await isLostAndReplayed('lost-2');

    const endpoint = { url: 'http://127.0.0.1:9/hook', idempotencyKey: 'lost-3' };
    proxy.loseAnswer(commit);
    expect(await platform.act('createWebhookEndpoint', endpoint, 'endpoint { id }')).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(await platform.receiptOf('createWebhookEndpoint', 'lost-3')).toMatchObject({ outcome: 'SUCCEEDED' });
  });

  test('has an unknown outcome even if only reading its result fails', async () => {
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

    proxy.loseAnswer(planWithKey('partly-2'), true);
    await isLostAndReplayed('partly-2');
  });
});

test('while the database is unreachable, a receipt does not claim that nothing was executed', async () => {
  await transfer('happened');
  proxy.shut();
  const { data, errors } = await platform.send(
    '{ viewer { kind } mutationReceipt(operation: TRANSFER_OUT, idempotencyKey: "happened") { outcome } }',
  );
  expect(errors?.[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
  expect(data?.mutationReceipt ?? null).toBeNull();
  proxy.reopen();
  expect(await platform.receiptOf('transferOut', 'happened')).toMatchObject({ outcome: 'SUCCEEDED' });
});
