import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { act, ended } from '../setup/acts.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { choices, documentOf, lists } from '../setup/random-documents.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
let scene: Scene;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 0 });
  scene = await makeScene(t.platform, 1_000_000n);
  for (let i = 0; i < 3; i++) {
    const { transaction } = await act(
      t.platform,
      'transferOut',
      { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 + i },
      'transaction { id }',
    );
    await ended(t.platform, transaction.id);
    const { quote } = await act(
      t.platform,
      'createQuote',
      {
        source: { account: { accountId: scene.usd } },
        destination: { account: { accountId: scene.outsideEur } },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: 1000,
        immediatelyExecute: i > 0,
      },
      'quote { id transaction { id } }',
    );
    if (i > 0) await ended(t.platform, quote.transaction.id);
  }
});
afterAll(() => t.stop());

const docs = [
  '{ transactions(first: 2) { edges { cursor node { id __typename status type version terminal sentAmount { amount currency { code name symbol decimals } decimal formatted f: formatted(locale: "de") } receivedAmount { amount } source { __typename ... on AccountSource { accountId account { id currency { code } } } } destination { ... on AccountDestination { accountId account { ... on ExternalAccount { status accountInfo { __typename ... on UsAccountInfo { accountNumber accountType } } beneficiary { ... on IndividualBeneficiary { fullName birthDate address { line1 } } } } } } } customer { id name details { __typename ... on IndividualDetails { fullName birthDate address { line1 } } } } exchangeRate fees { decimal } rateDetails { counterpartyMultiplier serviceApiFixedFee } failureReason refund { reference } reconciliationReference counterpartyInformation { name value } description createdAt updatedAt settledAt expectedSettlementAt approvalDueAt requestedReceiverInformation { name } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }',
  '{ quotes(last: 2) { edges { node { id status source { __typename ... on AccountSource { accountId } } destination { __typename } sendingCurrency { code } receivingCurrency { code } totalSendingAmount { amount } exchangeRate feesIncluded { amount } rateDetails { counterpartyMultiplier } pricingSteps { step value } lockedCurrencySide paymentInstructions { __typename } customer { id } transaction { id status timeline { status reason terminal occurredAt cursor } ledgerEntries { id amount { amount } account { id balance { formatted } } system occurredAt } } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
  '{ customers(first: 5) { totalCount edges { node { id platformCustomerId customerType umaAddress kycStatus isDeleted version createdAt accounts(first: 3) { totalCount edges { cursor node { __typename id currency { code } ... on InternalAccount { balance { amount } totalBalance { amount } fundingPaymentInstructions { __typename ... on UsAccountInstruction { accountNumber reference accountType } } } ... on ExternalAccount { status statusReason beneficiaryVerificationStatus beneficiaryVerifiedData { fullName } } } } pageInfo { hasNextPage } } a: accounts(last: 2, filter: { kind: EXTERNAL }) { edges { node { id } } } transactions(first: 2) { edges { node { id } } totalCount } quotes { edges { node { id } } } } } } }',
  '{ accounts(first: 100, filter: { kind: INTERNAL }) { totalCount edges { node { id ... on InternalAccount { version balance { decimal formatted } } customer { id } } } } }',
  '{ transactions(first: 1) { totalCount } }',
];
test.each(docs)('%s', async (query) => {
  process.env.PLAN_ERRORS = '1';
  process.env.PLANS = 'off';
  const before = await t.platform.send(query);
  process.env.PLANS = 'on';
  t.statements.length = 0;
  const after = await t.platform.send(query);
  expect(before.errors).toBeUndefined();
  expect(after).toEqual(before);
  expect(t.statements).toHaveLength(1);
  expect(t.statements[0]).toContain('concat(');
});

test('random documents', { timeout: 600_000 }, async () => {
  process.env.PLAN_ERRORS = '1';
  let planned = 0;
  let all = 0;
  const resolved: string[] = [];
  await fc.assert(
    fc.asyncProperty(
      choices.map((chosen) => documentOf(chosen, lists, true)),
      async (query) => {
        process.env.PLANS = 'off';
        const before = await t.platform.send(query);
        process.env.PLANS = 'on';
        t.statements.length = 0;
        const after = await t.platform.send(query);
        all += 1;
        expect(after).toEqual(before);
        if (t.statements.some((sql) => sql.includes('concat('))) planned += 1;
        else if (!before.errors) resolved.push(query);
      },
    ),
    { numRuns: 1500 },
  );
  console.log(all, planned, resolved.slice(0, 3));
});
