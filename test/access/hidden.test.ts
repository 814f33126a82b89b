import { describe, expect, test } from 'vitest';
import { deposit } from '../../src/domain/commands/movements.ts';
import { commitPlan } from '../../src/domain/ledger/commit.ts';
import { between } from '../setup/acts.ts';
import { type Data, setAccountStatus, type TestPlatform, testGateway, uuidIn } from '../setup/gateway.ts';
import { type Scene, usAccount } from '../setup/scene.ts';

/**
 * A token for a payment shows the payment, but not its customer. Hidden facts must not leak indirectly either, for
 * example through the wording of a refusal or a filter on a guessed value.
 */

const t = await testGateway();
const payer = await t.platform.makeScene(12_345n);
const payee = await t.platform.makeScene();

/** `appOf` creates an app that sees a quote and its transaction; `appOfCustomer` creates one that sees a customer. */
const appOf = (quoteId: string) => t.platform.payingApp({ quoteId });
const appOfCustomer = ({ customerId }: Scene) => t.platform.payingApp({ customerId });

const quoteFrom = (scene: Scene, destination: string, amount: bigint): Promise<Data> =>
  t.platform.quote(between(scene.usd, destination, amount));
const move = (accountId: string) => setAccountStatus(t, accountId, 'UNDER_REVIEW');

describe('a refusal sent to an app bound to a payment, or to a token without VIEW,', () => {
  test("reveals that the account's balance is too low, but not what it is", async () => {
    const { id } = await quoteFrom(payer, payer.outsideEur, 20_000n);
    expect((await t.platform.execute(id)).message).toContain('holds 123.45 USD');
    const refused = await (await appOf(id)).execute(id);
    expect(refused).toMatchObject({ code: 'INSUFFICIENT_BALANCE', path: ['input', 'quoteId'] });
    expect(refused.message).not.toMatch(/\d/);
  });

  test('reveals that a customer cannot move money, but neither which customer nor why', async () => {
    const other = await t.platform.makeScene();
    const { id } = await quoteFrom(payer, other.usd, 1_000n);
    const details = { individual: { fullName: 'Grace Hopper 002' } };
    await t.platform.act('updateCustomer', { customerId: other.customerId, details }, 'customer { kycStatus }');
    expect((await t.platform.execute(id)).message).toContain('KYC is REJECTED');
    for (const by of [await appOf(id), await t.platform.serverOf('TRANSACT')]) {
      const refused = await by.execute(id);
      expect(refused).toMatchObject({ code: 'USER_NOT_READY', path: ['input', 'quoteId'] });
      expect(refused.message).not.toMatch(/KYC|REJECTED|deleted/);
    }
  });

  test('reveals that an external account cannot be used, but not its status', async () => {
    const other = await t.platform.makeScene();
    const { id } = await quoteFrom(payer, other.outsideUsd, 1_000n);
    await move(other.outsideUsd);
    expect((await t.platform.execute(id)).message).toContain('UNDER_REVIEW');
    for (const by of [await appOf(id), await appOfCustomer(payer), await t.platform.serverOf('TRANSACT')]) {
      const refused = await by.execute(id);
      expect(refused).toMatchObject({ code: 'INVALID_BANK_ACCOUNT', path: ['input', 'quoteId'] });
      expect(refused.message).not.toContain('UNDER_REVIEW');
    }
    // The owner of the account may see its status.
    const paying = await quoteFrom(payer, payer.outsideUsd, 1_000n);
    await move(payer.outsideUsd);
    expect((await (await appOfCustomer(payer)).execute(paying.id)).message).toContain('UNDER_REVIEW');
    expect((await (await appOf(paying.id)).execute(paying.id)).message).not.toContain('UNDER_REVIEW');
  });

  test('reveals that an account is full, but not which one', async () => {
    const usdc = await t.platform.internalAccount(payee.customerId, 'USDC');
    const funded = await t.platform.quote({
      source: { realtimeFunding: { customerId: payee.customerId, currency: 'USDC' } },
      destination: { account: { accountId: payee.outsideUsd } },
      lockedCurrencyAmount: 10_000_000n,
    });
    const { platformId } = t.platform;
    const full = deposit(uuidIn(usdc), 'USDC', 9_000_000_000_000_000n);
    expect((await commitPlan(t.gateway.payments.database, platformId, { journals: [full] })).kind).toBe('done');
    const pay = (by: TestPlatform) =>
      by.act('sandboxSend', { quoteId: funded.id, currency: 'USDC' }, 'transaction { id }');
    expect((await pay(t.platform)).message).toContain(usdc);
    const refused = await pay(await appOf(funded.id));
    expect(refused).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE', path: ['input', 'quoteId'] });
    expect(refused.message).not.toContain(uuidIn(usdc));
  });
});

test("an app bound to a payment sees that the money goes elsewhere, but not the deposit account's status", async () => {
  const { customerId, usd } = await t.platform.makeScene();
  const rest = { defaultUmaDepositAccount: true };
  const made = await t.platform.externalAccount(customerId, 'USD', usAccount('987654100'), rest);
  const { id: transactionId } = await t.platform.announce(customerId, 100);
  await move(made);
  await t.platform.act('approveTransaction', { transactionId }, 'transaction { id }');
  const app = await t.platform.appOf({ transactionId, permissions: ['VIEW'] });
  const read = 'destination { ... on AccountDestination { accountId } } timeline { reason }';
  const seen = await app.fieldsOf('transaction', transactionId, read);
  expect(seen.destination.accountId).toBe(usd);
  const reasons = seen.timeline.map(({ reason }: Data) => reason);
  expect(reasons).toContain('approved by the platform; the money goes to the internal account');
  expect(reasons.join()).not.toMatch(/UNDER_REVIEW|ACTIVE/);
});

describe('a filter used by an app bound to a payment', async () => {
  const app = await appOf((await quoteFrom(payer, payer.outsideEur, 1_000n)).id);
  const owner = await t.platform.fieldsOf('customer', payer.customerId, 'id umaAddress platformCustomerId');

  async function found(by: TestPlatform, list: string, filter: object): Promise<number> {
    const type = { quotes: 'QuoteFilter', transactions: 'TransactionFilter', events: 'EventFilter' }[list];
    const query = `query ($filter: ${type}) { list: ${list}(filter: $filter) { totalCount } }`;
    return (await by.ask(query, { filter })).list.totalCount;
  }

  test.each([
    ['quotes', 'customerId', owner.id],
    ['quotes', 'sendingUmaAddress', owner.umaAddress],
    ['transactions', 'customerId', owner.id],
    ['transactions', 'platformCustomerId', owner.platformCustomerId],
    ['transactions', 'senderAccountIdentifier', owner.umaAddress],
    ['events', 'customerId', owner.id],
  ])("finds nothing in %s when filtering by the hidden owner's %s", async (list, field, value) => {
    expect(await found(t.platform, list, { [field]: value })).toBeGreaterThan(0);
    expect(await found(app, list, { [field]: value })).toBe(0);
  });

  test.each([
    ['quotes', 'sendingAccountId', payer.usd, `ExternalAccount:${uuidIn(payer.usd)}`],
    ['quotes', 'receivingAccountId', payer.outsideEur, `InternalAccount:${uuidIn(payer.outsideEur)}`],
    ['transactions', 'senderAccountIdentifier', payer.usd, `ExternalAccount:${uuidIn(payer.usd)}`],
    ['transactions', 'receiverAccountIdentifier', payer.outsideEur, `InternalAccount:${uuidIn(payer.outsideEur)}`],
    ['transactions', 'accountId', payer.outsideEur, `InternalAccount:${uuidIn(payer.outsideEur)}`],
  ])('finds the payment in %s by the visible %s, and nothing if its type is wrong', async (list, field, id, wrong) => {
    expect(await found(app, list, { [field]: id })).toBe(1);
    for (const by of [app, t.platform]) expect(await found(by, list, { [field]: wrong })).toBe(0);
  });
});
