import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { requiredCurrency } from '../../src/core/currencies.ts';
import { readBalances } from '../../src/domain/reconciliation/reconciliation.ts';
import { listCases } from '../../src/domain/settlement/cases.ts';
import { releaseSuspense } from '../../src/domain/settlement/order-by-hand.ts';
import type { LockRequest, RailOrder, RateLock } from '../../src/rails/port.ts';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import { usdToEur } from '../setup/acts.ts';
import { connect, type Data, startTestGateway, tester, untilRows, uuidIn } from '../setup/gateway.ts';
import { askOps, runOps, typeIn } from '../setup/ops.ts';
import { makeDue } from '../setup/passing-time.ts';
import { chargeFees } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { returnedAmount, slowAmount } from './returning-rail.ts';
import { credentialsIn, testTwoGateways } from './two-gateways.ts';

/** Tests conversions whose rate is locked upstream, at another gateway, before a quote promises it (decision 83). */

const two = await testTwoGateways({ pollMs: 10 });
const { upstream, gateway } = two;
/** The platform, which earns part of the fees, and its upstream account. */
const { platform, account, held, ...shop } = await two.connected('production', 0n);
await chargeFees(gateway, platform, 25n, '0.01');
const scene = await platform.makeScene(0n);
await platform.bringIn(scene, 400_000n);

const both = () => shop.both(scene.usd);

async function executed({ id, transaction }: Data): Promise<Data> {
  await platform.execute(id);
  return platform.ended(transaction.id);
}

const receiving = (lockedCurrencyAmount: bigint) =>
  usdToEur(scene, { lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount });
const amountOf = (money: Data) => BigInt(money.amount);
const rail = two.rail(platform);
const compared = () => two.compare(platform);
const balances = async () =>
  (await readBalances(gateway.gateway.payments, { ...platform, environment: 'PRODUCTION' })) ?? [];

/** Expects both ledgers to match, apart from the operator's own money upstream. */
async function expectReconciled(): Promise<void> {
  const { differences, totals } = await compared();
  expect(differences).toEqual([]);
  for (const { paidHere, paidThere } of totals) expect(paidHere).toBe(paidThere);
  for (const { currency, booked, held: there } of await balances()) {
    if (['USD', 'EUR'].includes(currency)) expect({ currency, booked }).toEqual({ currency, booked: there });
  }
}

test.for(['SENDING', 'RECEIVING'] as const)(
  'a quote fixing the %s side is locked upstream first, and its payment executes the upstream quote',
  async (side) => {
    const before = await held();
    const made = await platform.quote(usdToEur(scene, { lockedCurrencySide: side, lockedCurrencyAmount: 20_000 }));
    const { here, there } = await two.quotesOf(made.id);
    expect(there).toMatchObject({ status: 'PENDING', locked_currency_side: side });
    expect(BigInt(side === 'SENDING' ? here.total_sending_amount : here.total_receiving_amount)).toBe(20_000n);
    // The platform's fee is added to the upstream fees. The received amount and the rate come from the upstream quote.
    expect(BigInt(here.platform_fee)).toBeGreaterThan(25n);
    expect(BigInt(here.total_sending_amount)).toBe(BigInt(there.total_sending_amount) + BigInt(here.platform_fee));
    expect(BigInt(here.fees_included)).toBe(BigInt(there.fees_included) + BigInt(here.platform_fee));
    expect([here.total_receiving_amount, here.exchange_rate]).toEqual([
      there.total_receiving_amount,
      there.exchange_rate,
    ]);
    // The quote expires before its lock does. The margin depends only on upstream times, so clock skew is harmless.
    const life = ({ created_at: from, expires_at: to }: Data) => to.getTime() - from.getTime();
    expect(life(here)).toBe(life(there) * 0.9);

    const end = await executed(made);
    expect(end).toMatchObject({ status: 'COMPLETED' });
    expect((await two.quotesOf(made.id)).there).toMatchObject({ status: 'COMPLETED' });
    // The money left the upstream dollar account. The upstream euro account was not used.
    const after = await held();
    expect(after).toEqual({ ...before, USD: before.USD - BigInt(there.total_sending_amount) });
    const sent = "select from idempotency_record where operation = 'executeQuote' and key = $1";
    expect((await upstream.owner.query(sent, await two.ordersOf(made.transaction.id))).rowCount).toBe(1);
    // No conversion is booked on this side: the platform only earns its share, and there is no currency position.
    expect(end.ledgerEntries.filter(({ system }: Data) => system === 'LIQUIDITY')).toEqual([]);
    await expectReconciled();
  },
);

test('an immediately executed quote is executed upstream exactly once, even if the request is repeated', async () => {
  const before = await held();
  const balance = await platform.balanceOf(scene.usd);
  const input = usdToEur(scene, { immediatelyExecute: true, idempotencyKey: randomUUID() });
  const made = await platform.quote(input);
  expect(await platform.quote(input)).toEqual(made);
  expect(await platform.ended(made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  const { there } = await two.quotesOf(made.id);
  expect(await platform.balanceOf(scene.usd)).toBe(balance - 1_000n);
  expect((await held()).USD).toBe(before.USD - BigInt(there.total_sending_amount));
});

test('money that stays on this side is converted upstream, between two of the platform’s accounts', async () => {
  const before = await held();
  const neighbour = await platform.newCustomer();
  const eur = await platform.internalAccount(neighbour, 'EUR');
  for (const to of [scene.eur, eur]) {
    const made = await platform.quote(usdToEur(scene, { destination: { account: { accountId: to } } }));
    expect(await executed(made)).toMatchObject({ status: 'COMPLETED' });
    expect(await platform.balanceOf(to)).toBe(amountOf(made.totalReceivingAmount));
  }
  const after = await held();
  expect(after.USD).toBeLessThan(before.USD);
  expect(after.EUR - before.EUR).toBe((await platform.balanceOf(scene.eur)) + (await platform.balanceOf(eur)));
  await expectReconciled();
});

test('a payment whose upstream quote has expired fails, and its money is returned on both sides', async () => {
  const before = await both();
  const made = await platform.quote(usdToEur(scene));
  const { there } = await two.quotesOf(made.id);
  await two.spoil("update quote set expires_at = created_at + interval '1 millisecond' where id = $1", there.id);
  const end = await executed(made);
  const refund = { settledAt: expect.any(String) };
  expect(end).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXPIRED', refund });
  expect(await both()).toEqual(before);
});

test('an unexecuted quote expires on both sides, and is not reported as a difference', async () => {
  await platform.quote(usdToEur(scene));
  await expectReconciled();
});

test('a rate-locked payment that the receiving bank returns is refunded on both sides', async () => {
  const before = await both();
  const made = await platform.quote(receiving(returnedAmount));
  expect(await executed(made)).toMatchObject({ status: 'COMPLETED' });
  await makeDue(upstream);
  await untilRows(upstream, [{}], "select from transaction where status = 'REFUNDED'");
  await makeDue(gateway);
  await platform.untilStatus(made.transaction.id, 'REFUNDED');
  expect(await both()).toEqual(before);
  await expectReconciled();
});

test('a rate-locked payment that the upstream service neither delivers nor returns is in suspense, in the debited currency', async () => {
  const stuck = await platform.makeScene(0n, '007');
  const before = await platform.balanceOf(scene.usd);
  const made = await platform.quote(usdToEur(scene, { destination: { account: { accountId: stuck.outsideEur } } }));
  const { there } = await two.quotesOf(made.id);
  const end = await executed(made);
  expect(end).toMatchObject({ status: 'FAILED', refund: { settledAt: null } });
  expect(end.ledgerEntries).toContainEqual(
    expect.objectContaining({
      system: 'SUSPENSE',
      amount: { amount: String(there.total_sending_amount), currency: { code: 'USD' } },
    }),
  );
  for (const [of, id] of [
    [upstream, `Transaction:${there.transaction_id}`],
    [gateway, end.id],
  ] as const)
    expect(await releaseSuspense(of.gateway.payments.database, id, tester)).toMatchObject({ kind: 'paid' });
  expect(await platform.balanceOf(scene.usd)).toBe(before);
});

test("a quote that upstream refuses is refused here, with upstream's reason", async () => {
  const other = await platform.makeScene(0n);
  const setStatus = (status: string) =>
    two.spoil(
      'update account set status = $1::external_account_status where platform_account_id = $2',
      ...[status, uuidIn(other.outsideEur)],
    );
  await setStatus('INACTIVE');
  const destination = { account: { accountId: other.outsideEur } };
  expect(await platform.act('createQuote', usdToEur(scene, { destination }))).toMatchObject({
    code: 'INVALID_BANK_ACCOUNT',
    message: expect.stringMatching(/^refused by the upstream service: /),
  });
  await setStatus('ACTIVE');
  expect(await platform.quote(usdToEur(scene, { destination }))).toMatchObject({ status: 'PENDING' });
});

/** Builds an order for a conversion into euros, to pass to the rail directly. The lock determines the amount. */
const orderOf = (id: string): Omit<RailOrder, 'amount'> => ({
  ...{ id, step: 'SETTLEMENT', kind: 'PAYOUT', currency: 'EUR', account: undefined, umaAddress: undefined },
  ...{ settled: false, ageMs: 0, attempts: 0, scenario: null },
});

/** Calls the rail directly to lock a conversion from dollars into euros. */
async function lock(orderId: string, rest: Partial<LockRequest> = {}): Promise<RateLock> {
  const currencies = { sending: requiredCurrency('USD'), receiving: requiredCurrency('EUR') };
  const request: LockRequest = {
    ...{ id: randomUUID(), orderId, ...currencies },
    ...{ lockedSide: 'SENDING', amount: 1_000n, account: undefined, ...rest },
  };
  const answer = await rail.lockRate?.(request);
  if (answer?.kind !== 'locked') throw new Error(JSON.stringify(answer));
  return answer.lock;
}

test('an order that has already been executed is found again, even if a retry locked a new quote', async () => {
  const id = randomUUID();
  const order = orderOf(id);
  const first = await lock(id);
  const again = await lock(id);
  const settledBy = async (one: RateLock) =>
    vi.waitFor(async () => {
      const outcome = await rail.payOut?.({ ...order, amount: one.received, lock: one });
      expect(outcome).toMatchObject({ kind: 'settled', sent: first.sent, amount: first.received });
    }, 20_000);
  expect(await rail.findOrder?.({ ...order, amount: first.received, lock: first })).toBe(undefined);
  const before = await held();
  await settledBy(first);
  await settledBy(again);
  expect((await held()).USD).toBe(before.USD - first.sent);
  const found = await rail.findOrder?.({ ...order, amount: first.received, lock: again });
  expect(found).toMatchObject({ kind: 'settled' });
});

test("a lock that upstream no longer knows leaves its order's outcome unknown: an operator must investigate", async () => {
  const id = randomUUID();
  const known = await lock(id);
  const order = {
    ...{ ...orderOf(id), amount: known.received },
    // Simulates restoring the upstream database to a time before the quote.
    lock: { ...known, reference: `Quote:${randomUUID()}` },
  };
  await expect(rail.payOut?.(order)).rejects.toThrow('the upstream service no longer has the quote that it locked');
  expect(await rail.findOrder?.(order)).toBe(undefined);
});

/** Returns the commands and settings in docs/rails.md that put the gateway in front of an upstream service. */
function pageCommands(): {
  readonly rails: string;
  /** The address to which the upstream service posts its webhooks. */
  readonly address: string;
  readonly commands: readonly { args: string[]; input: string }[];
} {
  const [, part = ''] = readFileSync('docs/rails.md', 'utf8').split(
    '\n## Put the gateway in front of a live upstream\n',
  );
  const code = (part.split('\n## ')[0] ?? '').matchAll(/^ {7}(.*)$/gm);
  const lines = [...code].map(([, line = '']) => line).join('\n');
  const commands = lines.matchAll(/^npm run ops -- (.*?)(?: <<'(\w+)'\n(.*?)\n\2)?$/gms);
  return {
    rails: /^RAILS='(.*)'$/m.exec(lines)?.[1] ?? '',
    address: /^https:\S+\/webhooks$/m.exec(lines)?.[0] ?? '',
    commands: [...commands].map(([, words = '', , input = '']) => ({ args: words.split(' '), input })),
  };
}

test('following docs/rails.md to the letter puts a gateway in front of an upstream service', async () => {
  const { rails, address, commands } = pageCommands();
  expect(commands.map(({ args }) => args.join(' '))).toEqual([
    'platform create acme',
    'rails connect acme',
    'rails check acme',
    'rails connect acme',
  ]);
  // Step 1: an upstream token and an upstream balance.
  const own = await upstream.newPlatform('acme');
  await own.fund(await own.ownAccount('USD'), 70_000n);
  const { clientId, secret } = credentialsIn(own.authorization);
  const secretKey = randomBytes(32);
  const front = await startTestGateway({ RAILS: parseRailSettings(rails), SECRET_KEY: secretKey });
  try {
    const said: Data[] = [];
    let webhookSecret = '';
    for (const { args, input } of commands) {
      // Step 5: the upstream service sends webhooks to the address given on the page.
      if (input.includes('webhookSecret')) {
        const { hostname } = new URL(address);
        const url = address.replace(`https://${hostname}`, front.url).replace(/Platform:[0-9a-f-]+/, said[0].id);
        webhookSecret = (await createEndpoint(own, { url })).secret;
      }
      const given = input
        .replace(/"baseUrl": "[^"]*"/, `"baseUrl": "${upstream.url}/2025-10-13"`)
        .replace(/"clientId": "[^"]*"/, `"clientId": "${clientId}"`)
        .replace(/"secret": "[^"]*"/, `"secret": "${secret}"`)
        .replace(/"webhookSecret": "[^"]*"/, `"webhookSecret": "${webhookSecret}"`);
      typeIn(given);
      const environment = { RAILS: rails, SECRET_KEY: secretKey.toString('base64') };
      said.push(await askOps(front.databaseUrl, args, environment));
    }
    const [made, , checked] = said;
    expect(checked.found).toContain('USD 70000');
    // Step 6: the platform pays and converts.
    const acme = connect(front.url, uuidIn(made.id), made.authorization);
    const mine = await acme.makeScene(0n);
    await acme.bringIn(mine, 3_000n);
    const converted = await acme.quote(usdToEur(mine, { immediatelyExecute: true }));
    expect(await acme.ended(converted.transaction.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await own.balanceOf(await own.ownAccount('USD'))).toBe(72_000n);
    // Upstream has reported both payments.
    await vi.waitFor(async () => {
      const { rowCount } = await front.owner.query('select from rail_webhook where due_at is null');
      expect(rowCount).toBeGreaterThanOrEqual(4);
    }, 20_000);
  } finally {
    await front.stop();
  }
});

test('a payment for which the upstream service took too much waits until an operator settles it as promised', async () => {
  const before = await platform.balanceOf(scene.usd);
  const { differences } = await compared();
  const beyond = async () => (await balances()).map(({ held: there, booked }) => (there ?? 0n) - booked);
  const known = await beyond();
  const own = uuidIn(await account.ownAccount('USD'));
  const hold = (less: bigint) => two.spoil('update account set posted = posted - $1 where id = $2', less, own);
  const made = await platform.quote(receiving(slowAmount));
  const { there } = await two.quotesOf(made.id);
  const take = (units: bigint) =>
    two.spoil('update transaction set sent_amount = sent_amount + $1 where id = $2', units, there.transaction_id);
  await take(5n);
  await platform.execute(made.id);
  const { transaction } = made;
  const found = await vi.waitFor(async () => {
    const cases = await listCases(gateway.gateway.payments.database);
    const own = cases.filter(({ transactionId }) => transactionId === uuidIn(transaction.id));
    expect(own).toHaveLength(1);
    return own;
  }, 20_000);
  const sent = Number(there.total_sending_amount);
  const stated = (units: number) => `43.21 EUR for ${(units / 100).toFixed(2)} USD`;
  const said = { said: `settled ${stated(sent + 5)}`, stands: `locked ${stated(sent)}` };
  expect(found).toMatchObject([{ kind: 'OTHER_AMOUNT', ...said }]);
  expect(await platform.transactionOf(transaction.id)).toMatchObject({ status: 'PROCESSING' });
  await hold(5n);
  const command = ['cases', 'settle', transaction.id, '--by', 'Ada', '--reason', 'a fee that was not in the quote'];
  const settled = await askOps(gateway.databaseUrl, command, two.environment);
  expect(settled).toMatchObject({ transaction: transaction.id, differences: ['-0.05 USD'], short: null });
  const delivered = { status: 'COMPLETED', receivedAmount: { amount: String(slowAmount) } };
  expect(await platform.ended(transaction.id)).toMatchObject(delivered);
  expect(await platform.balanceOf(scene.usd)).toBe(before - amountOf(made.totalSendingAmount));
  expect((await compared()).differences).toEqual(differences);
  expect(await beyond()).toEqual(known);
  const again = await runOps(gateway.databaseUrl, ['--json', ...command], two.environment);
  expect(again).toMatchObject({ code: 1, out: expect.stringContaining('it has no order that awaits an outcome') });
  await take(-5n);
  await hold(-5n);
});
