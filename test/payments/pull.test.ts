import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commitGroups } from '../../src/ledger/commit.ts';
import { planPayout } from '../../src/payments/quotes/pull.ts';
import { act, execute, statusesOf, succeed } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { balanceOf, externalAccount, internalAccount, makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway();
});
afterAll(() => t.stop());

const inputOf = (from: string, to: string) => ({
  source: { account: { accountId: from } },
  destination: { account: { accountId: to } },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 10_000,
});

async function createQuote(input: object, platform: TestPlatform = t.platform): Promise<Data> {
  const made = await act(
    platform,
    'createQuote',
    input,
    `quote { id status transaction { id } paymentInstructions { __typename }
      source { ... on AccountSource { account { __typename id } } } }`,
  );
  return made.quote ?? made;
}

/** The status of a payment once it has ended. */
const ended = async (transactionId: string): Promise<string | undefined> =>
  (await statusesOf(t.platform, transactionId)).at(-1);

async function payment(transactionId: string): Promise<Data> {
  const { transaction } = await t.platform.ask(
    `query ($id: ID!) { transaction(id: $id) { status failureReason refund { reference } quote { status }
      timeline { status reason } ledgerEntries { amount { amount currency { code } } account { id } system } } }`,
    { id: transactionId },
  );
  return transaction;
}

const onAccount = (entries: readonly Data[], account: string): bigint[] =>
  entries.filter((entry) => entry.account?.id === account).map((entry) => BigInt(entry.amount.amount));

describe('a quote from an account outside', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await makeScene(t.platform, 0n);
  });

  test('is expected once the money is pulled and paid out, and not before', async () => {
    const expectedMs = async (sandboxScenario: object): Promise<number> => {
      const quote = await createQuote({ ...inputOf(scene.outsideUsd, scene.outsideEur), sandboxScenario });
      await execute(t.platform, quote.id);
      const { transaction } = await t.platform.ask(
        'query ($id: ID!) { transaction(id: $id) { createdAt expectedSettlementAt } }',
        { id: quote.transaction.id },
      );
      return Date.parse(transaction.expectedSettlementAt) - Date.parse(transaction.createdAt);
    };
    expect(await expectedMs({ step: 'PULL', delayMs: 600_000 })).toBeGreaterThanOrEqual(600_000);
    expect(await expectedMs({ step: 'SETTLEMENT', delayMs: 600_000 })).toBeGreaterThanOrEqual(600_000);
  });

  test('is pulled, converted and paid out, through the owner’s account of that currency', async () => {
    const quote = await createQuote(inputOf(scene.outsideUsd, scene.outsideEur));
    expect(quote).toMatchObject({
      status: 'PENDING',
      paymentInstructions: [],
      source: { account: { __typename: 'ExternalAccount', id: scene.outsideUsd } },
    });
    expect(await execute(t.platform, quote.id)).toMatchObject({ quote: { status: 'PROCESSING' } });
    expect(await execute(t.platform, quote.id)).toMatchObject({ code: 'CONFLICT' });
    expect(await ended(quote.transaction.id)).toBe('COMPLETED');
    const { quote: after, timeline, ledgerEntries } = await payment(quote.transaction.id);
    expect(after.status).toBe('COMPLETED');
    expect(timeline.map((event: Data) => event.status)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
    expect(onAccount(ledgerEntries, scene.usd)).toEqual(expect.arrayContaining([10_000n, -10_000n]));
    expect(await balanceOf(t.platform, scene.usd)).toBe(0n);
  });

  test('can be executed at its creation', async () => {
    const quote = await createQuote({ ...inputOf(scene.outsideUsd, scene.outsideEur), immediatelyExecute: true });
    expect(quote.status).toBe('PROCESSING');
    expect(await ended(quote.transaction.id)).toBe('COMPLETED');
  });

  test('whose pull fails ends FAILED, with nothing debited and nothing to refund', async () => {
    const poor = await makeScene(t.platform, 5_000n, '002');
    const quote = await createQuote(inputOf(poor.outsideUsd, scene.outsideEur));
    await execute(t.platform, quote.id);
    expect(await ended(quote.transaction.id)).toBe('FAILED');
    const { failureReason, refund, quote: after, timeline, ledgerEntries } = await payment(quote.transaction.id);
    expect({ failureReason, refund, status: after.status, ledgerEntries }).toEqual({
      failureReason: 'QUOTE_EXECUTION_FAILED',
      refund: null,
      status: 'FAILED',
      ledgerEntries: [],
    });
    expect(timeline.at(-1).reason).toContain('insufficient funds');
    expect(await balanceOf(t.platform, poor.usd)).toBe(5_000n);
  });

  test('whose payout fails leaves what was pulled on the owner’s account of that currency', async () => {
    const own = await makeScene(t.platform, 0n);
    const closed = await externalAccount(t.platform, own.customerId, 'EUR', {
      iban: { iban: 'DE89370400440532000003', swiftBic: 'COBADEFF' },
    });
    const quote = await createQuote(inputOf(own.outsideUsd, closed));
    await execute(t.platform, quote.id);
    expect(await ended(quote.transaction.id)).toBe('FAILED');
    expect(await payment(quote.transaction.id)).toMatchObject({
      failureReason: 'QUOTE_EXECUTION_FAILED',
      refund: { reference: expect.any(String) },
    });
    expect(await balanceOf(t.platform, own.usd)).toBe(10_000n);
  });

  test('of the platform’s own is the platform’s payment, whoever owns the account it goes to', async () => {
    const own = await makeScene(t.platform, 0n);
    const register = async (input: object): Promise<string> => {
      const named = { beneficiary: { business: { legalName: 'The Platform' } }, ...input };
      return (await succeed(t.platform, 'createExternalAccount', named, 'account { id }')).account.id;
    };
    const treasury = await register({
      currency: 'USD',
      accountInfo: {
        usAccount: { accountNumber: '4440001000', routingNumber: '021000021', accountCategory: 'CHECKING' },
      },
    });
    const closed = await register({
      customerId: own.customerId,
      currency: 'EUR',
      accountInfo: { iban: { iban: 'DE89370400440532111003', swiftBic: 'COBADEFF' } },
    });
    const quote = await createQuote(inputOf(treasury, closed));
    await execute(t.platform, quote.id);
    expect(await ended(quote.transaction.id)).toBe('FAILED');
    const { transaction, accounts } = await t.platform.ask(
      `query ($id: ID!) { transaction(id: $id) { customer { id } refund { amount { amount } } }
        accounts(filter: { kind: INTERNAL, platformOwned: true, currency: "USD" }) { edges { node { ... on InternalAccount { balance { amount } } } } } }`,
      { id: quote.transaction.id },
    );
    expect(transaction).toEqual({ customer: null, refund: { amount: { amount: '10000' } } });
    expect(accounts.edges).toEqual([{ node: { balance: { amount: '10000' } } }]);
    expect(await balanceOf(t.platform, own.usd)).toBe(0n);
  });

  test('gives its sandbox scenario to the payout: what was pulled comes back to the owner’s account here', async () => {
    const own = await makeScene(t.platform, 0n);
    const quote = await createQuote({
      ...inputOf(own.outsideUsd, own.outsideEur),
      sandboxScenario: { reject: true },
      immediatelyExecute: true,
    });
    expect(await ended(quote.transaction.id)).toBe('REJECTED');
    expect(await payment(quote.transaction.id)).toMatchObject({
      quote: { status: 'FAILED' },
      refund: { reference: expect.any(String) },
    });
    expect(await balanceOf(t.platform, own.usd)).toBe(10_000n);
  });

  test('is refused of a wallet, which gives nothing on request: by quotes and transfers alike', async () => {
    const wallet = {
      customerId: scene.customerId,
      currency: 'USDT',
      accountInfo: { tronWallet: { address: `T${'a'.repeat(33)}` } },
    };
    const { account } = await succeed(t.platform, 'createExternalAccount', wallet, 'account { id }');
    const refused = { code: 'INVALID_INPUT', message: expect.stringContaining('cannot be pulled from a wallet') };
    expect(await createQuote(inputOf(account.id, scene.outsideEur))).toMatchObject({
      ...refused,
      path: ['input', 'source', 'account', 'accountId'],
    });
    const to = await internalAccount(t.platform, scene.customerId, 'USDT');
    const transfer = { sourceAccountId: account.id, destinationAccountId: to, amount: 100 };
    expect(await act(t.platform, 'transferIn', transfer)).toMatchObject({
      ...refused,
      path: ['input', 'sourceAccountId'],
    });
  });
});

test('a pull that two workers both saw settle is credited once', async () => {
  const idle = await startTestGateway({ ROLE: 'serve' });
  try {
    const scene = await makeScene(idle.platform, 0n);
    const quote = await createQuote(inputOf(scene.outsideUsd, scene.outsideEur), idle.platform);
    await execute(idle.platform, quote.id);
    const { database } = idle.gateway.payments;
    const { platformId } = idle.platform;
    const transactionId = quote.transaction.id.replace('Transaction:', '');
    const order = await database.prisma.railOrder.findFirstOrThrow({ where: { platformId, transactionId } });
    const quoted = await database.prisma.quote.findFirstOrThrow({ where: { platformId, transactionId } });
    const flow = {
      transactionId,
      sourceAccountId: scene.usd.replace('InternalAccount:', ''),
      sendingCurrency: quoted.sendingCurrency,
      sent: quoted.totalSendingAmount,
      fees: quoted.feesIncluded,
      platformFee: quoted.platformFee,
      platformAccountId: undefined,
      receivingCurrency: quoted.receivingCurrency,
      received: quoted.totalReceivingAmount,
      destinationAccountId: undefined,
    };
    const outcome = () => [
      {
        platformId,
        plan: planPayout(flow, { platformId, id: order.id, scenario: null }),
      },
    ];
    const refusals = await commitGroups(database, [outcome(), outcome()], (error) => {
      throw error;
    });
    expect(refusals).toEqual([null, { code: 'CONFLICT', id: order.id, status: 'CLOSED' }]);
    expect(await database.prisma.posting.count({ where: { platformId, accountId: flow.sourceAccountId } })).toBe(2);
  } finally {
    await idle.stop();
  }
});
