import { createHash } from 'node:crypto';
import { currencies } from '../../core/currencies.ts';
import { publicId } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Environment } from '../../infra/database/generated/client/client.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import { simulatedDomain } from '../../rails/simulation.ts';
import { type Operator, recordAct } from '../access/operator-acts.ts';
import { storeApiToken } from '../access/tokens/api-token-records.ts';
import { newCredentials } from '../access/tokens/api-tokens.ts';
import { newInternalAccounts } from '../accounts/internal-accounts.ts';
import type { Payments } from '../commands/command.ts';
import { serviceDomain } from '../commands/uma-domains.ts';
import { readProfile } from '../customers/customers.ts';
import { commitPlanOn } from '../ledger/commit.ts';

export interface NewPlatform {
  readonly name: string;
  readonly environment: Environment;
  /** Fixed credentials, for the local sandbox only; otherwise they are generated. */
  readonly credentials?: { readonly clientId: string; readonly secret: string };
  /** The operator who creates it; none for the local sandbox. */
  readonly operator?: Operator;
}

export async function findPlatform(database: Database, name: string): Promise<Tenant | undefined> {
  const platform = await database.prisma.platform.findFirst({ where: { name } });
  return platform ? { platformId: platform.id, environment: platform.environment } : undefined;
}

/**
 * Creates a platform with an internal account per currency and a first token with all permissions. The secret is
 * returned here and stored nowhere.
 * @throws Refusal INVALID_INPUT (the name is malformed), CONFLICT (it is taken)
 */
export async function createPlatform(
  payments: Pick<Payments, 'database' | 'rails'>,
  { name, environment, credentials: fixed, operator }: NewPlatform,
): Promise<Tenant & { clientId: string; secret: string }> {
  const { database } = payments;
  if (!/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}$/.test(name)) {
    const message = 'a platform name must be 1 to 63 letters, digits, spaces, dots, dashes or underscores';
    throw new Refusal('INVALID_INPUT', message, ['name']);
  }
  if (await findPlatform(database, name)) {
    throw new Refusal('CONFLICT', `a platform named ${JSON.stringify(name)} already exists`, ['name']);
  }
  const settings = { umaDomain: umaDomainOf(name), currencies: currencies.map(({ code }) => code) };
  return inTransaction(database, async (transaction) => {
    const { client, prisma } = transaction;
    const { id: platformId } = await prisma.platform.create({ data: { name, environment, ...settings } });
    const tenant = { platformId, environment };
    const credentials = fixed ?? newCredentials();
    const profile = await readProfile(client, platformId);
    const owner = { platformId, customerId: null };
    const account = await newInternalAccounts(payments, tenant, owner, profile.currencies, profile.ids);
    await commitPlanOn(client, platformId, { insert: { account } });
    const permissions = ['VIEW', 'TRANSACT', 'MANAGE'] as const;
    await storeApiToken(prisma, platformId, { ...credentials, name: 'first token', permissions, createdById: null });
    if (operator) {
      const after = { name, environment, clientId: credentials.clientId };
      await recordAct(transaction, operator, { platformId, subject: publicId('Platform', platformId), after });
    }
    return { ...tenant, ...credentials };
  });
}

/** Returns the domain that a new platform gets from the service. Similar names get different domains. */
function umaDomainOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 56);
  const domain = `${slug}.${serviceDomain}`;
  if (slug === name && domain !== simulatedDomain) return domain;
  return `${slug}-${createHash('sha256').update(name).digest('hex').slice(0, 6)}.${serviceDomain}`;
}
