import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/operations.ts';
import { visibleAccounts } from '../../access/visible.ts';
import { currencyOf } from '../../core/currencies.ts';
import { pathsIn } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import { lockPlatform } from '../../core/tenant.ts';
import { readClock } from '../../database/clock.ts';
import { sqlState } from '../../database/faults.ts';
import type { Platform, TrustedDocumentPolicy } from '../../database/generated/client/client.ts';
import { retryLostRaces } from '../../database/retry.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { commitPlanOn } from '../../ledger/commit.ts';
import { newInternalAccounts } from '../accounts/internal-accounts.ts';
import type { Payments } from '../command.ts';
import { idAt, readParties } from '../parties.ts';
import { checkUmaDomain } from './uma-domain.ts';

/** The settings that a platform can change (decision 56). */
export interface PlatformSettings {
  /** The domain of the UMA addresses that new customers get: the platform's own (decision 61). */
  readonly umaDomain?: string | undefined;
  /** The currencies of the internal accounts of new customers; replaces the list. */
  readonly currencies?: readonly string[] | undefined;
  /** Whose tokens may send registered documents only. */
  readonly trustedDocuments?: TrustedDocumentPolicy | undefined;
}

const at = pathsIn<PlatformSettings>();

/** Reads the row of the platform. */
export function readPlatform(payments: Payments, caller: Caller): Promise<Platform> {
  return payments.database.prisma.platform.findUniqueOrThrow({ where: { id: caller.platformId } });
}

/**
 * Changes a platform's settings. The platform gets an internal account for each new currency. Existing accounts and the
 * addresses of customers stay.
 * @param besides changes more in the same transaction, with the platform's row locked
 * @throws Refusal FORBIDDEN, INVALID_INPUT, INVALID_CURRENCY, CONFLICT (the domain is another platform's or not proven),
 *   SERVICE_UNAVAILABLE (its proof cannot be looked up), and what `besides` throws
 */
export async function updatePlatform<Besides>(
  payments: Payments,
  caller: Caller,
  settings: PlatformSettings,
  besides: (transaction: Transaction) => Promise<Besides>,
): Promise<Besides> {
  authorize(caller, 'updatePlatform');
  const { currencies, trustedDocuments } = settings;
  if (currencies) checkCurrencies(currencies);
  const umaDomain =
    settings.umaDomain === undefined
      ? undefined
      : await checkUmaDomain(payments, caller, settings.umaDomain, at('umaDomain'));
  try {
    return await retryLostRaces(() =>
      inTransaction(payments.database, async (transaction) => {
        const { client, prisma } = transaction;
        await lockPlatform(client, caller);
        const { now: updatedAt } = await readClock(client);
        await prisma.platform.update({
          where: { id: caller.platformId },
          data: { umaDomain, currencies: currencies && [...currencies], trustedDocuments, updatedAt },
        });
        if (currencies) await openAccounts(payments, transaction, caller, currencies);
        return besides(transaction);
      }),
    );
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
    throw new Refusal('CONFLICT', 'this UMA domain is taken', { path: at('umaDomain') });
  }
}

function checkCurrencies(currencies: readonly string[]): void {
  currencies.forEach((code, position) => {
    const path = at('currencies', position);
    if (!currencyOf(code)) {
      throw new Refusal('INVALID_CURRENCY', `unknown currency ${JSON.stringify(code)}`, { path });
    }
    if (currencies.indexOf(code) !== position) {
      throw new Refusal('INVALID_INPUT', `${code} is given twice`, { path });
    }
  });
}

/** Inserts internal accounts of the platform in the currencies in which it has none. */
async function openAccounts(
  payments: Payments,
  { client, prisma }: Transaction,
  caller: Caller,
  currencies: readonly string[],
): Promise<void> {
  const { platformId } = caller;
  const existing = await prisma.account.findMany({
    select: { currency: true },
    where: { AND: [visibleAccounts(caller), { customerId: null, kind: 'INTERNAL' }] },
  });
  const missing = currencies.filter((code) => !existing.some(({ currency }) => currency === code));
  if (missing.length === 0) return;
  const parties = await readParties(client, caller, { ids: missing.length });
  const ids = missing.map((_code, position) => idAt(parties, position));
  const account = await newInternalAccounts(payments, caller, { platformId, customerId: null }, missing, ids);
  await commitPlanOn(client, platformId, { insert: { account } });
}
