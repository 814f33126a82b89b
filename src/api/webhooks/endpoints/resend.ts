import { uuidOf } from '../../../core/ids.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { runIdempotent } from '../../../domain/access/run-idempotent.ts';
import { visibleToPlatform } from '../../../domain/access/visible.ts';
import type { Prisma, WebhookDelivery } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import type { Webhooks } from '../webhooks.ts';
import { endpointDisabled, lockEndpoint } from './endpoint-queries.ts';

/** Makes a delivery due now, with a full schedule of attempts before it. A pending approval request remains one. */
export const restart = `status = 'PENDING', tries = 0, next_attempt_at = clock_ms(), question = d.question and d.status = 'PENDING'`;

const resendStatement = statement<object>(
  'resend_delivery',
  `update webhook_delivery d set ${restart} where d.platform_id = $1 and d.id = $2`,
);

/**
 * Sends one delivery again, in any status, under its original webhook id. The record of its attempts stays, and the new ones
 * follow. A delivery that waits for its next attempt is attempted at once.
 * @throws Refusal WEBHOOK_DELIVERY_NOT_FOUND, CONFLICT (its endpoint is disabled), IDEMPOTENCY_MISMATCH
 */
export function resend(
  webhooks: Webhooks,
  caller: Caller,
  input: { readonly deliveryId: string },
  idempotencyKey: string | null | undefined,
): Promise<{ delivery: WebhookDelivery; replayed: boolean }> {
  const id = uuidOf(input.deliveryId, 'WebhookDelivery') ?? notFound();
  return runIdempotent(webhooks.payments.database, caller, {
    operation: 'resendWebhookDelivery',
    input,
    idempotencyKey,
    effect: async (transaction) => {
      const { client, prisma } = transaction;
      const { endpointId } = await readDelivery(prisma, caller, id);
      // Locked, so that the endpoint cannot be disabled, with its pending deliveries, before this is one of them.
      const endpoint = await lockEndpoint(transaction, caller, endpointId);
      if (endpoint.status === 'DISABLED') throw endpointDisabled(endpointId);
      await resendStatement(client, caller.platformId, id);
      return {
        result: { type: 'WebhookDelivery', row: { platform_id: caller.platformId, id } },
        answer: { delivery: await readDelivery(prisma, caller, id) },
      };
    },
    repeat: async () => ({ delivery: await readDelivery(webhooks.payments.database.prisma, caller, id) }),
  });
}

async function readDelivery(prisma: Prisma.TransactionClient, caller: Caller, id: string): Promise<WebhookDelivery> {
  const where = { AND: [visibleToPlatform(caller), { id }] };
  return (await prisma.webhookDelivery.findFirst({ where })) ?? notFound();
}

function notFound(): never {
  throw new Refusal('WEBHOOK_DELIVERY_NOT_FOUND', 'no such webhook delivery', ['deliveryId']);
}
