import { describe, expect, test } from 'vitest';
import { between, fundedIn, moving, refusal, tokenInput, usdToEur } from '../setup/acts.ts';
import { type Data, inTurn, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { passApproval, passExpiry } from '../setup/passing-time.ts';
import { restClient } from '../setup/rest.ts';
import type { Bearer, Scene } from '../setup/scene.ts';
import { nextOf } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { ownReceiver, type Received } from '../webhooks/receiver.ts';

// Payments that a policy holds until a second person approves them. Amounts are in cents.

const t = await testGateway();
const { platform } = t;
const boss = await platform.serverOf('VIEW', 'APPROVE');
const stranger = await platform.makeScene(0n);

/** Creates a server token whose payments need approval under the conditions in `approval`. */
async function clerkWith(approval: object, ...permissions: readonly string[]): Promise<Bearer> {
  const clerk = await platform.serverOf('VIEW', 'TRANSACT', ...permissions);
  await platform.succeed('setPolicy', { subjectId: clerk.tokenId, approval });
  return clerk;
}

const always = { always: true };
const approve = (by: TestPlatform, transactionId: string, rest: object = {}) =>
  by.actOn('approveTransaction', { transactionId, ...rest });
const reject = (by: TestPlatform, transactionId: string, reason?: string) =>
  by.actOn('rejectTransaction', { transactionId, reason });

const uma = '$success.usd@sandbox.uma.money';
/** Pays out, and returns the result. */
const send = (by: TestPlatform, { usd, outsideUsd }: Scene, amount = 1, rest: object = {}) =>
  by.actOn('transferOut', moving(usd, outsideUsd, amount, rest));
const sent = async (by: TestPlatform, scene: Scene, amount?: number): Promise<string> =>
  (await send(by, scene, amount)).transaction.id;
/** Creates a quote, and returns the id of its payment. */
const quoted = async (by: TestPlatform, input: object): Promise<string> => (await by.quote(input)).transaction.id;

/** The ways to begin a payment. Each returns the payment's id. */
const ways: Readonly<Record<string, (by: TestPlatform, scene: Scene) => Promise<string>>> = {
  transferOut: (by, scene) => sent(by, scene, 1_000),
  transferIn: async (by, scene) => (await by.transfer('transferIn', scene, 1_000)).id,
  transferInternal: async (by, { usd }) => {
    const input = moving(usd, await platform.ownAccount('USD'), 1_000);
    return (await by.actOn('transferInternal', input)).transaction.id;
  },
  'a quote executed immediately': (by, scene) => quoted(by, usdToEur(scene, { immediatelyExecute: true })),
  'a quote executed later': async (by, scene) => {
    const { id, transaction } = await by.quote(usdToEur(scene));
    await by.execute(id);
    return transaction.id;
  },
  'a quote paid by a pull': (by, { outsideUsd, outsideEur }) =>
    quoted(by, between(outsideUsd, outsideEur, 1_000, { immediatelyExecute: true })),
  'a quote to a UMA address': async (by, { usd }) =>
    (await by.umaQuote(usd, uma, { lockedCurrencyAmount: 1_000, immediatelyExecute: true })).transaction.id,
};
const incoming = ['transferIn', 'a quote paid by a pull'];

const waitFields = `status approvalDueAt createdById decidedById reconciliationReference quote { status }
  refund { amount { amount } } failureReason timeline { status reason }`;
const shown = (by: TestPlatform, id: string) => by.fieldsOf('transaction', id, waitFields);

describe.each(Object.entries(ways))('a payment by %s', (way, begin) => {
  test.each([true, false])('waits until a second person approves it (money reserved: %s)', async (reserves) => {
    const scene = await platform.makeScene(10_000n);
    const clerk = await clerkWith({ ...always, reserves });
    const id = await begin(clerk, scene);
    const waiting = { status: 'CREATED', decidedById: null, reconciliationReference: null };
    const approvalDueAt = expect.any(String);
    expect(await shown(boss, id)).toMatchObject({ ...waiting, createdById: clerk.tokenId, approvalDueAt });
    const isTaken = reserves && !incoming.includes(way);
    expect(await platform.balanceOf(scene.usd)).toBe(isTaken ? 9_000n : 10_000n);
    expect((await approve(boss, id)).transaction).toMatchObject({ id });
    expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED', approvalDueAt: null });
    expect(await shown(boss, id)).toMatchObject({ createdById: clerk.tokenId, decidedById: boss.tokenId });
    const balance = { transferIn: 11_000n, 'a quote paid by a pull': 10_000n }[way] ?? 9_000n;
    expect(await platform.balanceOf(scene.usd)).toBe(balance);
  });

  test.each([true, false])('can be rejected without having moved money (money reserved: %s)', async (reserves) => {
    const scene = await platform.makeScene(10_000n);
    const id = await begin(await clerkWith({ ...always, reserves }), scene);
    expect((await reject(boss, id, 'no contract')).transaction).toMatchObject({ status: 'REJECTED' });
    const isTaken = reserves && !incoming.includes(way);
    const end = await shown(platform, id);
    expect(end).toMatchObject({ status: 'REJECTED', decidedById: boss.tokenId });
    expect(end.timeline.at(-1).reason).toBe('rejected: no contract');
    expect(end.refund).toEqual(isTaken ? { amount: { amount: '1000' } } : null);
    if (end.quote) expect(end.quote.status).toBe('FAILED');
    expect(await platform.balanceOf(scene.usd)).toBe(10_000n);
    expect(await approve(boss, id)).toMatchObject({ code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL' });
  });

  test('expires if it is not decided in time', async () => {
    const scene = await platform.makeScene(10_000n);
    const id = await begin(await clerkWith(always), scene);
    await passApproval(t, id);
    expect(await approve(boss, id)).toMatchObject({ code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL' });
    const end = await platform.ended(id);
    expect(end).toMatchObject({ status: 'EXPIRED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' });
    expect(end.refund === null).toBe(incoming.includes(way));
    const { quote: offer } = await shown(platform, id);
    if (offer) expect(offer.status).toBe('EXPIRED');
    // The payment counts as executed, so it appears among the customer's payments.
    const { customerId } = scene;
    expect(await platform.idsIn('transactions', { customerId, executed: true })).toEqual([id]);
    expect(await platform.idsIn('transactions', { customerId, executed: false })).toEqual([]);
    expect(await platform.balanceOf(scene.usd)).toBe(10_000n);
  });
});

describe('a quote to be executed by a deposit', () => {
  const offer = async (by: TestPlatform) => {
    const scene = await platform.makeScene(0n);
    const made = await by.quote(fundedIn('USD', scene, 1_000));
    return { scene, quoteId: made.id, id: made.transaction.id };
  };
  const send = (quoteId: string) => platform.actOn('sandboxSend', { quoteId, currency: 'USD' });

  test('refuses a deposit before its approval, and accepts one afterwards', async () => {
    const { quoteId, id } = await offer(await clerkWith(always));
    expect(await shown(platform, id)).toMatchObject({ status: 'CREATED', quote: { status: 'PENDING' } });
    const message = 'the payment is awaiting approval: it is CREATED';
    expect(await send(quoteId)).toMatchObject({ code: 'CONFLICT', message });
    expect((await approve(boss, id)).transaction).toMatchObject({ status: 'PENDING' });
    await send(quoteId);
    expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('can be rejected', async () => {
    const { id } = await offer(await clerkWith(always));
    await reject(boss, id);
    expect(await shown(platform, id)).toMatchObject({ status: 'REJECTED', quote: { status: 'FAILED' } });
  });

  test('no longer awaits a decision if it is canceled after its rejection was planned', async () => {
    const { quoteId, id } = await offer(await clerkWith(always));
    const [canceled, rejected] = await inTurn(
      t,
      ['quote', quoteId],
      () => platform.succeed('cancelQuote', { quoteId }, 'quote { status }'),
      () => reject(boss, id),
    );
    expect(canceled.quote).toMatchObject({ status: 'EXPIRED' });
    const message = 'the quote has expired';
    expect(rejected).toMatchObject({ code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', message });
  });

  test('expires even while it waits for its approval', async () => {
    const { quoteId, id } = await offer(await clerkWith(always));
    await passExpiry(t, quoteId);
    expect(await platform.ended(id)).toMatchObject({ status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED' });
  });
});

describe('a policy that demands an approval', () => {
  /** Returns the status of a new payment made with transferOut. */
  const statusOf = async (by: TestPlatform, from: string, to: string, amount: number): Promise<string> =>
    (await by.actOn('transferOut', moving(from, to, amount))).transaction.status;

  test('demands it above the given amount, and for every payment in a currency for which none is given', async () => {
    const scene = await platform.makeScene(10_000n);
    const clerk = await clerkWith({ above: [{ currency: 'USD', amount: { decimal: '5.00' } }] });
    const amounts = [500, 501].map((amount) => statusOf(clerk, scene.usd, scene.outsideUsd, amount));
    expect(await Promise.all(amounts)).toEqual(['PENDING', 'CREATED']);
    const euros = await clerkWith({ above: [{ currency: 'EUR', amount: { units: 5_000 } }] });
    expect(await statusOf(euros, scene.usd, scene.outsideUsd, 1)).toBe('CREATED');
  });

  test('demands it for a receiver that its subject has not paid before, not counting failed payments', async () => {
    const scene = await platform.makeScene(100_000n);
    const to = scene.outsideUsd;
    const failing = (await platform.makeScene(0n, '002')).outsideUsd;
    const clerk = await clerkWith({ newReceivers: true });
    // The platform has paid this receiver before, but the clerk has not.
    await platform.ended((await platform.actOn('transferOut', moving(scene.usd, to, 1))).transaction.id);
    const first = (await clerk.actOn('transferOut', moving(scene.usd, to, 1))).transaction;
    expect(first.status).toBe('CREATED');
    expect(await statusOf(clerk, scene.usd, to, 1)).toBe('CREATED');
    await approve(boss, first.id);
    await platform.ended(first.id);
    expect(await statusOf(clerk, scene.usd, to, 1)).toBe('PENDING');
    expect(await statusOf(clerk, scene.usd, stranger.outsideUsd, 1)).toBe('CREATED');
    const lost = (await clerk.actOn('transferOut', moving(scene.usd, failing, 1))).transaction;
    await approve(boss, lost.id);
    expect(await platform.ended(lost.id)).toMatchObject({ status: 'FAILED' });
    expect(await statusOf(clerk, scene.usd, failing, 1)).toBe('CREATED');
    // For a customer's policy, a receiver is not new if any token has paid it on the customer's behalf.
    await platform.succeed('setPolicy', { subjectId: scene.customerId, approval: { newReceivers: true } });
    expect(await statusOf(platform, scene.usd, to, 1)).toBe('PENDING');
    expect(await statusOf(platform, scene.usd, stranger.outsideUsd, 1)).toBe('CREATED');
  });

  test('treats a UMA address like an account', async () => {
    const scene = await platform.makeScene(100_000n);
    const clerk = await clerkWith({ newReceivers: true });
    const toUma = ways['a quote to a UMA address'] ?? Promise.reject;
    const first = await toUma(clerk, scene);
    await approve(boss, first);
    await platform.ended(first);
    expect((await platform.transactionOf(await toUma(clerk, scene))).status).not.toBe('CREATED');
  });

  test("applies to the customer's app, which sees that its payment waits, but not which token decides", async () => {
    const scene = await platform.makeScene(10_000n);
    await platform.succeed('setPolicy', { subjectId: scene.customerId, approval: always });
    const app = await platform.payingApp({ customerId: scene.customerId });
    const id = await sent(app, scene);
    expect(await shown(app, id)).toMatchObject({ status: 'CREATED', createdById: app.tokenId });
    expect(await approve(app, id)).toMatchObject({ code: 'FORBIDDEN' });
    await approve(boss, id);
    expect(await shown(app, id)).toMatchObject({ decidedById: null });
    expect(await shown(boss, id)).toMatchObject({ createdById: app.tokenId, decidedById: boss.tokenId });
    expect(await shown(app, await sent(platform, scene))).toMatchObject({ status: 'CREATED', createdById: null });
  });

  test('counts a payment as soon as it is requested, but no longer once it is rejected', async () => {
    const scene = await platform.makeScene(10_000n);
    const clerk = await platform.serverOf('VIEW', 'TRANSACT');
    const limits = [{ period: 'DAY', payments: 1 }];
    await platform.succeed('setPolicy', { subjectId: clerk.tokenId, approval: always, limits });
    const id = await sent(clerk, scene);
    expect(await send(clerk, scene)).toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await reject(boss, id);
    expect((await send(clerk, scene)).transaction).toMatchObject({ status: 'CREATED' });
  });

  test('is reported by a dry run', async () => {
    const scene = await platform.makeScene(10_000n);
    const dryRun = async (by: TestPlatform) => {
      const input = moving(scene.usd, scene.outsideUsd, 1, { validateOnly: true });
      return (await by.act('transferOut', input, '', '... on ValidatedPayment { approvalDueAt }')).approvalDueAt;
    };
    expect([await dryRun(platform), await dryRun(await clerkWith(always))]).toEqual([null, expect.any(String)]);
  });

  test.each([
    [{}, 'INVALID_INPUT', []],
    [{ always: true, expiresInSeconds: 0 }, 'INVALID_INPUT', ['expiresInSeconds']],
    [{ always: true, expiresInSeconds: 2_592_001 }, 'INVALID_INPUT', ['expiresInSeconds']],
    [{ above: [{ currency: 'XXX', amount: { units: 1 } }] }, 'INVALID_CURRENCY', ['above', 0, 'currency']],
    [{ above: [1, 2].map((units) => ({ currency: 'USD', amount: { units } })) }, 'INVALID_INPUT', ['above', 1]],
  ])('as %j is refused', async (approval, code, path) => {
    const refused = await platform.act('setPolicy', { subjectId: boss.tokenId, approval });
    expect(refused).toMatchObject(refusal(code, 'approval', ...path));
  });
});

describe('a requester can never approve', () => {
  const everything = ['VIEW', 'TRANSACT', 'APPROVE', 'MANAGE'] as const;
  const limited = async () => {
    const scene = await platform.makeScene(10_000n);
    await platform.succeed('setPolicy', { subjectId: scene.customerId, approval: always });
    return scene;
  };

  test('through an ancestor or a descendant of its token', async () => {
    const scene = await limited();
    const one = await platform.serverOf(...everything);
    const child = await one.serverOf(...everything);
    const grandchild = await child.serverOf(...everything);
    const other = await platform.serverOf(...everything);
    const app = await child.payingApp({ customerId: scene.customerId });
    const may = async (asks: TestPlatform, decides: TestPlatform) =>
      (await approve(decides, await sent(asks, scene))).code ?? 'APPROVED';
    const related = [one, child, grandchild];
    for (const asks of related) for (const decides of related) expect(await may(asks, decides)).toBe('FORBIDDEN');
    for (const decides of [one, child]) expect(await may(app, decides)).toBe('FORBIDDEN');
    for (const asks of [...related, app]) expect(await may(asks, other)).toBe('APPROVED');
    expect([await may(platform, one), await may(one, platform)]).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  });

  test('through another token that the same policy limits', async () => {
    const scene = await platform.makeScene(10_000n);
    const head = await platform.serverOf(...everything);
    const [clerk, colleague] = [await head.serverOf(...everything), await head.serverOf(...everything)];
    await platform.succeed('setPolicy', { subjectId: head.tokenId, approval: always });
    const id = await sent(clerk, scene);
    expect(await approve(colleague, id)).toMatchObject({ code: 'FORBIDDEN' });
    expect((await approve(boss, id)).transaction).toMatchObject({ status: 'PENDING' });
  });

  test('a payment whose quote it executed', async () => {
    const scene = await limited();
    const [one, other] = [await platform.serverOf(...everything), await platform.serverOf(...everything)];
    const { id: quoteId, transaction } = await one.quote(usdToEur(scene));
    expect(await shown(one, transaction.id)).toMatchObject({ status: 'PENDING', createdById: null });
    await other.execute(quoteId);
    expect(await approve(other, transaction.id)).toMatchObject({ code: 'FORBIDDEN' });
    expect((await approve(one, transaction.id)).transaction).toMatchObject({ status: 'PROCESSING' });
    expect(await shown(one, transaction.id)).toMatchObject({ createdById: other.tokenId, decidedById: one.tokenId });
  });

  test('a token without APPROVE cannot decide; APPROVE alone allows neither payments nor decisions on incoming payments', async () => {
    const scene = await limited();
    const id = await sent(platform, scene);
    const clerk = await platform.serverOf('VIEW', 'TRANSACT', 'MANAGE');
    for (const decide of [approve, reject]) expect(await decide(clerk, id)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await send(boss, scene)).toMatchObject({ code: 'FORBIDDEN' });
    const announced = await platform.announce(scene.customerId, 1);
    for (const decide of [approve, reject])
      expect(await decide(boss, announced.id)).toMatchObject({ code: 'FORBIDDEN' });
    const app = tokenInput({ customerId: scene.customerId, permissions: ['VIEW', 'APPROVE'] });
    expect(await platform.act('createClientToken', app)).toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe('only one of several concurrent decisions takes effect', () => {
  /** Runs actions concurrently, and returns their result codes. */
  const race = async (...acts: readonly Promise<Data>[]) =>
    (await Promise.all(acts)).map((done) => done.code ?? 'DONE').sort();
  const late = 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL';

  test('money moves once, whether a payment is approved twice, approved and rejected, or approved at the deadline', async () => {
    const scene = await platform.makeScene(1_000_000n);
    const clerk = await clerkWith(always);
    const second = await platform.serverOf('VIEW', 'APPROVE');
    const ask = () => sent(clerk, scene, 10);
    let paid = 0n;
    for (let round = 0; round < 8; round += 1) {
      const [twice, both, atDeadline] = [await ask(), await ask(), await ask()];
      expect(await race(approve(boss, twice), approve(second, twice))).toEqual(['DONE', late]);
      expect(await race(approve(boss, both), reject(second, both))).toEqual(['DONE', late]);
      await Promise.all([passApproval(t, atDeadline), approve(boss, atDeadline)]);
      const ends = await Promise.all([twice, both, atDeadline].map((id) => platform.ended(id)));
      for (const { status } of ends) expect(['COMPLETED', 'REJECTED', 'EXPIRED']).toContain(status);
      paid += 10n * BigInt(ends.filter(({ status }) => status === 'COMPLETED').length);
    }
    expect(await platform.balanceOf(scene.usd)).toBe(1_000_000n - paid);
  });

  test('executing a quote again, concurrently or later, leaves only one payment waiting', async () => {
    const scene = await platform.makeScene(10_000n);
    const clerk = await clerkWith(always);
    const { id, transaction } = await clerk.quote(usdToEur(scene));
    expect(await race(clerk.execute(id), clerk.execute(id))).toEqual(['CONFLICT', 'DONE']);
    expect(await clerk.execute(id)).toMatchObject({ code: 'CONFLICT' });
    expect(await platform.balanceOf(scene.usd)).toBe(9_000n);
    await approve(boss, transaction.id);
    expect(await clerk.execute(id)).toMatchObject({ code: 'CONFLICT' });
    expect(await platform.ended(transaction.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await platform.balanceOf(scene.usd)).toBe(9_000n);
  });

  test('a repeated request with the same key returns the same payment, before and after its approval', async () => {
    const scene = await platform.makeScene(10_000n);
    const clerk = await clerkWith(always);
    const repeat = () => send(clerk, scene, 10, { idempotencyKey: 'rent-november' });
    const [{ transaction }, again] = await Promise.all([repeat(), repeat()]);
    expect(again.transaction).toMatchObject({ id: transaction.id, status: 'CREATED' });
    await approve(boss, transaction.id);
    await platform.ended(transaction.id);
    expect((await repeat()).transaction).toMatchObject({ id: transaction.id, status: 'CREATED' });
    expect(await platform.balanceOf(scene.usd)).toBe(9_990n);
  });

  test('money that was not reserved must be available when the payment is approved', async () => {
    const scene = await platform.makeScene(1_000n);
    const clerk = await clerkWith({ always: true, reserves: false });
    const [one, other] = [await sent(clerk, scene, 600), await sent(clerk, scene, 600)];
    await approve(boss, one);
    expect(await approve(boss, other)).toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    expect((await platform.transactionOf(other)).status).toBe('CREATED');
  });
});

test('events, webhooks, live lists and REST show that a payment is waiting, who requested it and who decided', async () => {
  const scene = await platform.makeScene(10_000n);
  const receiver = await ownReceiver();
  await createEndpoint(platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
  const clerk = await clerkWith(always);
  const changes = platform.watch(
    `subscription ($filter: TransactionFilter) { transactionChanges(filter: $filter) { changes { op node { id } } } }`,
    { filter: { customerId: scene.customerId, status: ['CREATED'] } },
  );
  const nextOps = async () => (await nextOf(changes)).data.transactionChanges.changes.map(({ op }: Data) => op);
  // After its first message, the stream reports every change to the list.
  await nextOps();
  const entered = nextOps();
  const { transaction } = await send(clerk, scene, 10);
  expect(await entered).toEqual(['ENTER']);
  const rest = await restClient(platform.url, boss.authorization);
  const asRest = () => rest.ask('GET', `/transactions/${transaction.id}`);
  const requested = { createdById: clerk.tokenId, approvalDueAt: expect.any(String) };
  expect(await asRest()).toMatchObject({ status: 'CREATED', ...requested });
  const decided = await rest.ask('POST', `/transactions/${transaction.id}/approve`, {});
  expect(decided).toMatchObject({ status: 'PENDING', decidedById: boss.tokenId });
  await platform.untilStatus(transaction.id, 'COMPLETED');
  // Payments of earlier tests may also complete.
  const own = (all: readonly Received[]) =>
    all.map(({ body }) => body.transaction).filter((one) => one?.id === transaction.id);
  await receiver.until((all) => own(all).some(({ status }) => status === 'COMPLETED'));
  const bodies = own(receiver.received);
  const facts = (one: Data) => [one.status, one.createdById, one.decidedById ?? null, one.approvalDueAt !== undefined];
  const byStatus = (status: string) => bodies.filter((one) => one.status === status).map(facts);
  expect(byStatus('CREATED')).toEqual([['CREATED', clerk.tokenId, null, true]]);
  expect(byStatus('COMPLETED')).toEqual([['COMPLETED', clerk.tokenId, boss.tokenId, false]]);
  const query = `query ($id: ID!) { events(filter: { transactionId: $id }, first: 10) {
    edges { node { transaction { status createdById decidedById approvalDueAt } } } } }`;
  const { events } = await platform.ask(query, { id: transaction.id });
  const before = { ...requested, decidedById: null };
  const after = { createdById: clerk.tokenId, decidedById: boss.tokenId, approvalDueAt: null };
  expect(events.edges.map(({ node }: Data) => node.transaction)).toEqual([
    { status: 'CREATED', ...before },
    { status: 'PENDING', ...after },
    { status: 'COMPLETED', ...after },
  ]);
  expect(await nextOps()).toEqual(['LEAVE']);
  await changes.return?.();
});
