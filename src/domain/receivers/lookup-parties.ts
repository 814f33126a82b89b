import { publicId, uuidOf } from '../../core/ids.ts';
import { pathsIn, Refusal } from '../../core/refusal.ts';
import type { Caller } from '../access/caller.ts';
import { authorize } from '../access/operations.ts';
import { visibleLookups } from '../access/visible.ts';
import type { Payments } from '../commands/command.ts';

const at = pathsIn<{ readonly lookupId: string; readonly source: object; readonly currency: string }>();

/**
 * Reads from a receiver lookup what a quote leaves out: its destination, and its source account (decision 24). A lookup
 * stores both for good, so a repeated request means the same. Whether it has expired is checked with the quote.
 * @param currency the sending currency; undefined where the quote names its source itself
 * @throws Refusal FORBIDDEN, LOOKUP_REQUEST_NOT_FOUND, INVALID_INPUT (the lookup named no sender: `source`),
 *   INVALID_CURRENCY (the sender has no account in the currency: `currency`)
 */
export async function partiesOfLookup(
  payments: Payments,
  caller: Caller,
  lookupId: string,
  currency: string | undefined,
): Promise<{ readonly umaAddress: string; readonly accountId: string | undefined }> {
  authorize(caller, 'createQuote');
  const uuid = uuidOf(lookupId, 'Lookup');
  const accounts = { where: { kind: 'INTERNAL', currency: currency ?? '' }, select: { id: true } } as const;
  const lookup =
    uuid &&
    (await payments.database.prisma.lookup.findFirst({
      where: { AND: [visibleLookups(caller), { id: uuid }] },
      select: { umaAddress: true, senderCustomerId: true, sender: { select: { accounts } } },
    }));
  if (!lookup) throw new Refusal('LOOKUP_REQUEST_NOT_FOUND', 'no such lookup', at('lookupId'));
  const { umaAddress, senderCustomerId: senderId } = lookup;
  if (currency === undefined) return { umaAddress, accountId: undefined };
  const accountId = lookup.sender?.accounts[0]?.id;
  if (senderId === null) {
    throw new Refusal('INVALID_INPUT', 'the lookup has no sender, so the quote needs a source', at('source'));
  }
  if (accountId === undefined) {
    const message = `${publicId('Customer', senderId)} has no account in ${JSON.stringify(currency)}`;
    throw new Refusal('INVALID_CURRENCY', message, { path: at('currency'), value: currency });
  }
  return { umaAddress, accountId: publicId('InternalAccount', accountId) };
}
