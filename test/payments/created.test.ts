import { describe, expect, test } from 'vitest';
import {
  actOn,
  announce,
  between,
  ended,
  feedEnd,
  fieldsOf,
  followed,
  quote,
  refusal,
  transactionOf,
  transfer,
  usdToEur,
  went,
} from '../setup/acts.ts';
import { type TestGateway, testGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene } from '../setup/scene.ts';

const t = await testGateway({ SANDBOX_QUOTE_SECONDS: 600 });
const brief = await testGateway({ SANDBOX_QUOTE_SECONDS: 1 });

/** Makes a sender look up a new customer. The scenario determines when the pay request follows. */
async function lookedUp(sandboxScenario: object, gateway: TestGateway = t) {
  const scene = await makeScene(gateway.platform, 0n);
  const after = await feedEnd(gateway.platform);
  const more = { sandboxScenario: { step: 'PAY_REQUEST', ...sandboxScenario } };
  const transaction = await announce(gateway.platform, scene.customerId, 5_000, more);
  return { scene, transaction, after };
}

/** Returns the events of a payment up to the event with this status. */
const told = (after: string, id: string, last: string) =>
  followed(
    t.platform,
    `subscription ($after: String, $id: ID!) { transactionUpdates(after: $after, of: { transactionId: $id }) {
       previousStatus status terminal transaction { type approvalDueAt reconciliationReference } } }`,
    { after, id },
    ({ status }) => status === last,
  );

describe('an incoming UMA payment whose sender has only looked up the receiver', () => {
  test('2.6 is CREATED without a reference, and no approval is requested yet', async () => {
    const { transaction, scene } = await lookedUp({ delayMs: 600_000 });
    expect(transaction).toMatchObject({ status: 'CREATED', approvalDueAt: null });
    const waiting = { type: 'INCOMING', reconciliationReference: null, timeline: went('CREATED'), ledgerEntries: [] };
    expect(await transactionOf(t.platform, transaction.id)).toMatchObject({ status: 'CREATED', ...waiting });
    const refused = await actOn(t.platform, 'approveTransaction', { transactionId: transaction.id });
    const message = 'the sender has not sent the pay request yet';
    expect(refused).toMatchObject({ code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', message });
    expect(await balanceOf(t.platform, scene.usd)).toBe(0n);
  });

  test('3.2 becomes PENDING when the pay request arrives, and only then do its five seconds begin', async () => {
    const { transaction, scene, after } = await lookedUp({ delayMs: 300 });
    expect(transaction.status).toBe('CREATED');
    const events = await told(after, transaction.id, 'PENDING');
    const created = { approvalDueAt: null, reconciliationReference: null };
    const pending = { type: 'INCOMING', reconciliationReference: expect.stringMatching(/./) };
    expect(events).toMatchObject([
      { previousStatus: null, status: 'CREATED', terminal: false, transaction: created },
      { previousStatus: 'CREATED', status: 'PENDING', transaction: pending },
    ]);
    const moments = 'createdAt updatedAt approvalDueAt';
    const { createdAt, approvalDueAt, updatedAt } = await fieldsOf(t.platform, 'transaction', transaction.id, moments);
    expect(Date.parse(updatedAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(300);
    const left = Date.parse(approvalDueAt) - Date.parse(updatedAt);
    // One statement reads the clock twice, once for each timestamp.
    expect(left).toBeGreaterThan(3_000);
    expect(left).toBeLessThanOrEqual(5_000);
    await actOn(t.platform, 'approveTransaction', { transactionId: transaction.id });
    const timeline = went('CREATED', 'PENDING', 'PROCESSING', 'COMPLETED');
    expect(await ended(t.platform, transaction.id)).toMatchObject({ status: 'COMPLETED', timeline });
    expect(await balanceOf(t.platform, scene.usd)).toBe(5_000n);
  });

  test.each(['LNURLP_FAILED', 'PAY_REQUEST_FAILED'])(
    '3.2 becomes FAILED with %s when it fails',
    async (failureReason) => {
      const { transaction, scene } = await lookedUp({ failureReason, delayMs: 50 });
      expect(transaction.status).toBe('CREATED');
      const failed = { status: 'FAILED', failureReason, timeline: went('CREATED', 'FAILED'), ledgerEntries: [] };
      expect(await ended(t.platform, transaction.id)).toMatchObject(failed);
      expect(await balanceOf(t.platform, scene.usd)).toBe(0n);
    },
  );

  test('3.2 becomes EXPIRED when no pay request arrives within the lifetime of a quote', async () => {
    const { transaction } = await lookedUp({ delayMs: 3_600_000 }, brief);
    const expired = { status: 'EXPIRED', timeline: went('CREATED', 'EXPIRED'), ledgerEntries: [] };
    expect(await ended(brief.platform, transaction.id)).toMatchObject(expired);
  });
});

describe('the step of a scenario', () => {
  test('PULL makes the collection for a quote paid from outside fail or wait, and the payout proceeds as usual', async () => {
    const scene = await makeScene(t.platform, 0n);
    const made = (scenario: object) => {
      const rest = { immediatelyExecute: true, sandboxScenario: { step: 'PULL', ...scenario } };
      return quote(t.platform, between(scene.outsideUsd, scene.outsideEur, 10_000, rest));
    };
    const failed = await made({ failureReason: 'QUOTE_EXECUTION_FAILED' });
    const nothing = { status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED', refund: null, ledgerEntries: [] };
    expect(await ended(t.platform, failed.transaction.id)).toMatchObject(nothing);
    const slow = await made({ delayMs: 250 });
    expect(await ended(t.platform, slow.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('is refused if the payment has no such step, or if the field belongs to the settlement', async () => {
    const scene = await makeScene(t.platform, 50_000n);
    const out = (sandboxScenario: object) => transfer(t.platform, 'transferOut', scene, 100, { sandboxScenario });
    const refused = { code: 'INVALID_INPUT', path: ['sandboxScenario', 'step'] };
    for (const step of ['PAY_REQUEST', 'PULL']) expect(await out({ step })).toMatchObject(refused);
    const inside = usdToEur(scene, { sandboxScenario: { step: 'PULL', delayMs: 1 } });
    expect(await quote(t.platform, inside)).toMatchObject(refused);
    const { id } = await out({ step: 'SETTLEMENT', failureReason: 'OFFRAMP_FAILED' });
    expect(await ended(t.platform, id)).toMatchObject({ failureReason: 'OFFRAMP_FAILED' });
    const sandboxScenario = { step: 'PAY_REQUEST', reject: true };
    const receive = await announce(t.platform, scene.customerId, 5_000, { sandboxScenario });
    expect(receive).toMatchObject(refusal('INVALID_INPUT', 'sandboxScenario', 'reject'));
  });
});
