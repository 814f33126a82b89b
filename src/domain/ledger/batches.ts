import type { Alternative, Plan, PlanGroup } from './plan.ts';

/**
 * The conflict keys of a group of plans: the names of rows that it changes, and of rows that affect its checks or its
 * result. Two groups conflict if one writes a key that the other reads. Groups with a common key in `inOrder` must keep
 * their order, but may share a batch, because the checks take the earlier groups into account (commit_batch.sql).
 */
const noKeys = () => ({ writes: new Set<string>(), reads: new Set<string>(), inOrder: new Set<string>() });
type ConflictKeys = ReturnType<typeof noKeys>;

/**
 * Divides the groups of plans in a transaction into batches. In a batch, all groups are checked one by one before any
 * is applied, so no group may change data that affects another group's checks, except balances. If two groups
 * conflict, the first goes into an earlier batch. The result is the same as if the groups were committed one after
 * another.
 * @returns the batches in order, each a list of positions in `groups`
 * @throws Error if a plan's alternative changes something that the plan does not name
 */
export function divideIntoBatches(groups: readonly PlanGroup[]): number[][] {
  const batches: number[][] = [];
  const lastWrites = new Map<string, number>();
  const lastReads = new Map<string, number>();
  const lastInOrder = new Map<string, number>();
  for (const [position, group] of groups.entries()) {
    const { writes, reads, inOrder } = keysOf(group);
    let batch = 0;
    for (const key of inOrder) batch = Math.max(batch, lastInOrder.get(key) ?? 0);
    for (const key of reads) batch = Math.max(batch, (lastWrites.get(key) ?? -1) + 1);
    for (const key of writes) batch = Math.max(batch, (lastReads.get(key) ?? -1) + 1);
    for (const key of reads) lastReads.set(key, Math.max(batch, lastReads.get(key) ?? 0));
    for (const key of writes) lastWrites.set(key, Math.max(batch, lastWrites.get(key) ?? 0));
    for (const key of inOrder) lastInOrder.set(key, batch);
    batches[batch] = [...(batches[batch] ?? []), position];
  }
  return batches;
}

/** Rows that many plans read and few change (customers and external accounts) share one key per kind. */
function keysOf(group: PlanGroup): ConflictKeys {
  const keys = noKeys();
  for (const { platformId, plan } of group) {
    addPlan(keys, platformId, plan);
    if (plan.otherwise) checkAlternative(keys, plan.otherwise);
  }
  return keys;
}

/** Locks and batches are derived from the plan, so its alternative may change only rows that the plan names. */
function checkAlternative(planKeys: ConflictKeys, alternative: Alternative): void {
  const keys = noKeys();
  addMoves(keys, alternative);
  if ([...keys.writes].some((key) => !planKeys.writes.has(key))) {
    throw new Error('an alternative changes rows that its plan does not name');
  }
  if (alternative.otherwise) checkAlternative(planKeys, alternative.otherwise);
}

function addPlan(keys: ConflictKeys, platformId: string, plan: Plan): void {
  const { claim, requireActive, insert = {}, customers, accounts, orders = [], spend, expected, result } = plan;
  addMoves(keys, plan);
  if (claim) addBoth(keys, `key ${platformId} ${claim.operation} ${claim.key}`);
  for (const { id } of orders) addBoth(keys, `order ${id}`);
  for (const { id } of plan.adjustments ?? []) addBoth(keys, `adjustment ${id}`);
  const checks = [...(plan.checks ?? []), ...(insert.account_check ?? [])];
  for (const { accountId } of checks) addBoth(keys, `check ${accountId}`);
  for (const { customerId } of insert.identity_check ?? []) addBoth(keys, `identity check ${customerId}`);
  if (customers || insert.customer) addBoth(keys, 'customers');
  if (accounts || insert.account) addBoth(keys, 'external accounts');
  if (requireActive?.customers) keys.reads.add('customers');
  if (requireActive?.accounts) keys.reads.add('external accounts');
  if (expected) keys.reads.add(rowKey(expected.type, expected.id));
  if (result) addBoth(keys, rowKey(result.type, result.id));
  if (spend) {
    keys.reads.add('counted payments');
    keys.inOrder.add('counted payments');
  }
  if (endsUndelivered(plan)) keys.writes.add('counted payments');

  // Deleting a customer depends on all the customer's balances and payments, which the plan does not name.
  if (customers?.some(({ set }) => set.isDeleted)) {
    for (const key of ['balances', 'new payments', 'payments under way']) keys.reads.add(key);
  }

  // The capacity of an account depends on its balance and on the payments to it that are in flight. A plan that needs
  // capacity therefore conflicts with new payments to the account, and with any payment whose status changes.
  for (const { account } of plan.capacity ?? []) {
    keys.reads.add(rowKey('Account', account));
    keys.reads.add(`payments to ${account}`);
    keys.reads.add('payments under way');
  }
  if (insert.transaction) keys.writes.add('new payments');
  for (const { destinationAccountId } of insert.transaction ?? []) {
    if (destinationAccountId) keys.writes.add(`payments to ${destinationAccountId}`);
  }
  if (orders.length > 0) keys.writes.add('payments under way');
}

function addMoves(keys: ConflictKeys, { quotes = [], expired = [], transactions = [], journals = [] }: Alternative) {
  for (const { id } of [...quotes, ...expired]) addBoth(keys, rowKey('Quote', id));
  for (const { id } of transactions) {
    addBoth(keys, rowKey('Transaction', id));
    keys.writes.add('payments under way');
  }
  if (journals.length > 0) keys.writes.add('balances');
  for (const leg of journals.flatMap(({ legs }) => legs)) {
    if (!('account' in leg)) continue;
    keys.writes.add(rowKey('Account', leg.account));
    keys.inOrder.add(rowKey('Account', leg.account));
  }
}

/** Whether a plan or its alternative may end a payment and make a policy stop counting it (release_payments.sql). */
function endsUndelivered({ transactions = [], otherwise }: Alternative): boolean {
  return transactions.some(({ to }) => undelivered.has(to)) || (otherwise !== undefined && endsUndelivered(otherwise));
}

const undelivered: ReadonlySet<string> = new Set(['FAILED', 'REJECTED', 'EXPIRED', 'REFUNDED']);

function addBoth({ writes, reads }: ConflictKeys, key: string): void {
  writes.add(key);
  reads.add(key);
}

const rowKey = (type: string, id: string) => `${type} ${id}`;
