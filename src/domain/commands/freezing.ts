import { accountNameIn, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { statement } from '../../infra/database/statement.ts';
import { runCommitting } from '../../infra/database/transaction.ts';
import { RefusedByHand } from '../access/operator-acts.ts';

/** Freezes a customer or an account (decision 78). Not offered by any API, only by operators' commands. */

export interface Freezing {
  readonly frozen: boolean;
  readonly by: string;
  readonly reason: string;
}

export interface Frozen {
  readonly changed: boolean;
  readonly since: Date | null;
}

const frozenStatement = statement<{ found: { readonly since: string | null; readonly changed: boolean } | null }>(
  'set_frozen',
  'select set_frozen($1, $2, $3, $4, $5) as found',
);

/** Waits for payments that have locked the customer's rows. The freeze affects all later ones. @throws RefusedByHand */
export async function freezeCustomer(database: Database, id: string, freezing: Freezing): Promise<Frozen> {
  const uuid = uuidOf(id, 'Customer');
  if (uuid === undefined) throw new RefusedByHand(`${id} is not a customer id (Customer:…)`);
  return setFrozen(database, id, { kind: 'CUSTOMER', id: uuid }, freezing);
}

/** @throws RefusedByHand */
export async function freezeAccount(database: Database, id: string, freezing: Freezing): Promise<Frozen> {
  const name = accountNameIn(id);
  if (!name) throw new RefusedByHand(`${id} is not an account id (InternalAccount:… or ExternalAccount:…)`);
  return setFrozen(database, id, name, freezing);
}

async function setFrozen(
  database: Database,
  id: string,
  named: { readonly kind: 'CUSTOMER' | 'INTERNAL' | 'EXTERNAL'; readonly id: string },
  { frozen, by, reason }: Freezing,
): Promise<Frozen> {
  const [row] = await retryLostRaces(() =>
    runCommitting(database, (client) => frozenStatement(client, named.kind, named.id, frozen, by, reason)),
  );
  if (!row?.found) throw new RefusedByHand(`there is no ${id}`);
  database.commits.emit('committed');
  const { changed, since } = row.found;
  return { changed, since: since === null ? null : new Date(since) };
}
