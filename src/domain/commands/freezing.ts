import { accountNameIn, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { statement } from '../../infra/database/statement.ts';
import { runCommitting } from '../../infra/database/transaction.ts';
import { type RefusedByHand, refusedByHand } from '../access/operator-acts.ts';

/** Freezing a customer or an account (decision 78). No API offers this: only operators' commands do. */

/** Who freezes or unfreezes, and why. */
export interface Freezing {
  readonly frozen: boolean;
  readonly by: string;
  readonly reason: string;
}

/** The outcome: whether anything changed, and since when it is frozen, or was. */
export type Frozen = { readonly kind: 'changed' | 'unchanged'; readonly since: Date | null } | RefusedByHand;

const frozenStatement = statement<{ found: { readonly since: string | null; readonly changed: boolean } | null }>(
  'set_frozen',
  'select set_frozen($1, $2, $3, $4, $5) as found',
);

/**
 * Freezes or unfreezes a customer: `Customer:…`. Waits for the payments that hold its rows, and applies to all later ones.
 */
export async function freezeCustomer(database: Database, id: string, freezing: Freezing): Promise<Frozen> {
  const uuid = uuidOf(id, 'Customer');
  return uuid === undefined
    ? refusedByHand(`${id} is not a customer id (Customer:…)`)
    : setFrozen(database, id, { noun: 'CUSTOMER', uuid }, freezing);
}

/** Freezes or unfreezes an account, internal or external: `InternalAccount:…`, `ExternalAccount:…`. */
export async function freezeAccount(database: Database, id: string, freezing: Freezing): Promise<Frozen> {
  const name = accountNameIn(id);
  return name === undefined
    ? refusedByHand(`${id} is not an account id (InternalAccount:… or ExternalAccount:…)`)
    : setFrozen(database, id, { noun: name.kind, uuid: name.id }, freezing);
}

async function setFrozen(
  database: Database,
  id: string,
  { noun, uuid }: { readonly noun: 'CUSTOMER' | 'INTERNAL' | 'EXTERNAL'; readonly uuid: string },
  { frozen, by, reason }: Freezing,
): Promise<Frozen> {
  const [row] = await retryLostRaces(() =>
    runCommitting(database, (client) => frozenStatement(client, noun, uuid, frozen, by, reason)),
  );
  if (!row?.found) return refusedByHand(`there is no ${id}`);
  database.commits.emit('committed');
  const { changed, since } = row.found;
  return { kind: changed ? 'changed' : 'unchanged', since: since === null ? null : new Date(since) };
}
