import { setTimeout as delay } from 'node:timers/promises';
import { audit } from '../../../src/domain/ledger/audit.ts';
import { query } from '../../setup/embedded-servers.ts';
import { type Data, startTestGateway } from '../../setup/gateway.ts';
import { readFeed, readPayments, readReceipts } from '../evidence.ts';
import type { Load } from '../load.ts';
import type { Books, Movement, Restores } from './books.ts';
import { platformName, type TwoSides } from './furnish-sides.ts';
import { executedIds, paymentIds, present, readDeposits, readHeld, readMovements, readOrders } from './read-books.ts';
import type { Side } from './sides.ts';

/** The state before each restore. */
export interface Before {
  readonly upstream: Awaited<ReturnType<typeof beforeUpstream>>;
  readonly here: Awaited<ReturnType<typeof beforeHere>>;
}

/**
 * Reads the upstream payments and the gateway's settled orders just before the upstream is restored. For this, it
 * starts an instance on the upstream database, which no other instance may be using.
 */
export async function beforeUpstream({ here, upstream, accountAt }: TwoSides) {
  const settings = { ROLE: 'serve' } as const;
  const gateway = await startTestGateway(settings, upstream.databaseUrl);
  const movements = await readMovements(accountAt(gateway.url), gateway.url);
  await gateway.stop();
  const orders = await readOrders(here.databaseUrl);
  const settled = new Set(orders.flatMap(({ id, state }) => (state === 'SETTLED' || state === 'RETURNED' ? [id] : [])));
  return { movements, settled };
}

export async function beforeHere({ here }: TwoSides) {
  const orders = await readOrders(here.databaseUrl);
  return {
    payments: await paymentIds(here.databaseUrl),
    executed: await executedIds(here.databaseUrl),
    orders: new Set(orders.map(({ id }) => id)),
  };
}

/**
 * Waits until no payments are in flight, then reads both books.
 * @param opening the upstream balance before the first payment
 */
export async function gatherBooks(
  sides: TwoSides,
  load: Load,
  before: Before,
  opening: ReadonlyMap<string, bigint>,
): Promise<Books> {
  const { here, upstream, start, begin } = sides;
  await atRest(sides);
  const endedByHand = await endUnknown(sides);
  await atRest(sides);
  await settledAWhile(sides);
  const [platform, account] = [present(sides.platform()), present(sides.account())];
  const { history, internalErrors } = load;
  const movements = await readMovements(account, present(upstream.url));
  const held = await readHeld(account, present(upstream.url));
  const period = ['--from', begin.toISOString(), '--to', new Date(Date.now() + 3_600_000).toISOString()];
  const { differences } = await here.ops('rails', 'reconcile', platformName, ...period);
  const orders = await readOrders(here.databaseUrl);
  return {
    ...{ history, internalErrors, orders, movements, named: differences },
    receipts: await readReceipts(platform, history),
    feed: await readFeed(platform, start),
    payments: (await readPayments(platform)).filter(({ id }) => !sides.first.has(id)),
    deposits: await readDeposits(here.databaseUrl),
    held: new Map([...held].map(([currency, amount]) => [currency, amount - (opening.get(currency) ?? 0n)])),
    breaches: { here: await audit({ url: here.databaseUrl }), upstream: await audit({ url: upstream.databaseUrl }) },
    restores: await restoresOf(here.databaseUrl, before, movements, endedByHand),
  };
}

async function restoresOf(
  databaseUrl: string,
  before: Before,
  movements: readonly Movement[],
  endedByHand: ReadonlySet<string>,
): Promise<Restores> {
  const references = new Set(movements.map(({ reference }) => reference));
  const orders = new Set((await readOrders(databaseUrl)).map(({ id }) => id));
  return {
    vanished: before.upstream.movements.filter(({ reference }) => !references.has(reference)),
    settledBefore: before.upstream.settled,
    undonePayments: await undoneBy(databaseUrl, before.here),
    undoneOrders: new Set([...before.here.orders].filter((id) => !orders.has(id))),
    endedByHand,
  };
}

/** Returns the payments that no longer exist, or whose quotes no longer appear as executed. */
export async function undoneBy(databaseUrl: string, before: Before['here']): Promise<ReadonlySet<string>> {
  const [payments, executed] = [await paymentIds(databaseUrl), await executedIds(databaseUrl)];
  return new Set([
    ...[...before.payments].filter((id) => !payments.has(id)),
    ...[...before.executed].filter((id) => !executed.has(id)),
  ]);
}

/** If nothing has changed for this many milliseconds, nothing more will change on its own. */
const silenceMs = 20_000;
/** The wait ends once everything has been made due this many times in a row without effect. */
const silences = 3;

/** Does not count orders with an open case, which wait for an operator and are polled every minute. */
const waitingHere = `select ((select count(*) from outbox) + (select count(*) from rail_order o where due_at is not null
    and not exists (select from rail_case c where c.platform_id = o.platform_id and c.order_id = o.id and c.closed_at is null))
  + (select count(*) from rail_webhook where due_at is not null)
  + (select count(*) from rail_deposit where status = 'RECEIVED'))::int as waiting`;
const waitingUpstream = `select ((select count(*) from outbox) + (select count(*) from rail_order where due_at is not null)
  + (select count(*) from webhook_delivery where status = 'PENDING'))::int as waiting`;
/** Counts the connections whose next deposit query is due within 15 seconds. */
const asking = `select count(*)::int as waiting from rail_connection where deposits_due_at <= clock_timestamp() + interval '15 seconds'`;
/** Makes everything due: retries, polls for unreported outcomes, and deposit queries. */
const nowHere = [
  `update rail_order o set due_at = clock_ms() from transaction t where t.platform_id = o.platform_id
    and t.id = o.transaction_id and t.status in ('PENDING', 'PROCESSING') and o.due_at is not null`,
  `update rail_deposit set due_at = clock_ms() where status = 'RECEIVED'`,
  'update rail_webhook set due_at = clock_ms() where due_at is not null',
  'update rail_connection set deposits_due_at = clock_ms()',
];
const nowUpstream = [`update webhook_delivery set next_attempt_at = clock_ms() where status = 'PENDING'`];

async function atRest({ here, upstream }: TwoSides): Promise<void> {
  const waiting = async ({ databaseUrl }: Side, text: string) =>
    (await query<{ waiting: number }>(databaseUrl, text))[0]?.waiting;
  const countAll = async () => [await waiting(here, waitingHere), await waiting(upstream, waitingUpstream)];
  for (let silent = 0, before = ''; silent < silences; ) {
    for (const text of nowHere) await query(here.databaseUrl, text);
    for (const text of nowUpstream) await query(upstream.databaseUrl, text);
    let last = '';
    for (let deadline = 0; last === '' || performance.now() < deadline; await delay(250)) {
      const counts = await countAll();
      if (counts.every((count) => count === 0) && (await waiting(here, asking)) === 0) return;
      if (String(counts) !== last) deadline = performance.now() + silenceMs;
      last = String(counts);
    }
    silent = last === before ? silent + 1 : 0;
    before = last;
  }
}

/**
 * Counts recent payments. For a minute after a payment has ended, the balance comparison still counts it as in flight
 * and may therefore miss a difference of up to its amount.
 */
const recent =
  "select count(*)::int as recent from transaction where updated_at >= clock_timestamp() - interval '65 seconds'";

/** Waits until the last payment ended long enough ago for the balance comparison to be exact. */
async function settledAWhile({ here }: TwoSides): Promise<void> {
  while ((await query<{ recent: number }>(here.databaseUrl, recent))[0]?.recent !== 0) await delay(500);
}

/** As an operator, fails the payments whose quotes the restored upstream service no longer knows. Returns their ids. */
async function endUnknown({ here }: TwoSides): Promise<ReadonlySet<string>> {
  const waiting: Data[] = [];
  for (const status of ['PENDING', 'PROCESSING'])
    waiting.push(...(await here.ops('order', 'list', '--status', status, '--limit', '10000')));
  for (const { transaction } of waiting) {
    const because = ['--by', 'Ada', '--reason', 'upstream was restored and no longer knows the quote'];
    await failPatiently(here, [transaction, ...because]);
  }
  return new Set(waiting.map(({ transaction }) => transaction));
}

/** Repeats the command if the upstream service exceeds the rail's time limit, as can happen on a busy machine. */
async function failPatiently(here: Side, args: readonly string[], attempts = 5): Promise<void> {
  try {
    await here.ops('order', 'fail', ...args);
  } catch (error) {
    if (attempts === 1 || !String(error).includes('the rail cannot be reached')) throw error;
    await failPatiently(here, args, attempts - 1);
  }
}
