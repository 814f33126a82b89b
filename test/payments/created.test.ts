import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actOn, ended, feedEnd, quote, transactionOf } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene } from '../setup/scene.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_QUOTE_SECONDS: 600 });
});
afterAll(() => t.stop());

/** Lets a sender look a new customer up, and its pay request go the way of the scenario. */
async function lookedUp(sandboxScenario: object, gateway: TestGateway = t) {
  const scene = await makeScene(gateway.platform, 0n);
  const after = await feedEnd(gateway.platform);
  const { transaction } = await actOn(gateway.platform, 'sandboxReceiveUma', {
    senderUmaAddress: '$success.usd@sandbox.uma.money',
    customerId: scene.customerId,
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 5_000,
    sandboxScenario: { step: 'PAY_REQUEST', ...sandboxScenario },
  });
  return { scene, transaction, after };
}

/** What the feed tells of a payment until it has this status. */
async function told(after: string, id: string, status: string): Promise<Data[]> {
  const updates: Data[] = [];
  const stream = t.platform.watch(
    `subscription ($after: String, $id: ID!) { transactionUpdates(after: $after, transactionId: $id) {
       previousStatus status terminal transaction { type approvalDueAt reconciliationReference } } }`,
    { after, id },
  );
  for await (const { data, errors } of stream) {
    if (errors) throw new Error(JSON.stringify(errors));
    updates.push(data.transactionUpdates);
    if (data.transactionUpdates.status === status) break;
  }
  return updates;
}

describe('an incoming UMA payment whose sender has only looked the receiver up', () => {
  test('2.6 is CREATED without a reference, and nobody is asked to approve it yet', async () => {
    const { transaction, scene } = await lookedUp({ delayMs: 600_000 });
    expect(transaction).toMatchObject({ status: 'CREATED', approvalDueAt: null });
    expect(await transactionOf(t.platform, transaction.id)).toMatchObject({
      status: 'CREATED',
      type: 'INCOMING',
      reconciliationReference: null,
      timeline: [{ status: 'CREATED' }],
      ledgerEntries: [],
    });
    const refused = await actOn(t.platform, 'approveTransaction', { transactionId: transaction.id });
    expect(refused).toMatchObject({
      code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
      message: 'its sender has not asked to pay yet',
    });
    expect(await balanceOf(t.platform, scene.usd)).toBe(0n);
  });

  test('3.2 CREATED becomes PENDING when the pay request comes; only then its five seconds begin', async () => {
    const { transaction, scene, after } = await lookedUp({ delayMs: 300 });
    expect(transaction.status).toBe('CREATED');
    const events = await told(after, transaction.id, 'PENDING');
    expect(events).toMatchObject([
      { previousStatus: null, status: 'CREATED', terminal: false, transaction: { approvalDueAt: null } },
      { previousStatus: 'CREATED', status: 'PENDING', transaction: { type: 'INCOMING' } },
    ]);
    expect(events.map(({ transaction: { reconciliationReference } }) => reconciliationReference)).toEqual([
      null,
      expect.stringMatching(/./),
    ]);
    const { createdAt, approvalDueAt, updatedAt } = (
      await t.platform.ask('query ($id: ID!) { transaction(id: $id) { createdAt updatedAt approvalDueAt } }', {
        id: transaction.id,
      })
    ).transaction;
    expect(Date.parse(updatedAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(300);
    const left = Date.parse(approvalDueAt) - Date.parse(updatedAt);
    expect(left).toBeGreaterThan(4_900);
    expect(left).toBeLessThan(5_100);
    await actOn(t.platform, 'approveTransaction', { transactionId: transaction.id });
    expect(await ended(t.platform, transaction.id)).toMatchObject({
      status: 'COMPLETED',
      timeline: ['CREATED', 'PENDING', 'PROCESSING', 'COMPLETED'].map((status) => ({ status })),
    });
    expect(await balanceOf(t.platform, scene.usd)).toBe(5_000n);
  });

  test.each(['LNURLP_FAILED', 'PAY_REQUEST_FAILED'])(
    '3.2 CREATED becomes FAILED with %s when it fails',
    async (failureReason) => {
      const { transaction, scene } = await lookedUp({ failureReason, delayMs: 50 });
      expect(transaction.status).toBe('CREATED');
      expect(await ended(t.platform, transaction.id)).toMatchObject({
        status: 'FAILED',
        failureReason,
        timeline: [{ status: 'CREATED' }, { status: 'FAILED' }],
        ledgerEntries: [],
      });
      expect(await balanceOf(t.platform, scene.usd)).toBe(0n);
    },
  );

  test('3.2 CREATED becomes EXPIRED when the pay request does not come within the life of a quote', async () => {
    const brief = await startTestGateway({ SANDBOX_QUOTE_SECONDS: 1 });
    try {
      const { transaction } = await lookedUp({ delayMs: 3_600_000 }, brief);
      const expired = await ended(brief.platform, transaction.id);
      expect(expired).toMatchObject({ status: 'EXPIRED', timeline: [{ status: 'CREATED' }, { status: 'EXPIRED' }] });
      expect(expired.ledgerEntries).toEqual([]);
    } finally {
      await brief.stop();
    }
  });

  test('is PENDING at once where nothing else is asked', async () => {
    const scene = await makeScene(t.platform, 0n);
    const { transaction } = await actOn(t.platform, 'sandboxReceiveUma', {
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      customerId: scene.customerId,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 5_000,
    });
    expect(await transactionOf(t.platform, transaction.id)).toMatchObject({
      status: 'PENDING',
      timeline: [{ status: 'PENDING' }],
    });
  });
});

describe('the step of a scenario', () => {
  test('PULL fails or delays the collection of a quote paid from outside, and its payout goes as usual', async () => {
    const scene = await makeScene(t.platform, 0n);
    const made = (sandboxScenario: object) =>
      quote(t.platform, {
        source: { account: { accountId: scene.outsideUsd } },
        destination: { account: { accountId: scene.outsideEur } },
        lockedCurrencyAmount: 10_000,
        immediatelyExecute: true,
        sandboxScenario: { step: 'PULL', ...sandboxScenario },
      });
    const failed = await made({ failureReason: 'QUOTE_EXECUTION_FAILED' });
    expect(await ended(t.platform, failed.transaction.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'QUOTE_EXECUTION_FAILED',
      refund: null,
      ledgerEntries: [],
    });
    const slow = await made({ delayMs: 250 });
    const done = await ended(t.platform, slow.transaction.id);
    expect(done.status).toBe('COMPLETED');
  });

  test('is refused where the payment has none, or where the field is of the settlement', async () => {
    const scene = await makeScene(t.platform, 50_000n);
    const out = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 };
    for (const step of ['PAY_REQUEST', 'PULL']) {
      expect(await actOn(t.platform, 'transferOut', { ...out, sandboxScenario: { step } })).toMatchObject({
        code: 'INVALID_INPUT',
        path: ['sandboxScenario', 'step'],
      });
    }
    const inside = await quote(t.platform, {
      source: { account: { accountId: scene.usd } },
      destination: { account: { accountId: scene.outsideEur } },
      lockedCurrencyAmount: 10_000,
      sandboxScenario: { step: 'PULL', delayMs: 1 },
    });
    expect(inside).toMatchObject({ code: 'INVALID_INPUT', path: ['sandboxScenario', 'step'] });
    const { transaction } = await actOn(t.platform, 'transferOut', {
      ...out,
      sandboxScenario: { step: 'SETTLEMENT', failureReason: 'OFFRAMP_FAILED' },
    });
    expect(await ended(t.platform, transaction.id)).toMatchObject({ failureReason: 'OFFRAMP_FAILED' });
    const receive = await actOn(t.platform, 'sandboxReceiveUma', {
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      customerId: scene.customerId,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 5_000,
      sandboxScenario: { step: 'PAY_REQUEST', reject: true },
    });
    expect(receive).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'sandboxScenario', 'reject'] });
  });
});
