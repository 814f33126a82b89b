import { describe, expect, test } from 'vitest';
import { between, went } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient, usAccount } from '../setup/rest.ts';

/** Tests the parts of the specification that no other test covers, by section (for the rest, see docs/coverage.md). */

const t = await testGateway();

describe('section 2', () => {
  test('2.3 a new quote is PENDING for five minutes, with fees, rate details and its one transaction', async () => {
    const scene = await t.platform.makeScene();
    const { quote: made } = await t.platform.act(
      'createQuote',
      between(scene.usd, scene.outsideEur, 10_000),
      `quote { id status createdAt expiresAt feesIncluded { amount currency { code } } exchangeRate
        sendingCurrency { code decimals } receivingCurrency { code decimals } paymentInstructions { __typename }
        rateDetails { counterpartyMultiplier counterpartyFixedFee { amount } serviceApiMultiplier
          serviceApiFixedFee { amount } serviceApiVariableFeeRate serviceApiVariableFeeAmount { amount } }
        transaction { id type status quote { id } } }`,
    );
    const id = expect.stringMatching(/^Transaction:[0-9a-f-]{36}$/);
    expect(made).toMatchObject({
      id: expect.stringMatching(/^Quote:[0-9a-f-]{36}$/),
      status: 'PENDING',
      sendingCurrency: { code: 'USD', decimals: 2 },
      receivingCurrency: { code: 'EUR', decimals: 2 },
      feesIncluded: { currency: { code: 'USD' } },
      paymentInstructions: [],
      transaction: { id, type: 'OUTGOING', status: 'PENDING', quote: { id: made.id } },
    });
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(300_000);
    expect(BigInt(made.feesIncluded.amount)).toBeGreaterThanOrEqual(0n);
    expect(Object.values(made.rateDetails)).not.toContain(null);
  });

  test('2.6 a transaction has its reference and its customer from the start, and settledAt once it is delivered', async () => {
    const scene = await t.platform.makeScene();
    const rest = { description: 'rent', sandboxScenario: { delayMs: 200 } };
    const { id } = await t.platform.transfer('transferOut', scene, 12_550, rest);
    const fields = `type status settledAt createdAt updatedAt description reconciliationReference customer { id }
      sentAmount { decimal } receivedAmount { decimal } failureReason refund { reference }`;
    const open = await t.platform.fieldsOf('transaction', id, fields);
    expect(open).toMatchObject({
      type: 'OUTGOING',
      reconciliationReference: expect.stringMatching(/^PAY-/),
      customer: { id: scene.customerId },
      sentAmount: { decimal: '125.50' },
      receivedAmount: { decimal: '125.50' },
      description: 'rent',
    });
    await t.platform.ended(id);
    const done = await t.platform.fieldsOf('transaction', id, fields);
    expect(done).toEqual({ ...open, status: 'COMPLETED', settledAt: done.updatedAt, updatedAt: done.updatedAt });
    expect(Date.parse(done.settledAt)).toBeGreaterThan(Date.parse(open.createdAt));
  });
});

test('4.10 the platform’s own external accounts are returned in one list without paging, filtered by currency', async () => {
  const rest = await restClient(t.url, (await t.newPlatform('owner')).authorization);
  const own = await rest.make('/platform/external-accounts', { currency: 'USD', accountInfo: usAccount() });
  expect(own.customerId).toBeNull();
  expect(await rest.ask('GET', '/platform/external-accounts?currency=USD')).toEqual({ data: [own] });
  expect(await rest.ask('GET', '/platform/external-accounts?currency=EUR')).toEqual({ data: [] });
});

test('6 a UMA payment has an OUTGOING_PAYMENT event for every status, including its final one', async () => {
  const scene = await t.platform.makeScene();
  const made = await t.platform.umaQuote(scene.usd, '$success.usd@sandbox.uma.money');
  await t.platform.execute(made.id);
  const transactionId = made.transaction.id;
  await t.platform.ended(transactionId);
  const { events, transaction } = await t.platform.ask(
    `query ($transactionId: ID!) {
       events(filter: { transactionId: $transactionId, types: [OUTGOING_PAYMENT] }) { edges { node { cursor } } }
       transaction(id: $transactionId) { timeline { cursor status } } }`,
    { transactionId },
  );
  const { timeline } = transaction;
  expect(timeline).toMatchObject(went('PENDING', 'PROCESSING', 'COMPLETED'));
  expect(events.edges.map((edge: Data) => edge.node.cursor)).toEqual(timeline.map((event: Data) => event.cursor));
});
