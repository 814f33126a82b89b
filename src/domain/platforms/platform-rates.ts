import { publicId } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import { inTransaction, type Transaction } from '../../infra/database/transaction.ts';
import { type Operator, recordAct } from '../access/operator-acts.ts';
import { formatRate, ownRates, type Rate, type Rates } from '../access/rates.ts';

export type RateChanges = { readonly [limit in keyof Rates]?: Rate | null };

/**
 * Changes a platform's own rate limits. Instances, which cache credentials, follow within two seconds.
 * @returns its current limits, null if those of the settings apply
 * @throws Error for an unknown platform
 */
export function changeRates(database: Database, name: string, operator: Operator, changes: RateChanges) {
  return inTransaction(database, (transaction) => change(transaction, name, operator, changes));
}

async function change(transaction: Transaction, name: string, operator: Operator, changes: RateChanges) {
  const { prisma } = transaction;
  const { platform, apiToken, clientToken } = changes;
  const before = await prisma.platform.findFirst({ where: { name } });
  if (!before) throw new Error(`there is no platform named ${JSON.stringify(name)}`);
  await prisma.platform.updateMany({
    where: { name },
    data: {
      ...(platform !== undefined && { rateLimit: platform?.perSecond ?? null, rateBurst: platform?.burst ?? null }),
      ...(apiToken !== undefined && {
        apiTokenRateLimit: apiToken?.perSecond ?? null,
        apiTokenRateBurst: apiToken?.burst ?? null,
      }),
      ...(clientToken !== undefined && {
        clientTokenRateLimit: clientToken?.perSecond ?? null,
        clientTokenRateBurst: clientToken?.burst ?? null,
      }),
    },
  });
  const now = ownRates(await prisma.platform.findFirstOrThrow({ where: { name } }));
  // Showing the limits is not recorded as an act.
  if (Object.keys(changes).length > 0) {
    const subject = publicId('Platform', before.id);
    const facts = { before: inJson(ownRates(before)), after: inJson(now) };
    await recordAct(transaction, operator, { platformId: before.id, subject, ...facts });
  }
  return now;
}

function inJson({ platform, apiToken, clientToken }: Rates) {
  const text = (rate: Rate | null) => rate && formatRate(rate);
  return { platform: text(platform), apiToken: text(apiToken), clientToken: text(clientToken) };
}
