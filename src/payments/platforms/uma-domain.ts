import { createHash } from 'node:crypto';
import type { Caller } from '../../access/caller.ts';
import { outsideWait } from '../../core/outside-wait.ts';
import type { FieldPath } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Payments } from '../command.ts';
import { isFictional, isOfService, normalDomain, requireOwnDomain } from '../uma-domains.ts';

/**
 * Checks that a platform may take a UMA domain, and returns its stored form (decision 61). Who takes a domain that another
 * platform has taken before is refused only when it is stored: in production the proof comes first, so nobody learns whose a
 * domain is by asking.
 * @param path where the domain stands in the input
 * @throws Refusal INVALID_INPUT (no domain, or none for this environment), CONFLICT (of another cluster; a name of the service that
 *   is not this platform's; not proven), RATE_LIMITED (another domain of the platform is being looked up), SERVICE_UNAVAILABLE (the proof cannot be looked
 *   up now)
 */
export async function checkUmaDomain(
  payments: Payments,
  caller: Caller,
  written: string,
  path: FieldPath,
): Promise<string> {
  const domain = normalDomain(written);
  const invalid = (message: string) => new Refusal('INVALID_INPUT', message, { path, value: written });
  if (domain === undefined) {
    throw invalid('a UMA domain is a domain name such as pay.example.com: no bare host, no address of a machine');
  }
  const { prisma } = payments.database;
  const { umaDomain } = await prisma.platform.findFirstOrThrow({
    where: { id: caller.platformId },
    select: { umaDomain: true },
  });
  if (domain === umaDomain) return domain;
  requireOwnDomain(payments, domain, path);
  if (isOfService(domain)) {
    const own = await prisma.umaDomain.findFirst({ where: { domain, platformId: caller.platformId } });
    if (!own) throw new Refusal('CONFLICT', 'this UMA domain is taken', { path });
    return domain;
  }
  if (caller.environment === 'SANDBOX') {
    if (isFictional(domain)) return domain;
    throw invalid(
      'a sandbox has domains that are nobody’s: below .test, .example, example.com, example.net or example.org',
    );
  }
  if (isFictional(domain)) throw invalid('this domain is for tests and examples, and belongs to nobody');
  await requireProof(payments, caller, domain, path);
  return domain;
}

/** The platforms of this process whose proofs are being looked up: each has one at a time. */
const searching = new Set<string>();

/**
 * Refuses a domain whose owner has not published that it is the platform's.
 * @throws Refusal CONFLICT (it says what to publish), RATE_LIMITED, SERVICE_UNAVAILABLE
 */
async function requireProof(
  payments: Payments,
  { platformId }: Caller,
  domain: string,
  path: FieldPath,
): Promise<void> {
  if (searching.has(platformId)) {
    throw new Refusal('RATE_LIMITED', 'a domain of this platform is being checked already; try again', {
      retryAfter: 1,
    });
  }
  searching.add(platformId);
  const text = proofOf(platformId, domain);
  const proof = await outsideWait(payments.findDomainProof(domain, text)).finally(() => searching.delete(platformId));
  switch (proof) {
    case 'FOUND':
      return;
    case 'ABSENT':
      throw new Refusal('CONFLICT', `this domain is not proven to be yours: ${asks(domain, text)}`, { path });
    case 'UNKNOWN':
      throw new Refusal('SERVICE_UNAVAILABLE', `this domain cannot be looked up now: ${asks(domain, text)}`, {
        path,
        retryAfter: 5,
      });
  }
}

function asks(domain: string, text: string): string {
  return `publish the TXT record _uma-platform.${domain} with the text ${text}, or this text at https://${domain}/.well-known/uma-platform.txt, and send the request again`;
}

/**
 * Returns the text that proves that a domain is a platform's. It is no secret: only who rules the domain can publish it there,
 * and it proves nothing for another platform or domain. Nothing is stored before, so nobody can block a domain by claiming it.
 */
function proofOf(platformId: string, domain: string): string {
  return `uma-platform=${createHash('sha256').update(`${platformId} ${domain}`).digest('hex').slice(0, 40)}`;
}
