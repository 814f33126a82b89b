import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/operations.ts';
import { callerStatement, visibleRow } from '../../access/visible.ts';
import { publicId, uuidOf } from '../../core/ids.ts';
import { pathsIn } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Payments } from '../command.ts';

/** What of a quote's request a lookup can stand for, and the lookup. */
const at = pathsIn<{ readonly lookupId: string; readonly source: object; readonly currency: string }>();

const endsStatement = callerStatement<{ umaAddress: string; senderId: string | null; accountId: string | null }>(
  'ends_of_lookup',
  `select l.uma_address, l.sender_customer_id as sender_id,
     (select a.id from account a where a.platform_id = l.platform_id and a.customer_id = l.sender_customer_id
        and a.kind = 'INTERNAL' and a.currency = $5) as account_id
   from lookup l where ${visibleRow('lookup', 'l')} and l.id = $4`,
);

/**
 * What a receiver lookup tells of a quote that leaves it out: where it goes, and from what account (decision 24). A
 * lookup keeps both for good, so a repeated request means the same; whether it is still good is for the quote to say.
 * @param currency the sending currency; undefined where the quote names its source itself
 * @throws Refusal FORBIDDEN, LOOKUP_REQUEST_NOT_FOUND, INVALID_INPUT (the lookup named no sender: `source`), INVALID_CURRENCY (the
 *   sender has no account in the currency: `currency`)
 */
export async function endsOfLookup(
  payments: Payments,
  caller: Caller,
  lookupId: string,
  currency: string | undefined,
): Promise<{ readonly umaAddress: string; readonly accountId: string | undefined }> {
  authorize(caller, 'createQuote');
  const uuid = uuidOf(lookupId, 'Lookup');
  const [lookup] = uuid ? await endsStatement(payments.database.pool, caller, uuid, currency ?? null) : [];
  if (!lookup) throw new Refusal('LOOKUP_REQUEST_NOT_FOUND', 'no such lookup', { path: at('lookupId') });
  const { umaAddress, senderId, accountId } = lookup;
  if (currency === undefined) return { umaAddress, accountId: undefined };
  if (senderId === null) {
    throw new Refusal('INVALID_INPUT', 'the lookup named no customer who would send, so the quote names its source', {
      path: at('source'),
    });
  }
  if (accountId === null) {
    throw new Refusal(
      'INVALID_CURRENCY',
      `${publicId('Customer', senderId)} has no account in ${JSON.stringify(currency)}`,
      {
        path: at('currency'),
        value: currency,
      },
    );
  }
  return { umaAddress, accountId: publicId('InternalAccount', accountId) };
}
