import { hash } from 'node:crypto';
import { uuidOf } from '../../core/ids.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import { type Lease, type LeasedTable, leasing, postponing, workOnDue } from '../../infra/database/leases.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import { inSpan } from '../../infra/instruments/spans.ts';
import type { RailWebhook } from '../../rails/rail-parts.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { wakeIdentityCheck } from '../customers/customers.ts';
import { railAnswer, wakeOrder } from '../orders/orders.ts';
import { wakeDeposits } from './deposits.ts';

/** The maximum length of a webhook id that is stored unchanged. */
const maxIdLength = 200;

const storeStatement = statement<object>(
  'store_rail_webhook',
  'insert into rail_webhook (platform_id, webhook_id, body) values ($1, $2, $3) on conflict do nothing',
);

/**
 * Stores a webhook from a platform's provider, once per id, for later processing. Only webhooks that the rail verifies
 * as coming from its provider are stored.
 * @param platformId as in the URL: `Platform:…`
 * @returns undefined if the platform does not exist, its rail does not support webhooks, or the webhook is not genuine
 * @throws whatever the rail throws if it cannot verify the webhook
 */
export async function receiveWebhook(payments: Payments, platformId: string, webhook: RailWebhook) {
  const uuid = uuidOf(platformId, 'Platform');
  if (uuid === undefined) return undefined;
  const { pool, prisma, commits } = payments.database;
  return asPlatform(uuid, async () => {
    const platform = await prisma.platform.findFirst({ where: { id: uuid }, select: { environment: true } });
    const rail = platform && connectedRail(payments, { platformId: uuid, ...platform });
    const received = rail?.receiveWebhook && (await railAnswer(rail.receiveWebhook(webhook)));
    if (!received) return undefined;
    const { id } = received;
    await storeStatement(pool, uuid, id.length <= maxIdLength ? id : hash('sha256', id), Buffer.from(webhook.body));
    commits.emit('received');
    return received;
  });
}

/** How long the worker pauses when no webhook is waiting, in ms. Storing a webhook in this process ends the pause. */
export const webhookIdleMs = 1_000;

interface StoredWebhook extends Lease {
  readonly webhookId: string;
  readonly body: Buffer;
  readonly attempts: number;
}

const webhooks: LeasedTable = { table: 'rail_webhook', rows: 'rail_webhooks', key: ['webhook_id', 'text'] };

export const leaseRailWebhooks = leasing<StoredWebhook>(webhooks, { reads: 'l.webhook_id, l.body, l.attempts' });

const postpone = postponing(webhooks);

const doneStatement = statement<object>(
  'rail_webhook_done',
  'update rail_webhook set due_at = null where platform_id = $1 and webhook_id = $2',
);

/**
 * Processes up to `limit` stored provider webhooks. Each is leased for 30 seconds: if a process dies, another takes
 * over. The effect is committed in the transaction that marks the webhook as done, so a second attempt changes nothing.
 * @returns the number of webhooks processed
 */
export function workOnWebhooks(payments: Payments, limit: number): Promise<number> {
  return workOnDue(payments, limit, {
    ...{ lease: leaseRailWebhooks, postpone, failure: "could not process a provider's webhook" },
    about: ({ webhookId }) => ({ webhookId }),
    work: (due) =>
      inSpan('provider webhook', { isRoot: true, attributes: { 'payments.platform.id': due.platformId } }, () =>
        workOn(payments, due),
      ),
  });
}

async function workOn(payments: Payments, { platformId, webhookId, environment, body }: StoredWebhook): Promise<void> {
  const rail = connectedRail(payments, { platformId, environment });
  if (!rail?.readWebhook) throw new Error(`the rail of platform ${platformId} does not support webhooks`);
  const news = await railAnswer(rail.readWebhook(body));
  // The orders are sorted by id: transactions that lock rows in the same order cannot deadlock.
  const orders = news
    .filter((one) => one.kind === 'order')
    .sort((one, other) => one.orderId.localeCompare(other.orderId));
  await inTransaction(payments.database, async ({ client }) => {
    for (const { orderId, mayHaveReturned } of orders)
      await wakeOrder(client, { platformId, orderId, alsoSettled: mayHaveReturned });
    for (const one of news) if (one.kind === 'identity') await wakeIdentityCheck(client, platformId, one.customerId);
    if (news.some(({ kind }) => kind === 'deposit')) await wakeDeposits(client, platformId);
    await doneStatement(client, platformId, webhookId);
  });
}
