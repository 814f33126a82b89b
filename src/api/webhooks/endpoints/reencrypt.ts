import { type SecretBox, sealedWith } from '../../../core/secret-box.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { WebhookEndpoint } from '../../../infra/database/generated/client/client.ts';
import { requireBox, secretOwner, type Webhooks } from '../webhooks.ts';

type Sealed = Pick<WebhookEndpoint, 'platformId' | 'id' | 'secret' | 'previousSecret'>;

/**
 * Re-encrypts, with the current key, every signing secret that is still encrypted with the given old one.
 * @param keyId the id of the old key, which this instance must still have
 * @returns the number of endpoints whose secrets were re-encrypted
 * @throws Error if this instance lacks that key
 */
export async function reencryptSecrets(webhooks: Webhooks, keyId: string): Promise<number> {
  const { prisma } = webhooks.payments.database;
  const box = requireBox(webhooks);
  const rows = await prisma.webhookEndpoint.findMany({
    select: { platformId: true, id: true, secret: true, previousSecret: true },
  });
  let changed = 0;
  for (const row of rows) if (await reencrypt(prisma, box, row, keyId)) changed += 1;
  return changed;
}

/** Re-encrypts the secrets of one endpoint. If they change in the meantime, reads them again and retries. */
async function reencrypt(
  prisma: Database['prisma'],
  box: SecretBox,
  { platformId, id, secret, previousSecret }: Sealed,
  keyId: string,
): Promise<boolean> {
  const uses = (sealed: Uint8Array | null) => sealed !== null && sealedWith(sealed) === keyId;
  if (!uses(secret) && !uses(previousSecret)) return false;
  const owner = secretOwner(platformId, id);
  const anew = <Secret extends Uint8Array | null>(sealed: Secret) =>
    sealed === null || !uses(sealed) ? sealed : new Uint8Array(box.seal(box.open(sealed, owner), owner));
  const { count } = await prisma.webhookEndpoint.updateMany({
    where: { platformId, id, secret, previousSecret },
    data: { secret: anew(secret), previousSecret: anew(previousSecret) },
  });
  if (count === 1) return true;
  const now = await prisma.webhookEndpoint.findFirst({ where: { platformId, id } });
  return now !== null && reencrypt(prisma, box, now, keyId);
}
