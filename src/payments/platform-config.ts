import type { Platform } from '../database/generated/client/client.ts';
import { sqlState } from '../database/retry.ts';
import { commitPlan } from '../ledger/commit.ts';
import { currencyOf } from '../money/currencies.ts';
import type { Payments, Tenant } from './command.ts';
import { newInternalAccounts } from './internal-accounts.ts';
import { idAt, readParties } from './parties.ts';
import { Refusal } from './refusal.ts';

/** What a platform can change of itself (domain-facts 9). */
export interface PlatformSettings {
  /** The domain of UMA addresses that are made up for new customers. */
  readonly umaDomain?: string | undefined;
  /** The currencies in which new customers get internal accounts; replaces the list. */
  readonly currencies?: readonly string[] | undefined;
}

/** The platform's own row. */
export function readPlatform(payments: Payments, tenant: Tenant): Promise<Platform> {
  return payments.database.prisma.platform.findUniqueOrThrow({ where: { id: tenant.platformId } });
}

/**
 * Changes a platform's settings. A currency that is new gets the platform's own internal account; accounts that are
 * there stay, and so do the addresses of customers.
 * @throws Refusal INVALID_INPUT, INVALID_CURRENCY, CONFLICT (the domain is another platform's)
 */
export async function updatePlatform(
  payments: Payments,
  tenant: Tenant,
  settings: PlatformSettings,
): Promise<Platform> {
  const { umaDomain, currencies } = settings;
  if (umaDomain !== undefined) checkDomain(umaDomain);
  currencies?.forEach((code, position) => {
    const field = `currencies.${position}`;
    if (!currencyOf(code)) {
      throw new Refusal('INVALID_CURRENCY', `unknown currency ${JSON.stringify(code)}`, { field });
    }
    if (currencies.indexOf(code) !== position) {
      throw new Refusal('INVALID_INPUT', `${code} is given twice`, { field });
    }
  });
  try {
    if (currencies) await openAccounts(payments, tenant, currencies);
    return await payments.database.prisma.platform.update({
      where: { id: tenant.platformId },
      data: { ...(umaDomain !== undefined && { umaDomain }), ...(currencies && { currencies: [...currencies] }) },
    });
  } catch (error) {
    if (isTaken(error)) {
      throw new Refusal('CONFLICT', 'this UMA domain is taken, or the settings were changed at the same time', {
        field: umaDomain === undefined ? 'currencies' : 'umaDomain',
      });
    }
    throw error;
  }
}

/** The platform's own accounts in the currencies in which it has none yet. */
async function openAccounts(payments: Payments, tenant: Tenant, currencies: readonly string[]): Promise<void> {
  const { platformId } = tenant;
  const there = await payments.database.prisma.account.findMany({
    where: { platformId, customerId: null, kind: 'INTERNAL' },
    select: { currency: true },
  });
  const missing = currencies.filter((code) => !there.some(({ currency }) => currency === code));
  if (missing.length === 0) return;
  const parties = await readParties(payments.database.pool, platformId, { ids: missing.length });
  const ids = missing.map((_code, position) => idAt(parties, position));
  const account = await newInternalAccounts(payments, tenant, { platformId, customerId: null }, missing, ids);
  await commitPlan(payments.database, platformId, { insert: { account } });
}

function checkDomain(domain: string): void {
  if (!/^(?=.{3,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(domain)) {
    throw new Refusal('INVALID_INPUT', 'umaDomain must be a domain name in lower case such as pay.example.com', {
      field: 'umaDomain',
      value: domain,
    });
  }
}

/** Whether a unique index refused: Prisma has its own code for it, Postgres another. */
function isTaken(error: unknown): boolean {
  return (error instanceof Error && 'code' in error && error.code === 'P2002') || sqlState(error) === '23505';
}
