import { describe, expect, test } from 'vitest';
import { between, moving, usdToEur } from '../setup/acts.ts';
import { fundedQuote, sendDeposit } from '../setup/funded-quote.ts';
import { type Data, inTurn, setAccountStatus, testGateway } from '../setup/gateway.ts';
import { patient } from '../setup/locks.ts';
import { runOps } from '../setup/ops.ts';
import { passDelay } from '../setup/passing-time.ts';
import { restClient, restTransfer } from '../setup/rest.ts';
import { chargeFees, type Scene } from '../setup/scene.ts';

// Operators freeze a customer or an account: no new payment moves money to or from it, but payments in flight continue
// (decision 78).

const t = await testGateway({}, undefined, { pace: patient });
const platform = t.platform;
/** The platform's own account. */
const own = await platform.ownAccount('USD');

const why = ['--reason', 'a court order', '--by', 'Ada'];
const ops = (...args: string[]) => runOps(t.databaseUrl, ['--json', ...args, ...why]);
const nounOf = (id: string) => (id.startsWith('Customer:') ? 'customer' : 'account');
const freeze = (id: string) => ops(nounOf(id), 'freeze', id);
async function thaw(id: string): Promise<void> {
  const { code, out } = await ops(nounOf(id), 'thaw', id);
  expect([code, JSON.parse(out)]).toEqual([0, { id, frozenAt: null, changed: true }]);
}

const move = (from: string, to: string, amount = 10) => platform.act('transferInternal', moving(from, to, amount));
const out = ({ usd, outsideUsd }: Scene) => platform.act('transferOut', moving(usd, outsideUsd, 10));
const pull = ({ usd, outsideUsd }: Scene) => platform.act('transferIn', moving(outsideUsd, usd, 10));
const quoted = (from: Scene, to: Scene) => platform.act('createQuote', between(from.usd, to.eur, 10));
const executed = { __typename: 'ExecuteQuoteSuccess' };
const register = (customerId: string, iban: string) => {
  const beneficiary = { individual: { fullName: 'Grace Hopper' } };
  const input = { customerId, currency: 'EUR', accountInfo: { iban: { iban, swiftBic: 'COBADEFF' } }, beneficiary };
  return platform.act('createExternalAccount', input, 'account { id }');
};

describe('a frozen customer', () => {
  const refused = { __typename: 'ForbiddenError', code: 'CUSTOMER_FROZEN', message: 'the customer is frozen' };

  test('can neither make nor receive a payment of any kind, and can do both again once thawed', async () => {
    const [scene, other] = [await platform.makeScene(10_000n), await platform.makeScene(10_000n)];
    const made = await platform.quote(usdToEur(scene));
    const funded = await fundedQuote(platform, scene);
    expect((await freeze(scene.customerId)).code).toBe(0);
    const acts = [
      () => out(scene),
      () => pull(scene),
      () => move(scene.usd, other.usd),
      () => move(other.usd, scene.usd),
      // The platform cannot take the customer's money either.
      () => move(scene.usd, own),
      () => quoted(scene, other),
      () => quoted(other, scene),
      () => platform.execute(made.id),
      () => sendDeposit(platform, funded),
      () => platform.act('deleteCustomer', { customerId: scene.customerId }),
    ];
    for (const one of acts) expect(await one()).toMatchObject(refused);
    expect(await platform.balanceOf(scene.usd)).toBe(10_000n);
    // External money still arrives.
    await platform.fund(scene.usd, 5n);
    expect(await platform.balanceOf(scene.usd)).toBe(10_005n);

    await thaw(scene.customerId);
    expect(await platform.execute(made.id)).toMatchObject(executed);
    for (const one of acts.slice(0, 5)) expect((await one()).__typename).toMatch(/Success$/);
  });

  test('does not stop a pull, a payment, a refund or an approval that is already in progress', async () => {
    const scene = await platform.makeScene(1_000n, '004');
    const puller = await platform.makeScene(0n);
    const slowly = { immediatelyExecute: true, sandboxScenario: { step: 'PULL', delayMs: 3_600_000 } };
    const pulled = await platform.quote(between(puller.outsideUsd, puller.outsideEur, 1_000, slowly));
    const transaction = await platform.announce(scene.customerId, 100);
    const failing = await platform.pay(scene, 1_000, { sandboxScenario: { delayMs: 300 } });
    await freeze(scene.customerId);
    // The pulled money passes through this account.
    await freeze(puller.usd);
    await passDelay(t, pulled.transaction.id);
    expect(await platform.announce(scene.customerId, 100)).toMatchObject(refused);
    const approved = await platform.act('approveTransaction', { transactionId: transaction.id });
    expect(approved).toMatchObject({ __typename: 'ApproveTransactionSuccess' });
    expect(await platform.ended(transaction.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await platform.ended(failing.id)).toMatchObject({ status: 'FAILED' });
    expect(await platform.ended(pulled.transaction.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await platform.balanceOf(scene.usd)).toBe(1_100n);
  });

  test('cannot register accounts, but its app can still read, and other apps do not learn about the freeze', async () => {
    const [scene, other] = [await platform.makeScene(100n), await platform.makeScene(100n)];
    const app = await platform.payingApp({ customerId: scene.customerId });
    const stranger = await platform.payingApp({ customerId: other.customerId });
    const theirs = await platform.quote(between(other.usd, scene.eur, 10));
    await freeze(scene.customerId);
    const answer = await register(scene.customerId, 'DE00500105175407324931');
    expect(answer).toMatchObject({ ...refused, path: ['input', 'customerId'] });
    const { customers } = await app.ask('{ customers { edges { node { frozenAt } } } }');
    expect(customers.edges).toEqual([{ node: { frozenAt: expect.any(String) } }]);
    expect(await app.quote(usdToEur(scene))).toMatchObject(refused);
    const unnamed = { code: 'USER_NOT_READY', message: 'a customer in this payment cannot move money' };
    expect(await stranger.execute(theirs.id)).toMatchObject(unnamed);
  });
});

describe('a frozen account', () => {
  const refused = { __typename: 'ForbiddenError', code: 'ACCOUNT_FROZEN', message: 'the account is frozen' };

  test('can neither make nor receive a payment, while the other accounts of its customer can', async () => {
    const [scene, other] = [await platform.makeScene(10_000n), await platform.makeScene(10_000n)];
    await platform.fund(scene.eur, 100n);
    const made = await platform.quote(usdToEur(scene));
    await freeze(scene.usd);
    for (const [answer, ...path] of [
      [await out(scene), 'sourceAccountId'],
      [await pull(scene), 'destinationAccountId'],
      [await move(scene.usd, own), 'sourceAccountId'],
      [await move(other.usd, scene.usd), 'destinationAccountId'],
      [await quoted(scene, other), 'source', 'account', 'accountId'],
      [await platform.execute(made.id), 'quoteId'],
    ])
      expect(answer).toMatchObject({ ...refused, path: ['input', ...path] });
    const eur = await platform.act('transferOut', moving(scene.eur, scene.outsideEur, 10));
    expect(eur).toMatchObject({ __typename: 'TransferOutSuccess' });
    await platform.fund(scene.usd, 5n);
    await thaw(scene.usd);
    expect(await platform.execute(made.id)).toMatchObject(executed);
  });

  test('that belongs to the platform returns no fees: the service refunds the fee for a returned payment', async () => {
    const earning = await t.newPlatform('earning');
    await chargeFees(t, earning);
    const [scene, earnings] = [await earning.makeScene(1_000n), await earning.ownAccount('USD')];
    await earning.fund(earnings, 1_000n);
    const sandboxScenario = { returnAfterMs: 3_600_000 };
    const leaving = await Promise.all(
      [scene.usd, earnings].map(async (usd) => {
        const made = await earning.quote(usdToEur({ ...scene, usd }, { sandboxScenario, immediatelyExecute: true }));
        expect(await earning.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
        return made.transaction.id;
      }),
    );
    await freeze(earnings);
    const after = await earning.feedEnd();
    for (const id of leaving) {
      await passDelay(t, id);
      await earning.seen(after, (one) => one.id === id && one.status === 'REFUNDED');
    }
    // The platform's own payment is returned without its fee, because the platform itself has earned that fee.
    expect([await earning.balanceOf(scene.usd), await earning.balanceOf(earnings)]).toEqual([1_000n, 1_025n]);
  });

  test('that is external is neither paid nor pulled from, and cannot be deleted', async () => {
    const scene = await platform.makeScene(10_000n);
    await freeze(scene.outsideUsd);
    const remove = () => platform.act('deleteExternalAccount', { accountId: scene.outsideUsd });
    for (const one of [out(scene), pull(scene), remove()]) expect(await one).toMatchObject(refused);
    await thaw(scene.outsideUsd);
    expect(await out(scene)).toMatchObject({ __typename: 'TransferOutSuccess' });
  });

  test('that is external can be registered again only once it is thawed, even if it is INACTIVE', async () => {
    const { customerId } = await platform.makeScene(0n);
    const again = () => register(customerId, 'DE89370400440532013000');
    const { id } = (await again()).account;
    await freeze(id);
    await setAccountStatus(t, id, 'INACTIVE');
    expect(await again()).toMatchObject({ __typename: 'ConflictError' });
    await thaw(id);
    expect(await again()).toMatchObject({ __typename: 'CreateExternalAccountSuccess' });
  });

  test('shows over REST when it was frozen, and cannot pay over REST; the same holds for a frozen customer', async () => {
    const { customerId, usd, outsideUsd } = await platform.makeScene(1_000n);
    const rest = await restClient(t.url, platform.authorization);
    for (const [id, path, code, named] of [
      [usd, `/customers/internal-accounts?customerId=${customerId}&currency=USD`, 'ACCOUNT_FROZEN', { accountId: usd }],
      [customerId, `/customers/${customerId}`, 'CUSTOMER_FROZEN', { customerId }],
    ] as const) {
      const isShown = async () => JSON.stringify(await rest.ask('GET', path)).includes('"frozenAt":"');
      await freeze(id);
      expect(await isShown()).toBe(true);
      const refusal = await rest.ask('POST', '/transfer-out', restTransfer(usd, outsideUsd, 10), 403);
      expect(refusal).toMatchObject({ code, details: { field: 'source.accountId', ...named } });
      await thaw(id);
      expect(await isShown()).toBe(false);
    }
  });

  test('appears in the feed when it is frozen and when it is thawed, and so does a customer', async () => {
    const scene = await platform.makeScene(0n);
    const after = await platform.feedEnd();
    for (const id of [scene.usd, scene.customerId]) {
      await freeze(id);
      await thaw(id);
    }
    const query = `subscription ($after: String) { events(after: $after) { type account { id frozenAt } customer { id frozenAt } } }`;
    // The setup of this test and the payments of other tests may add events after this cursor.
    const isFreezing = ({ account, customer }: Data) =>
      (account?.id === scene.usd && (events.length > 0 || account.frozenAt)) ||
      (customer?.id === scene.customerId && (events.length > 2 || customer.frozenAt));
    const events: Data[] = [];
    await platform.followed(query, { after }, (event) => isFreezing(event) && events.push(event) === 4);
    const time = expect.any(String);
    expect(events).toMatchObject([
      { type: 'ACCOUNT_CHANGE', account: { frozenAt: time } },
      { type: 'ACCOUNT_CHANGE', account: { frozenAt: null } },
      { type: 'CUSTOMER_CHANGE', customer: { frozenAt: time } },
      { type: 'CUSTOMER_CHANGE', customer: { frozenAt: null } },
    ]);
  });
});

test('the command reports what it did, changes nothing when repeated, and refuses invalid input', async () => {
  const scene = await platform.makeScene(0n);
  const people = await runOps(t.databaseUrl, ['account', 'freeze', scene.usd, ...why]);
  const out = expect.stringMatching(/^InternalAccount:\S+ has been frozen since \S+Z\.$/);
  expect(people).toMatchObject({ code: 0, out });
  const again = await freeze(scene.usd);
  expect([again.code, JSON.parse(again.out).changed]).toEqual([0, false]);
  const unknown = 'Customer:0197f2a0-0000-7000-8000-000000000001';
  const none = await runOps(t.databaseUrl, ['customer', 'freeze', unknown, ...why]);
  expect(none).toMatchObject({ code: 1, err: `there is no ${unknown}` });
  // An internal account's uuid does not identify an external account.
  const wrong = scene.usd.replace('Internal', 'External');
  expect(await runOps(t.databaseUrl, ['account', 'thaw', wrong, ...why])).toMatchObject({ code: 1 });
  for (const args of [why.slice(2), why.slice(0, 2), ['--reason', ' ', '--by', 'Ada']])
    expect((await runOps(t.databaseUrl, ['account', 'freeze', scene.usd, ...args])).code).toBe(2);
});

test('a payment and a concurrent freeze of its account, or of its customer, are ordered by the account’s lock', async () => {
  const scene = await platform.makeScene(1_000n);
  for (const id of [scene.usd, scene.customerId]) {
    const [pays, stops] = [() => move(scene.usd, own), () => freeze(id)];
    const [moved] = await inTurn(t, ['account', scene.usd], pays, stops);
    expect(moved).toMatchObject({ __typename: 'TransferInternalSuccess' });
    await thaw(id);
    const [frozen, refused] = await inTurn(t, ['account', scene.usd], stops, pays);
    expect([frozen.code, refused.code]).toEqual([0, expect.stringMatching(/_FROZEN$/)]);
    await thaw(id);
  }
});
