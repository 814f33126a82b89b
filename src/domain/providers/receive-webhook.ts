import { hash } from 'node:crypto';
import { uuidOf } from '../../core/ids.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import { statement } from '../../infra/database/statement.ts';
import type { RailWebhook, ReceivedWebhook } from '../../rails/rail-webhooks.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { railAnswer } from '../orders/rail-answer.ts';

/** The maximum length of a webhook id that is stored unchanged. */
const maxIdLength = 200;

const storeStatement = statement<object>(
  'store_rail_webhook',
  'insert into rail_webhook (platform_id, webhook_id, body) values ($1, $2, $3) on conflict do nothing',
);

/**
 * Stores a webhook of a platform's provider, once per id, for later processing. Only webhooks that the rail verifies as
 * its provider's are stored.
 * @param platformId as in the URL: `Platform:…`
 * @returns undefined if there is no such platform, its rail does not support webhooks, or this is not from its provider
 * @throws whatever the rail throws if it cannot tell
 */
export async function receiveWebhook(
  payments: Payments,
  platformId: string,
  webhook: RailWebhook,
): Promise<ReceivedWebhook | undefined> {
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
