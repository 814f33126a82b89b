import { publicId } from '../../core/ids.ts';
import { type FieldPath, invalid, Refusal } from '../../core/refusal.ts';
import type { Database } from '../../infra/database/database.ts';
import { sqlState } from '../../infra/database/faults.ts';
import { inTransaction, readClock, type Transaction } from '../../infra/database/transaction.ts';
import type { Caller } from '../access/caller.ts';
import { type Operator, recordAct } from '../access/operator-acts.ts';
import { isFictional, isOfService, normalDomain } from '../commands/uma-domains.ts';

/** The maximum number of domains of a sandbox platform, so that no platform can take them all. */
const maxSandboxDomains = 20;

/**
 * Returns the stored form of a UMA domain.
 * @param path the path of the domain in the input
 * @throws Refusal INVALID_INPUT for anything other than a domain name
 */
export function umaDomainIn(written: string, path: FieldPath): string {
  const domain = normalDomain(written);
  if (domain !== undefined) return domain;
  const message = 'a UMA domain must be a domain name such as pay.example.com, not a bare host name or an IP address';
  throw invalid(message, { path, value: written });
}

/**
 * Checks that a platform may take a UMA domain without the operator (decision 61): one that it already had or, in the
 * sandbox, a reserved one. The platform's row must be locked. Whether another platform has the domain is detected when
 * it is stored.
 * @throws Refusal INVALID_INPUT (not allowed in this environment), CONFLICT (only the operator may assign it; too many)
 */
export async function requireMayTake(
  { prisma }: Transaction,
  { platformId, environment }: Caller,
  domain: string,
  path: FieldPath,
): Promise<void> {
  const own = await prisma.umaDomain.findMany({ where: { platformId }, select: { domain: true } });
  if (own.some((one) => one.domain === domain)) return;
  const refuse = (code: 'INVALID_INPUT' | 'CONFLICT', message: string) => {
    throw new Refusal(code, message, { path, ...(code === 'INVALID_INPUT' && { value: domain }) });
  };
  if (isOfService(domain)) refuse('CONFLICT', 'this UMA domain is already in use');
  if (environment === 'PRODUCTION') {
    if (isFictional(domain)) refuse('INVALID_INPUT', 'this domain is reserved for tests and examples');
    refuse('CONFLICT', 'only the operator of the service can assign this domain to a platform');
  }
  if (!isFictional(domain)) {
    refuse(
      'INVALID_INPUT',
      'a sandbox platform can only have a domain that is reserved for tests: one under .test, .example, example.com, example.net or example.org',
    );
  }
  if (own.length >= maxSandboxDomains)
    refuse('CONFLICT', `a sandbox platform can have at most ${maxSandboxDomains} UMA domains`);
}

/**
 * Assigns a UMA domain to a platform, for the addresses of its new customers. The operator has verified the domain's
 * owner.
 * @returns the domain as stored
 * @throws Refusal INVALID_INPUT (not a domain), CONFLICT (another platform's); Error for an unknown platform
 */
export async function giveUmaDomain(database: Database, name: string, operator: Operator, written: string) {
  const umaDomain = umaDomainIn(written, ['domain']);
  const give = async (transaction: Transaction): Promise<string> => {
    const { client, prisma } = transaction;
    const before = await prisma.platform.findFirst({ where: { name } });
    if (!before) throw new Error(`there is no platform named ${JSON.stringify(name)}`);
    const where = { id: before.id };
    const reserved = await prisma.umaDomain.count({ where: { domain: umaDomain, platformId: before.id } });
    if (isOfService(umaDomain) && reserved === 0) throw taken();
    const { now: updatedAt } = await readClock(client);
    await prisma.platform.updateMany({ where, data: { umaDomain, updatedAt } });
    await recordAct(transaction, operator, {
      platformId: before.id,
      subject: publicId('Platform', before.id),
      before: { umaDomain: before.umaDomain },
      after: { umaDomain },
    });
    return umaDomain;
  };
  return inTransaction(database, give).catch((error: unknown) => {
    throw sqlState(error) === '23505' ? taken() : error;
  });
}

const taken = () => new Refusal('CONFLICT', 'another platform has this UMA domain', ['domain']);
