import { publicId } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import { inTransaction, type Transaction } from '../../infra/database/transaction.ts';
import { type Operator, recordAct } from '../access/operator-acts.ts';
import { changedColumns, formatRate, ownRates, type Rate, type RateChanges, type Rates } from '../access/rates.ts';

/**
 * Changes a platform's own rate limits. Instances cache credentials, and apply the change within two seconds.
 * @returns its current limits, null if those from the settings apply
 * @throws Error for an unknown platform
 */
export function changeRates(database: Database, name: string, operator: Operator, changes: RateChanges) {
  return inTransaction(database, (transaction) => change(transaction, name, operator, changes));
}

async function change(transaction: Transaction, name: string, operator: Operator, changes: RateChanges) {
  const { prisma } = transaction;
  const before = await prisma.platform.findFirst({ where: { name } });
  if (!before) throw new Error(`there is no platform named ${JSON.stringify(name)}`);
  const data = changedColumns(changes);
  await prisma.platform.updateMany({ where: { name }, data });
  const now = ownRates(await prisma.platform.findFirstOrThrow({ where: { name } }));
  // Showing the limits is not recorded as an act.
  if (Object.keys(data).length > 0) {
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
