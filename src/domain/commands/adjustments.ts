import { maxAmount } from '../../core/checks.ts';
import { formatMajor, requiredCurrency } from '../../core/currencies.ts';
import { accountNameIn, publicId, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction, readClock, runCommitting, type Transaction } from '../../infra/database/transaction.ts';
import {
  type ActFacts,
  actByHand,
  isSamePerson,
  type Operator,
  RefusedByHand,
  recordAct,
} from '../access/operator-acts.ts';
import { platformItself } from '../access/platform-itself.ts';
import { commitPlanOn, type PlanRefusal } from '../ledger/commit.ts';
import { adjustment as journalOf } from './movements.ts';
import { planRefusal } from './plan-refusals.ts';

/** Balance corrections: one operator proposes them and another approves them. They are not available through an API. */

const openMs = 7 * 86_400_000;

const withAccount = {
  account: { select: { customerId: true, platform: { select: { name: true, environment: true } } } },
} as const satisfies Prisma.AdjustmentInclude;

export type Adjustment = Prisma.AdjustmentGetPayload<{ include: typeof withAccount }>;

/** Stores a proposal without moving money. A positive `amount` is a credit. @throws RefusedByHand */
export async function proposeAdjustment(
  database: Database,
  { accountId, amount, currency }: { readonly accountId: string; readonly amount: bigint; readonly currency: string },
  operator: Operator & { readonly reason: string },
): Promise<Adjustment> {
  const id = uuidOf(accountId, 'InternalAccount');
  const account = id && (await database.prisma.account.findFirst({ where: { id, kind: 'INTERNAL' } }));
  if (!account) throw new RefusedByHand(`there is no internal account ${accountId}`);
  if (account.currency !== currency) {
    throw new RefusedByHand(`${accountId} is in ${account.currency}, not in ${currency}`);
  }
  if (amount === 0n || amount > maxAmount || amount < -maxAmount) {
    const most = formatMajor(maxAmount, requiredCurrency(currency));
    throw new RefusedByHand(`the amount must not be zero, and at most ${most} in either direction`);
  }
  const { platformId } = account;
  return inTransaction(database, async (act) => {
    const { now, id } = await readClock(act.client);
    const { by: proposedBy, reason } = operator;
    const expiresAt = new Date(now.getTime() + openMs);
    const data = { platformId, id, accountId: account.id, amount, currency, reason, proposedBy, expiresAt };
    const made = await act.prisma.adjustment.create({ data, include: withAccount });
    await recordAct(act, operator, actOn(made, { after: factsOf(made) }));
    return made;
  });
}

/** Approves a proposal that has not expired. The proposer cannot approve it. @throws RefusedByHand */
export async function approveAdjustment(database: Database, id: string, operator: Operator): Promise<Adjustment> {
  const found = await findAdjustment(database, id);
  const { platformId, account } = found;
  if (isSamePerson(found.proposedBy, operator.by)) throw new RefusedByHand(`${id} ${conflictWords('SAME_PERSON')}`);
  const refusal = await retryLostRaces(() => inTransaction(database, (act) => approve(act, found, operator)));
  if (!refusal) return requireOne(database.prisma, found);
  if (refusal.code === 'CONFLICT') throw new RefusedByHand(`${id} ${conflictWords(refusal.status)}`);
  const owner = platformItself({ platformId, environment: account.platform.environment });
  throw new RefusedByHand(`nothing done: ${planRefusal(refusal, {}, owner, false).message}`);
}

async function approve(act: Transaction, found: Adjustment, operator: Operator): Promise<PlanRefusal | undefined> {
  const { platformId, id, accountId, currency, amount } = found;
  const outcome = await commitPlanOn(act.client, platformId, {
    adjustments: [{ id, by: operator.by, reason: operator.reason }],
    journals: [journalOf(accountId, currency, amount)],
  });
  if (outcome.kind === 'refused') return outcome.refusal;
  const { status, journalId: journal } = await requireOne(act.prisma, found);
  await recordAct(act, operator, actOn(found, { before: factsOf(found), after: { status, journal } }));
  return undefined;
}

/** Rejects a proposal without moving money. Even the proposer may reject it. @throws RefusedByHand */
export async function rejectAdjustment(database: Database, id: string, operator: Operator): Promise<Adjustment> {
  const found = await findAdjustment(database, id);
  await actByHand(database, operator, async ({ prisma }, now) => {
    const { count } = await prisma.adjustment.updateMany({
      where: { platformId: found.platformId, id: found.id, status: 'PROPOSED' },
      data: { status: 'REJECTED', decidedBy: operator.by, decidedReason: operator.reason ?? null, decidedAt: now },
    });
    if (count === 0) {
      const { status } = await requireOne(prisma, found);
      throw new RefusedByHand(`${id} ${conflictWords(status)}`);
    }
    return actOn(found, { before: factsOf(found), after: { status: 'REJECTED' } });
  });
  return requireOne(database.prisma, found);
}

/** Returns up to 1,000 adjustments, newest first; without `all`, only those that can still be approved. */
export async function listAdjustments(database: Database, { all }: { readonly all: boolean }): Promise<Adjustment[]> {
  const { now } = await readClock(database.pool);
  return database.prisma.adjustment.findMany({
    where: all ? {} : { status: 'PROPOSED', expiresAt: { gt: now } },
    orderBy: { id: 'desc' },
    take: 1_000,
    include: withAccount,
  });
}

async function findAdjustment({ prisma }: Database, id: string): Promise<Adjustment> {
  const uuid = uuidOf(id, 'Adjustment');
  const found = uuid && (await prisma.adjustment.findFirst({ where: { id: uuid }, include: withAccount }));
  if (!found) throw new RefusedByHand(`there is no ${id}`);
  return found;
}

function requireOne(prisma: Pick<Transaction['prisma'], 'adjustment'>, { platformId, id }: Adjustment) {
  return prisma.adjustment.findFirstOrThrow({ where: { platformId, id }, include: withAccount });
}

function actOn({ platformId, id }: Adjustment, facts: Pick<ActFacts, 'before' | 'after'>): ActFacts {
  return { platformId, subject: publicId('Adjustment', id), ...facts };
}

function factsOf({ accountId, amount, currency, reason, proposedBy }: Adjustment) {
  const account = publicId('InternalAccount', accountId);
  return { account, amount: formatMajor(amount, requiredCurrency(currency)), reason, proposedBy };
}

function conflictWords(status: string): string {
  if (status === 'EXPIRED') return 'has expired: propose it again';
  return status === 'SAME_PERSON'
    ? 'must be approved by someone other than the person who proposed it'
    : `is already ${status}`;
}

/** Freezes customers and accounts. Only operators can do this, by running a command. */

interface Freezing {
  readonly frozen: boolean;
  readonly by: string;
  readonly reason: string;
}

const frozenStatement = statement<{ found: { readonly since: string | null; readonly changed: boolean } | null }>(
  'set_frozen',
  'select set_frozen($1, $2, $3, $4, $5) as found',
);

/** Freezes or unfreezes a customer, after waiting for payments that have locked its rows. @throws RefusedByHand */
export async function freezeCustomer(database: Database, id: string, freezing: Freezing) {
  const uuid = uuidOf(id, 'Customer');
  if (uuid === undefined) throw new RefusedByHand(`${id} is not a customer id (Customer:…)`);
  return setFrozen(database, id, { kind: 'CUSTOMER', id: uuid }, freezing);
}

/** @throws RefusedByHand */
export async function freezeAccount(database: Database, id: string, freezing: Freezing) {
  const name = accountNameIn(id);
  if (!name) throw new RefusedByHand(`${id} is not an account id (InternalAccount:… or ExternalAccount:…)`);
  return setFrozen(database, id, name, freezing);
}

async function setFrozen(
  database: Database,
  id: string,
  named: { readonly kind: 'CUSTOMER' | 'INTERNAL' | 'EXTERNAL'; readonly id: string },
  { frozen, by, reason }: Freezing,
) {
  const [row] = await retryLostRaces(() =>
    runCommitting(database, (client) => frozenStatement(client, named.kind, named.id, frozen, by, reason)),
  );
  if (!row?.found) throw new RefusedByHand(`there is no ${id}`);
  database.commits.emit('committed');
  const { changed, since } = row.found;
  return { changed, since: since === null ? null : new Date(since) };
}
