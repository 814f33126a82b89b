import type { Environment } from '../../database/generated/client/client.ts';
import { statement } from '../../database/statement.ts';
import { inTransaction } from '../../database/transaction.ts';
import { inSpan } from '../../instruments/spans.ts';
import type { OrderNews, RailNews } from '../../rails/rail-webhooks.ts';
import { connectedRail, type Payments } from '../command.ts';
import { wakeIdentityCheck } from '../customers/identity-checks.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { wakeOrder } from '../orders/wake-order.ts';
import { wakeDeposits } from './find-deposits.ts';

/** How long the work pauses when no webhook waits, in milliseconds. One that this process has stored ends the pause. */
export const webhookIdleMs = 1_000;

interface StoredWebhook {
  readonly platformId: string;
  readonly webhookId: string;
  readonly environment: Environment;
  readonly body: Buffer;
  readonly attempts: number;
}

const leaseStatement = statement<StoredWebhook>(
  'lease_rail_webhooks',
  `with due as (
     select platform_id, webhook_id from rail_webhook where due_at <= clock_timestamp() order by due_at limit $1
     for update skip locked
   )
   update rail_webhook w set due_at = clock_ms() + interval '30 seconds', attempts = w.attempts + 1
   from due join platform p on p.id = due.platform_id
   where w.platform_id = due.platform_id and w.webhook_id = due.webhook_id
   returning w.platform_id, w.webhook_id, p.environment, w.body, w.attempts`,
);

const doneStatement = statement<object>(
  'rail_webhook_done',
  'update rail_webhook set due_at = null where platform_id = $1 and webhook_id = $2',
);

const postponeStatement = statement<object>(
  'postpone_rail_webhook',
  `update rail_webhook set due_at = clock_ms() + $3::bigint * interval '1 millisecond'
   where platform_id = $1 and webhook_id = $2 and due_at is not null`,
);

/**
 * Works on up to `limit` webhooks of providers that were stored. Each is leased for 30 seconds: when a process dies, another
 * one takes it. What it says is done in the transaction that marks it as done; a second time changes nothing.
 * @returns how many there were
 */
export async function workOnWebhooks(payments: Payments, limit: number): Promise<number> {
  const due = await leaseStatement(payments.database.pool, limit);
  await Promise.all(
    due.map((webhook) =>
      inSpan('provider webhook', { isRoot: true, attributes: { 'payments.platform.id': webhook.platformId } }, () =>
        workOn(payments, webhook),
      ).catch((error: unknown) => postpone(payments, webhook, error)),
    ),
  );
  return due.length;
}

async function workOn(payments: Payments, { platformId, webhookId, environment, body }: StoredWebhook): Promise<void> {
  const rail = connectedRail(payments, { platformId, environment });
  if (!rail?.readWebhook) throw new Error(`the rail of the platform ${platformId} takes no webhooks`);
  const news = await railAnswer(rail.readWebhook(body));
  await inTransaction(payments.database, async ({ client }) => {
    for (const { orderId, mayHaveReturned } of ordersIn(news)) {
      await wakeOrder(client, { platformId, orderId, alsoSettled: mayHaveReturned });
    }
    for (const one of news) if (one.kind === 'identity') await wakeIdentityCheck(client, platformId, one.customerId);
    if (news.some(({ kind }) => kind === 'deposit')) await wakeDeposits(client, platformId);
    await doneStatement(client, platformId, webhookId);
  });
}

/** All transactions lock orders in the same order, so that none waits for another one in a circle. */
function ordersIn(news: readonly RailNews[]): readonly OrderNews[] {
  const orders = news.filter((one) => one.kind === 'order');
  return orders.toSorted((one, other) => one.orderId.localeCompare(other.orderId));
}

/** Lets a webhook that could not be worked on wait, longer each time, at most an hour. */
async function postpone(payments: Payments, webhook: StoredWebhook, error: unknown): Promise<void> {
  const { platformId, webhookId, attempts } = webhook;
  const dueInMs = Math.min(3_600_000, 500 * 2 ** Math.min(attempts, 20));
  payments.log.error(
    { err: error, platformId, webhookId },
    "a provider's webhook could not be worked on; it is tried again",
  );
  await postponeStatement(payments.database.pool, platformId, webhookId, dueInMs);
}
