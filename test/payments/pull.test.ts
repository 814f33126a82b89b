import { describe, expect, test } from 'vitest';
import { between, moving, onAccount, refusal, went } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';

const t = await testGateway();

const quoteFields = `id status transaction { id } paymentInstructions { __typename }
  source { ... on AccountSource { account { __typename id } } }`;
/** Creates a quote that sends 10,000 of the source currency's smallest units. */
async function createQuote(from: string, to: string, rest: object = {}): Promise<Data> {
  const made = await t.platform.act('createQuote', between(from, to, 10_000, rest), `quote { ${quoteFields} }`);
  return made.quote ?? made;
}

/** Waits until a payment has reached a final status, and returns that status. */
const ended = async (transactionId: string): Promise<string | undefined> =>
  (await t.platform.statusesOf(transactionId)).at(-1);

const payment = (id: string) => t.platform.transactionOf(id);

const scene = await t.platform.makeScene(0n);

describe('a quote from an external account', () => {
  test('has an expected settlement time that includes both the pull and the payout', async () => {
    const expectedMs = async (sandboxScenario: object): Promise<number> => {
      const quote = await createQuote(scene.outsideUsd, scene.outsideEur, { sandboxScenario });
      await t.platform.execute(quote.id);
      const moments = 'createdAt expectedSettlementAt';
      const transaction = await t.platform.fieldsOf('transaction', quote.transaction.id, moments);
      return Date.parse(transaction.expectedSettlementAt) - Date.parse(transaction.createdAt);
    };
    expect(await expectedMs({ step: 'PULL', delayMs: 600_000 })).toBeGreaterThanOrEqual(600_000);
    expect(await expectedMs({ step: 'SETTLEMENT', delayMs: 600_000 })).toBeGreaterThanOrEqual(600_000);
  });

  test('pulls the money into the owner’s internal account in the same currency, converts it and pays it out', async () => {
    const quote = await createQuote(scene.outsideUsd, scene.outsideEur);
    const source = { account: { __typename: 'ExternalAccount', id: scene.outsideUsd } };
    expect(quote).toMatchObject({ status: 'PENDING', paymentInstructions: [], source });
    expect(await t.platform.execute(quote.id)).toMatchObject({ quote: { status: 'PROCESSING' } });
    expect(await t.platform.execute(quote.id)).toMatchObject({ code: 'CONFLICT' });
    expect(await ended(quote.transaction.id)).toBe('COMPLETED');
    const done = await payment(quote.transaction.id);
    const timeline = went('PENDING', 'PROCESSING', 'COMPLETED');
    expect(done).toMatchObject({ quote: { status: 'COMPLETED' }, timeline });
    expect(onAccount(done, scene.usd)).toEqual(expect.arrayContaining([10_000n, -10_000n]));
    expect(await t.platform.balanceOf(scene.usd)).toBe(0n);
  });

  test('can be executed when it is created', async () => {
    const quote = await createQuote(scene.outsideUsd, scene.outsideEur, { immediatelyExecute: true });
    expect(quote.status).toBe('PROCESSING');
    expect(await ended(quote.transaction.id)).toBe('COMPLETED');
  });

  test('whose pull fails becomes FAILED, with nothing debited and nothing to refund', async () => {
    const poor = await t.platform.makeScene(5_000n, '002');
    const quote = await createQuote(poor.outsideUsd, scene.outsideEur);
    await t.platform.execute(quote.id);
    expect(await ended(quote.transaction.id)).toBe('FAILED');
    const failed = await payment(quote.transaction.id);
    const nothing = { failureReason: 'QUOTE_EXECUTION_FAILED', refund: null, ledgerEntries: [] };
    expect(failed).toMatchObject({ ...nothing, quote: { status: 'FAILED' } });
    expect(failed.timeline.at(-1).reason).toContain('insufficient funds');
    expect(await t.platform.balanceOf(poor.usd)).toBe(5_000n);
  });

  test('belongs to the platform if the account does, regardless of who owns the destination', async () => {
    const treasury = await t.platform.externalAccount(undefined, 'USD', usAccount('4440001000'));
    const { outsideEur: closed } = await t.platform.makeScene(0n, '003');
    const quote = await createQuote(treasury, closed);
    await t.platform.execute(quote.id);
    expect(await ended(quote.transaction.id)).toBe('FAILED');
    const refunded = { customer: null, refund: { amount: { amount: '10000' } } };
    expect(await payment(quote.transaction.id)).toMatchObject(refunded);
    expect(await t.platform.balanceOf(await t.platform.ownAccount('USD'))).toBe(10_000n);
  });

  test.each([
    [{ reject: true }, 'REJECTED', null],
    [{ failureReason: 'OFFRAMP_FAILED' }, 'FAILED', 'OFFRAMP_FAILED'],
  ])(
    'applies its sandbox scenario %j to the payout: pulled money returns to the owner’s internal account',
    async (sandboxScenario, status, failureReason) => {
      const own = await t.platform.makeScene(0n);
      const quote = await createQuote(own.outsideUsd, own.outsideEur, { sandboxScenario, immediatelyExecute: true });
      expect(await ended(quote.transaction.id)).toBe(status);
      const refunded = { failureReason, refund: { reference: expect.any(String) }, quote: { status: 'FAILED' } };
      expect(await payment(quote.transaction.id)).toMatchObject(refunded);
      expect(await t.platform.balanceOf(own.usd)).toBe(10_000n);
    },
  );

  test('is refused if the account is a wallet, and so is a transfer', async () => {
    const tron = { tronWallet: { address: `T${'a'.repeat(33)}` } };
    const wallet = await t.platform.externalAccount(scene.customerId, 'USDT', tron, { beneficiary: undefined });
    const message = expect.stringContaining('cannot be pulled from a wallet');
    const refused = (...path: string[]) => ({ ...refusal('INVALID_INPUT', ...path), message });
    const quote = await createQuote(wallet, scene.outsideEur);
    expect(quote).toMatchObject(refused('source', 'account', 'accountId'));
    const to = await t.platform.internalAccount(scene.customerId, 'USDT');
    expect(await t.platform.act('transferIn', moving(wallet, to, 100))).toMatchObject(refused('sourceAccountId'));
  });
});
