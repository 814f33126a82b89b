import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basicAuthorization } from '../../src/access/tokens/basic-authorization.ts';
import { releaseSuspense } from '../../src/payments/settlement/suspense.ts';
import { act, ended, execute, mint, pay, quote, succeed, transactionOf, usdToEur } from '../setup/acts.ts';
import { fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { connect, type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { balanceOf, fund, makeScene, ownAccount, type Scene } from '../setup/scene.ts';
import { tester } from '../setup/tester.ts';

// A customer who holds money, or has payments under way, is not deleted. The database decides, with the accounts locked.

let t: TestGateway;
let platform: TestPlatform;
/** The platform's own account. */
let own: string;
beforeAll(async () => {
  t = await startTestGateway();
  platform = t.platform;
  own = await ownAccount(platform, 'USD');
});
afterAll(() => t.stop());

const refusalFields = `... on CustomerInUseError { balances { amount currency { code } } paymentsUnderWay transactionIds }`;

/** Deletes a customer, and answers what came of it. */
async function remove(customerId: string, by: TestPlatform = platform): Promise<Data> {
  const document = `mutation ($input: DeleteCustomerInput!) { deleteCustomer(input: $input) { __typename
    ... on DeleteCustomerSuccess { replayed customer { id } } ... on UserError { code message path } ${refusalFields} } }`;
  return (await by.ask(document, { input: { customerId } })).deleteCustomer;
}

const deleted = { __typename: 'DeleteCustomerSuccess' };
const moveOut = (from: string, amount: bigint) =>
  act(platform, 'transferInternal', { sourceAccountId: from, destinationAccountId: own, amount });
const never = { sandboxScenario: { delayMs: 3_600_000 } };

describe('a customer with money', () => {
  test('is not deleted, and the refusal has what is left; when the money is out, it is', async () => {
    const scene = await makeScene(platform, 12_550n);
    await fund(platform, scene.eur, 300n);
    expect(await remove(scene.customerId)).toEqual({
      __typename: 'CustomerInUseError',
      code: 'CUSTOMER_IN_USE',
      message: 'the customer cannot be deleted: it still holds 125.50 USD, 3.00 EUR',
      path: ['input', 'customerId'],
      balances: [
        { amount: '12550', currency: { code: 'USD' } },
        { amount: '300', currency: { code: 'EUR' } },
      ],
      paymentsUnderWay: 0,
      transactionIds: [],
    });
    expect(await moveOut(scene.usd, 12_550n)).toMatchObject({ __typename: 'TransferInternalSuccess' });
    const sent = { sourceAccountId: scene.eur, destinationAccountId: scene.outsideEur, amount: 300 };
    await ended(platform, (await succeed(platform, 'transferOut', sent, 'transaction { id }')).transaction.id);
    expect(await remove(scene.customerId)).toMatchObject(deleted);
  });

  test('shows what it holds to those only who may read it', async () => {
    const scene = await makeScene(platform, 100n);
    const given = { name: 'manages', permissions: ['MANAGE'] };
    const { apiToken, secret } = await succeed(platform, 'createApiToken', given, 'secret apiToken { clientId }');
    const blind = connect(t.url, platform.platformId, basicAuthorization({ clientId: apiToken.clientId, secret }));
    expect(await remove(scene.customerId, blind)).toMatchObject({
      code: 'CUSTOMER_IN_USE',
      message: 'the customer has money here, or payments under way',
      balances: null,
      paymentsUnderWay: null,
      transactionIds: null,
    });
  });
});

describe('a customer with a payment under way', () => {
  const underWay = (transactionId: string) => ({
    code: 'CUSTOMER_IN_USE',
    message: 'the customer cannot be deleted: 1 of its payments is under way',
    balances: [],
    paymentsUnderWay: 1,
    transactionIds: [transactionId],
  });

  test('is not deleted, whether it pays or is paid', async () => {
    const [payer, payee] = [await makeScene(platform, 100n), await makeScene(platform, 0n)];
    const out = await pay(platform, payer, 100, never);
    expect(await remove(payer.customerId)).toMatchObject(underWay(out.id));

    const other = await makeScene(platform, 1_000n);
    const made = await quote(platform, {
      source: { account: { accountId: other.usd } },
      destination: { account: { accountId: payee.eur } },
      lockedCurrencyAmount: 1_000,
      immediatelyExecute: true,
      ...never,
    });
    expect(await remove(payee.customerId)).toMatchObject(underWay(made.transaction.id));

    const receipt = {
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      customerId: payee.customerId,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 100,
    };
    const arriving = await makeScene(platform, 0n);
    const announced = {
      ...receipt,
      customerId: arriving.customerId,
      sandboxScenario: { step: 'PAY_REQUEST', delayMs: 3_600_000 },
    };
    const { transaction } = await succeed(platform, 'sandboxReceiveUma', announced, 'transaction { id status }');
    expect(transaction.status).toBe('CREATED');
    expect(await remove(arriving.customerId)).toMatchObject(underWay(transaction.id));
  });

  test('is deleted with quotes that nobody has executed: none of them can be, then', async () => {
    const scene = await makeScene(platform, 0n);
    const { id } = await quote(platform, usdToEur(scene));
    const funded = await fundedQuote(platform, scene);
    expect(await remove(scene.customerId)).toMatchObject(deleted);
    expect(await execute(platform, id)).toMatchObject({ code: 'USER_NOT_READY' });
    expect(await sendDeposit(platform, funded)).toMatchObject({ code: 'USER_NOT_READY' });
  });
});

describe('a deleted customer', () => {
  test('leaves no living client token, and those that had ended before stay as they ended', async () => {
    const { customerId } = await makeScene(platform, 0n);
    const [living, expired, revoked] = await Promise.all([1, 2, 3].map(() => mint(platform, { customerId })));
    await succeed(platform, 'revokeClientToken', { tokenId: revoked.tokenId });
    await t.owner.query('update client_token set expires_at = clock_timestamp() where id = $1', [
      expired.tokenId.split(':')[1],
    ]);
    const read = async (): Promise<Record<string, string | null>> => {
      const { clientTokens } = await platform.ask(
        'query ($filter: ClientTokenFilter) { clientTokens(filter: $filter) { edges { node { id revokedAt } } } }',
        { filter: { customerId } },
      );
      return Object.fromEntries(clientTokens.edges.map(({ node }: Data) => [node.id, node.revokedAt]));
    };
    const before = await read();
    expect(before).toEqual({
      [living.tokenId]: null,
      [expired.tokenId]: null,
      [revoked.tokenId]: expect.any(String),
    });
    expect(await remove(customerId)).toMatchObject(deleted);
    expect(await read()).toEqual({ ...before, [living.tokenId]: expect.any(String) });
  });

  test('takes no deposit, also not a late one for a quote of its own', async () => {
    const scene = await makeScene(platform, 0n);
    const late = await fundedQuote(platform, scene);
    await succeed(platform, 'cancelQuote', { quoteId: late.quoteId });
    expect(await remove(scene.customerId)).toMatchObject(deleted);
    expect(await act(platform, 'sandboxFundAccount', { accountId: scene.usd, amount: 5 })).toMatchObject({
      code: 'CUSTOMER_DELETED',
      path: ['input', 'accountId'],
    });
    for (const more of [{}, { currencyAmount: 7 }, { sandboxScenario: { deposit: 'TWICE' } }])
      expect(await sendDeposit(platform, late, more)).toMatchObject({
        code: 'CUSTOMER_DELETED',
        path: ['input', 'quoteId'],
      });
    expect(await balanceOf(platform, late.account)).toBe(0n);
  });

  test('gets no money back: what a bank returns waits in suspense, and a person releases it to the platform', async () => {
    const scene = await makeScene(platform, 500n);
    const returned = await pay(platform, scene, 500, { sandboxScenario: { returnAfterMs: 600_000 } });
    expect(await ended(platform, returned.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await remove(scene.customerId)).toMatchObject(deleted);
    const stream = platform.watch(
      'subscription ($id: ID!) { transactionUpdates(transactionId: $id, until: FINAL) { status } }',
      { id: returned.id },
    );
    await t.owner.query(
      `update rail_order set due_at = clock_timestamp(), created_at = created_at - interval '1 hour' where transaction_id = $1`,
      [returned.id.split(':')[1]],
    );
    for await (const { data } of stream) if (data.transactionUpdates.status === 'REFUNDED') break;
    const waiting = await transactionOf(platform, returned.id);
    expect(waiting).toMatchObject({ status: 'REFUNDED', refund: { settledAt: null } });
    expect(waiting.timeline.at(-1).reason).toMatch(/; its account cannot take the refund, which waits in suspense$/);
    expect(await balanceOf(platform, scene.usd)).toBe(0n);

    const before = await balanceOf(platform, own);
    const { database } = t.gateway.payments;
    expect(await releaseSuspense(database, returned.id, tester)).toMatchObject({ kind: 'paid' });
    expect([await balanceOf(platform, scene.usd), await balanceOf(platform, own)]).toEqual([0n, before + 500n]);
    expect((await transactionOf(platform, returned.id)).refund.settledAt).not.toBeNull();
    expect(await releaseSuspense(database, returned.id, tester)).toMatchObject({ kind: 'paid-before' });
    expect(await balanceOf(platform, own)).toBe(before + 500n);
  });
});

describe('a deletion at the same time', () => {
  /** Waits until so many connections wait for locks. */
  async function waiting(count: number): Promise<void> {
    const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while (((await t.owner.query(text)).rowCount ?? 0) < count);
  }

  /** Runs `first` and then `second` while another connection has the account, and lets go once both wait. */
  async function withAccountLocked(account: string, first: () => Promise<Data>, second: () => Promise<Data>) {
    const holder = new pg.Client({ connectionString: t.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from account where id = $1 for update', [account.split(':')[1]]);
      const one = first();
      await waiting(1);
      const other = second();
      await waiting(2);
      await holder.query('commit');
      return await Promise.all([one, other]);
    } finally {
      await holder.end();
    }
  }

  const deposit = (scene: Scene) => () => act(platform, 'sandboxFundAccount', { accountId: scene.usd, amount: 700 });

  test('as a deposit that comes first is refused; a deposit that comes second is', async () => {
    const scene = await makeScene(platform, 0n);
    const late = await makeScene(platform, 0n);
    const [, refused] = await withAccountLocked(scene.usd, deposit(scene), () => remove(scene.customerId));
    expect(refused).toMatchObject({ code: 'CUSTOMER_IN_USE', balances: [{ amount: '700' }] });
    const [done, back] = await withAccountLocked(late.usd, () => remove(late.customerId), deposit(late));
    expect([done, back]).toMatchObject([deleted, { code: 'CUSTOMER_DELETED' }]);
    expect(await balanceOf(platform, late.usd)).toBe(0n);
  });

  test('as an execution of a quote that comes first is refused', async () => {
    const scene = await makeScene(platform, 1_000n);
    const made = await quote(platform, usdToEur(scene, never));
    const [executed, refused] = await withAccountLocked(
      scene.usd,
      () => execute(platform, made.id),
      () => remove(scene.customerId),
    );
    expect(executed).toMatchObject({ __typename: 'ExecuteQuoteSuccess' });
    expect(refused).toMatchObject({ code: 'CUSTOMER_IN_USE', balances: [], transactionIds: [made.transaction.id] });
  });

  test('as the deposit of a quote never leaves money with a deleted customer', async () => {
    for (let round = 0; round < 8; round++) {
      const scene = await makeScene(platform, 0n);
      const funded = await fundedQuote(platform, scene);
      const [paid, removed] = await Promise.all([sendDeposit(platform, funded, never), remove(scene.customerId)]);
      expect([
        ['done', 'CUSTOMER_IN_USE'],
        ['USER_NOT_READY', 'done'],
      ]).toContainEqual([paid.code ?? 'done', removed.code ?? 'done']);
      expect(await balanceOf(platform, funded.account)).toBe(0n);
    }
  });
});
