import type { Alternative, Plan, PlanGroup } from './plan.ts';

/** What a plan has in common with others, as names: what it changes, and what it is judged by or answers with. */
interface ConflictKeys {
  readonly writes: Set<string>;
  readonly reads: Set<string>;
}

/**
 * Divides groups of plans that share a transaction into batches, in which they are checked one by one before any of them is
 * applied. So no group of a batch changes what another is judged by, and of two groups that have something in common the
 * earlier is in an earlier batch: then it comes to the same as one group after another.
 * @returns batches in their order, each a list of positions in `groups`
 * @throws Error when the alternative of a plan changes what its plan does not name
 */
export function inBatches(groups: readonly PlanGroup[]): number[][] {
  const batches: number[][] = [];
  const written = new Map<string, number>();
  const read = new Map<string, number>();
  for (const [position, group] of groups.entries()) {
    const { writes, reads } = keysOf(group);
    let number = 0;
    for (const key of reads) number = Math.max(number, (written.get(key) ?? -1) + 1);
    for (const key of writes) number = Math.max(number, (read.get(key) ?? -1) + 1);
    for (const key of reads) read.set(key, Math.max(number, read.get(key) ?? 0));
    for (const key of writes) written.set(key, Math.max(number, written.get(key) ?? 0));
    batches[number] = [...(batches[number] ?? []), position];
  }
  return batches;
}

/**
 * The keys of a group. Two groups conflict where one writes what the other reads; most keys are both. What many plans may look
 * at and few change (the customers and accounts outside that take part) is one key for all of them.
 */
function keysOf(group: PlanGroup): ConflictKeys {
  const keys: ConflictKeys = { writes: new Set(), reads: new Set() };
  for (const { platformId, plan } of group) {
    addPlan(keys, platformId, plan);
    if (plan.otherwise) checkAlternative(keys, plan.otherwise);
  }
  return keys;
}

/** What is locked, and what shares a batch, is decided by what a plan names, before it is known which alternative is taken. */
function checkAlternative(named: ConflictKeys, alternative: Alternative): void {
  const keys: ConflictKeys = { writes: new Set(), reads: new Set() };
  addMoves(keys, alternative);
  if ([...keys.writes].some((key) => !named.writes.has(key))) {
    throw new Error('an alternative changes what its plan does not name');
  }
  if (alternative.otherwise) checkAlternative(named, alternative.otherwise);
}

function addPlan(keys: ConflictKeys, platformId: string, plan: Plan): void {
  const {
    claim,
    requireActive,
    capacity = [],
    insert = {},
    customers,
    accounts,
    checks = [],
    orders = [],
    result,
  } = plan;
  addMoves(keys, plan);
  if (claim) addBoth(keys, `key ${platformId} ${claim.operation} ${claim.key}`);
  for (const { id } of orders) addBoth(keys, `order ${id}`);
  for (const { accountId } of [...checks, ...(insert.account_check ?? [])]) addBoth(keys, `check ${accountId}`);
  if (customers || insert.customer) addBoth(keys, 'customers');
  if (accounts || insert.account) addBoth(keys, 'accounts outside');
  if (requireActive?.customers) keys.reads.add('customers');
  if (requireActive?.accounts) keys.reads.add('accounts outside');
  if (result) addBoth(keys, rowKey(result.type, result.id));

  // Whether an account has room depends on its balance and on the payments to it that are under way: on those that begin with
  // it as their destination, and on any that goes on.
  for (const { account } of capacity) {
    keys.reads.add(rowKey('Account', account));
    keys.reads.add(`payments to ${account}`);
    keys.reads.add('payments under way');
  }
  for (const { destinationAccountId } of insert.transaction ?? []) {
    if (destinationAccountId) keys.writes.add(`payments to ${destinationAccountId}`);
  }
  if (orders.length > 0) keys.writes.add('payments under way');
}

/** What an alternative may do as well. */
function addMoves(
  keys: ConflictKeys,
  { quotes = [], expired = [], transactions = [], journals = [] }: Alternative,
): void {
  for (const { id } of [...quotes, ...expired]) addBoth(keys, rowKey('Quote', id));
  for (const { id } of transactions) {
    addBoth(keys, rowKey('Transaction', id));
    keys.writes.add('payments under way');
  }
  for (const { legs } of journals) {
    for (const leg of legs) if ('account' in leg) addBoth(keys, rowKey('Account', leg.account));
  }
}

function addBoth({ writes, reads }: ConflictKeys, key: string): void {
  writes.add(key);
  reads.add(key);
}

const rowKey = (type: string, id: string) => `${type} ${id}`;
