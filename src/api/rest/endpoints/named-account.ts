import { accountNameIn, publicId } from '../../../core/ids.ts';
import { type FieldPath, Refusal } from '../../../core/refusal.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import { visibleAccounts } from '../../../domain/access/visible.ts';
import type { Database } from '../../../infra/database/database.ts';
import { readRow } from '../../../infra/database/read-rows.ts';

/**
 * Checks the currency and owner given beside an account's id in a request, since callers may send accounts back in
 * the form in which responses contain them. Ignores an unknown account, which the command refuses.
 * @throws Refusal INVALID_CURRENCY, INVALID_INPUT
 */
export async function checkNamedAccount(
  database: Database,
  viewer: Viewer,
  path: { readonly currency: FieldPath; readonly customerId?: FieldPath },
  named: {
    readonly accountId: string;
    readonly currency?: string | undefined;
    readonly customerId?: string | undefined;
  },
): Promise<void> {
  if (named.currency === undefined && named.customerId === undefined) return;
  const name = accountNameIn(named.accountId);
  const account = name ? await readRow(database, 'Account', { AND: [visibleAccounts(viewer), { ...name }] }) : null;
  if (!account) return;
  if (named.currency !== undefined && named.currency !== account.currency) {
    throw new Refusal('INVALID_CURRENCY', `the account is in ${account.currency}`, {
      path: path.currency,
      value: named.currency,
    });
  }
  const owner = account.customerId === null ? undefined : publicId('Customer', account.customerId);
  if (named.customerId !== undefined && named.customerId !== owner) {
    throw new Refusal('INVALID_INPUT', 'the account belongs to another customer or to the platform', {
      path: path.customerId,
      value: named.customerId,
    });
  }
}
