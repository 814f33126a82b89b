import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { maxAmount } from '../../core/checks.ts';
import { type CurrencyCode, currencies, givenCurrency } from '../../core/currencies.ts';
import { publicId } from '../../core/ids.ts';
import { checkVersion, type Expecting, type FieldPath, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { lockPlatform, type Tenant } from '../../core/tenant.ts';
import type { Database } from '../../infra/database/database.ts';
import { sqlState } from '../../infra/database/faults.ts';
import {
  type Environment,
  type Platform,
  TransactionType,
  type TrustedDocumentPolicy,
} from '../../infra/database/generated/client/client.ts';
import { inTransaction, readClock, type Transaction } from '../../infra/database/transaction.ts';
import { simulatedDomain } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { actByHand, type Operator, recordAct } from '../access/operator-acts.ts';
import { changedColumns, formatRate, ownRates, type Rate, type RateChanges, type Rates } from '../access/rates.ts';
import { runIdempotent } from '../access/run-idempotent.ts';
import { newCredentials } from '../access/tokens/credentials.ts';
import { storeApiToken } from '../access/tokens/token-records.ts';
import { visibleAccounts } from '../access/visible.ts';
import { newInternalAccounts } from '../accounts/internal-accounts.ts';
import type { Payments } from '../commands/command.ts';
import { readParties } from '../commands/parties.ts';
import { isFictional, isOfService, normalDomain, serviceDomain } from '../commands/uma-addresses.ts';
import { readProfile } from '../customers/customers.ts';
import { commitPlanOn } from '../ledger/commit.ts';
import { deliveryRails, type PaymentRail } from '../pricing/delivery-rails.ts';

/** The maximum number of UMA domains per sandbox platform, so that no platform can hoard reserved domains. */
const maxSandboxDomains = 20;

/**
 * Returns a UMA domain in its stored form.
 * @param path the path of the domain in the input
 * @throws Refusal INVALID_INPUT for anything other than a domain name
 */
function umaDomainIn(written: string, path: FieldPath): string {
  const domain = normalDomain(written);
  if (domain !== undefined) return domain;
  const message = 'a UMA domain must be a domain name such as pay.example.com, not a bare host name or an IP address';
  throw invalid(message, { path, value: written });
}

/**
 * Checks that a platform may take a UMA domain without the operator's help. It may take a domain that it had before
 * and, in the sandbox, a reserved one. The platform's row must be locked. Storing the domain fails if another platform
 * has it.
 * @throws Refusal INVALID_INPUT (not allowed in this environment), CONFLICT (only the operator may assign it; too many)
 */
async function requireMayTake(
  { prisma }: Transaction,
  { platformId, environment }: Caller,
  domain: string,
  path: FieldPath,
): Promise<void> {
  const own = await prisma.umaDomain.findMany({ where: { platformId }, select: { domain: true } });
  if (own.some((one) => one.domain === domain)) return;
  const conflict = (message: string) => new Refusal('CONFLICT', message, path);
  const unfit = (message: string) => invalid(message, { path, value: domain });
  if (isOfService(domain)) throw conflict('this UMA domain is already in use');
  if (environment === 'PRODUCTION') {
    throw isFictional(domain)
      ? unfit('this domain is reserved for tests and examples')
      : conflict('only the operator of the service can assign this domain to a platform');
  }
  if (!isFictional(domain)) {
    throw unfit(
      'a sandbox platform can only have a domain that is reserved for tests: one under .test, .example, example.com, example.net or example.org',
    );
  }
  if (own.length >= maxSandboxDomains)
    throw conflict(`a sandbox platform can have at most ${maxSandboxDomains} UMA domains`);
}

/**
 * Assigns a UMA domain to a platform, for the addresses of its new customers. The operator must have verified who owns
 * the domain.
 * @returns the domain as stored
 * @throws Refusal INVALID_INPUT (not a domain), CONFLICT (it belongs to another platform)
 */
export async function giveUmaDomain(database: Database, platformId: string, operator: Operator, written: string) {
  const umaDomain = umaDomainIn(written, ['domain']);
  const give = async ({ prisma }: Transaction, updatedAt: Date) => {
    const where = { id: platformId };
    const before = await prisma.platform.findFirstOrThrow({ where });
    const reserved = await prisma.umaDomain.count({ where: { domain: umaDomain, platformId } });
    if (isOfService(umaDomain) && reserved === 0) throw taken();
    await prisma.platform.updateMany({ where, data: { umaDomain, updatedAt } });
    const facts = { before: { umaDomain: before.umaDomain }, after: { umaDomain } };
    return { platformId, subject: publicId('Platform', platformId), ...facts };
  };
  await actByHand(database, operator, give).catch((error: unknown) => {
    throw sqlState(error) === '23505' ? taken() : error;
  });
  return umaDomain;
}

const taken = () => new Refusal('CONFLICT', 'another platform has this UMA domain', ['domain']);

interface NewPlatform {
  readonly name: string;
  readonly environment: Environment;
  /** Fixed credentials, for the local sandbox only; otherwise they are generated. */
  readonly credentials?: { readonly clientId: string; readonly secret: string };
  /** The operator who creates the platform; none for the local sandbox. */
  readonly operator?: Operator;
}

/** Returns a platform by its name, or undefined. */
export async function findPlatform(database: Database, name: string): Promise<Tenant | undefined> {
  const platform = await database.prisma.platform.findFirst({ where: { name } });
  return platform ? { platformId: platform.id, environment: platform.environment } : undefined;
}

/**
 * Creates a platform with one internal account per currency and a first token with all permissions. The secret is
 * returned here and stored nowhere.
 * @throws Refusal INVALID_INPUT (the name is malformed), CONFLICT (the name is taken)
 */
export async function createPlatform(
  payments: Pick<Payments, 'database' | 'rails'>,
  { name, environment, credentials: fixed, operator }: NewPlatform,
): Promise<Tenant & { clientId: string; secret: string }> {
  const { database } = payments;
  // This also prevents names that differ only in the spaces between words.
  if (name.length > 63 || !/^[A-Za-z0-9][A-Za-z0-9._-]*( [A-Za-z0-9._-]+)*$/.test(name)) {
    const form = '1 to 63 letters, digits, dots, dashes or underscores, with single spaces between words';
    throw invalid(`a platform name must be ${form}`, ['name']);
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
    await createOwnAccounts(payments, client, tenant, profile.currencies, profile.ids);
    const permissions = ['VIEW', 'TRANSACT', 'APPROVE', 'MANAGE'] as const;
    await storeApiToken(prisma, platformId, { ...credentials, name: 'first token', permissions, createdById: null });
    if (operator) {
      const after = { name, environment, clientId: credentials.clientId };
      await recordAct(transaction, operator, { platformId, subject: publicId('Platform', platformId), after });
    }
    return { ...tenant, ...credentials };
  });
}

/** Returns the domain that the service assigns to a new platform. Similar names get different domains. */
function umaDomainOf(name: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const slug = words.replace(/^-|-$/g, '').slice(0, 56);
  const domain = `${slug}.${serviceDomain}`;
  if (slug === name && domain !== simulatedDomain) return domain;
  return `${slug}-${hash('sha256', name).slice(0, 6)}.${serviceDomain}`;
}

export interface PlatformSettings extends Expecting {
  /** The domain for new customers' UMA addresses, which must be the platform's own. */
  readonly umaDomain?: string | null | undefined;
  /** The currencies of new customers' internal accounts; replaces the previous list. */
  readonly currencies?: readonly string[] | null | undefined;
  /** Which tokens are restricted to registered documents. */
  readonly trustedDocuments?: TrustedDocumentPolicy | null | undefined;
}

const at = pathsIn<PlatformSettings>();

/** The settings that all currencies have in common. Amounts are in the currency's smallest unit. */
export const currencySettings = {
  minAmount: 1n,
  maxAmount,
  requiredCounterpartyFields: [] as readonly { readonly name: string; readonly mandatory: boolean }[],
  enabledTransactionTypes: [TransactionType.INCOMING, TransactionType.OUTGOING] as readonly TransactionType[],
  providerRequiredCustomerFields: [] as readonly string[],
  providerRequiredCounterpartyCustomerFields: [] as readonly string[],
} as const;

export type PlatformCurrency = typeof currencySettings & {
  readonly code: CurrencyCode;
  readonly deliveryRail: PaymentRail;
};

export const platformCurrencies: ReadonlyMap<string, PlatformCurrency> = new Map(
  currencies.map(({ code }) => [code, { ...currencySettings, code, deliveryRail: deliveryRails[code] }]),
);

/** Whether the platform itself verifies its customers. There is no setting for this yet. */
export const isRegulatedFinancialInstitution = false;

export function readPlatform(payments: Payments, caller: Caller): Promise<Platform> {
  return payments.database.prisma.platform.findFirstOrThrow({ where: { id: caller.platformId } });
}

/**
 * Changes a platform's settings. The platform gets an internal account for each new currency. Existing accounts and
 * customers' addresses stay unchanged.
 * @param besides makes further checks and changes in the same transaction, with the platform's row locked, and returns
 *   whether it has changed anything
 * @throws Refusal FORBIDDEN, INVALID_INPUT, INVALID_CURRENCY, CONFLICT (the domain is another platform's, or only the
 *   operator may assign it; the first call with the key is still running), IDEMPOTENCY_MISMATCH, and whatever `besides`
 *   throws
 */
export async function updatePlatform(
  payments: Payments,
  caller: Caller,
  settings: PlatformSettings,
  idempotencyKey?: string | null,
  besides: (transaction: Transaction) => Promise<boolean> = async () => false,
): Promise<{ readonly platform: Platform; readonly replayed: boolean }> {
  try {
    return await runIdempotent<{ readonly platform: Platform }>(payments.database, caller, {
      operation: 'updatePlatform',
      nullClears: true,
      input: settings,
      idempotencyKey,
      effect: async (transaction) => {
        const platform = await changeSettings(payments, transaction, caller, checkSettings(settings), besides);
        return { result: {}, answer: { platform } };
      },
      repeat: async () => ({ platform: await readPlatform(payments, caller) }),
    });
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
    throw new Refusal('CONFLICT', 'this UMA domain is already in use', at('umaDomain'));
  }
}

/** Validates settings before they are stored. A setting that is null or missing stays unchanged. */
function checkSettings({ umaDomain, ...settings }: PlatformSettings): PlatformSettings {
  if (settings.currencies) checkCurrencies(settings.currencies);
  const domain = typeof umaDomain === 'string' ? umaDomainIn(umaDomain, at('umaDomain')) : undefined;
  return { ...settings, umaDomain: domain };
}

async function changeSettings(
  payments: Payments,
  transaction: Transaction,
  caller: Caller,
  settings: PlatformSettings,
  besides: (transaction: Transaction) => Promise<boolean>,
): Promise<Platform> {
  const { umaDomain, currencies, trustedDocuments } = settings;
  const { client, prisma } = transaction;
  await lockPlatform(client, caller);
  const where = { id: caller.platformId };
  const before = await prisma.platform.findFirstOrThrow({ where });
  checkVersion(settings, publicId('Platform', before.id), before.version);
  if (typeof umaDomain === 'string' && umaDomain !== before.umaDomain)
    await requireMayTake(transaction, caller, umaDomain, at('umaDomain'));
  const given = {
    umaDomain: umaDomain ?? before.umaDomain,
    currencies: [...(currencies ?? before.currencies)],
    trustedDocuments: trustedDocuments ?? before.trustedDocuments,
  };
  // Changes made by `besides` also count as changes to the settings.
  const changesMore = await besides(transaction);
  if (!changesMore && isDeepStrictEqual({ ...before, ...given }, before)) return before;
  const { now: updatedAt } = await readClock(client);
  const platform = await prisma.platform.update({ where, data: { ...given, updatedAt } });
  if (currencies) await openAccounts(payments, transaction, caller, currencies);
  return platform;
}

function checkCurrencies(currencies: readonly string[]): void {
  if (currencies.length === 0) throw invalid('give at least one currency', at('currencies'));
  currencies.forEach((code, position) => {
    const path = at('currencies', position);
    givenCurrency(code, path);
    if (currencies.indexOf(code) !== position) throw invalid(`${code} is given twice`, path);
  });
}

async function openAccounts(
  payments: Payments,
  { client, prisma }: Transaction,
  caller: Caller,
  currencies: readonly string[],
): Promise<void> {
  const existing = await prisma.account.findMany({
    select: { currency: true },
    where: { AND: [visibleAccounts(caller), { customerId: null, kind: 'INTERNAL' }] },
  });
  const missing = currencies.filter((code) => !existing.some(({ currency }) => currency === code));
  if (missing.length === 0) return;
  const parties = await readParties(client, caller, { ids: missing.length });
  await createOwnAccounts(payments, client, caller, missing, parties.ids);
}

/** Creates the platform's own internal accounts, one per currency. */
async function createOwnAccounts(
  payments: Pick<Payments, 'rails'>,
  client: Transaction['client'],
  tenant: Tenant,
  currencies: readonly string[],
  ids: readonly string[],
): Promise<void> {
  const owner = { platformId: tenant.platformId, customerId: null };
  const account = await newInternalAccounts(payments, tenant, owner, currencies, ids);
  await commitPlanOn(client, tenant.platformId, { insert: { account } });
}

/** Changes and returns a platform's own rate limits. Where they are null, the limits from the settings apply. */
export function changeRates(database: Database, platformId: string, operator: Operator, changes: RateChanges) {
  return inTransaction(database, async (transaction) => {
    const { platform } = transaction.prisma;
    const where = { id: platformId };
    const before = ownRates(await platform.findFirstOrThrow({ where }));
    const data = changedColumns(changes);
    const now = ownRates(await platform.update({ where, data }));
    // A call that only reads the limits is not recorded.
    if (Object.keys(data).length > 0) {
      const subject = publicId('Platform', platformId);
      await recordAct(transaction, operator, { platformId, subject, before: inJson(before), after: inJson(now) });
    }
    return now;
  });
}

function inJson({ platform, apiToken, clientToken }: Rates) {
  const text = (rate: Rate | null) => rate && formatRate(rate);
  return { platform: text(platform), apiToken: text(apiToken), clientToken: text(clientToken) };
}
