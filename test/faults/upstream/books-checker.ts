import { formatMajor, requiredCurrency } from '../../../src/core/currencies.ts';
import { checkCommands, commandsOf, executedIn, type Violation } from '../checker.ts';
import type { Command } from '../history.ts';
import type { Amount, BookedOrder, Books, Movement, Named } from './books.ts';

export interface BooksViolation {
  readonly kind:
    | Violation['kind']
    | 'other amount'
    | 'other outcome'
    | 'sent again'
    | 'not named'
    | 'named without cause';
  readonly words: string;
}

/** A difference between the books, found by the checker itself. */
interface Found extends Named {
  /** The promise that is broken, or undefined if a restore explains the difference. */
  readonly breaks?: BooksViolation['kind'] | undefined;
}

/**
 * Finds payments lost or duplicated between a gateway and its upstream, and wrong or missing reports of differences.
 */
export function checkBooks(books: Books): BooksViolation[] {
  const found = [
    ...differencesOfOrders(books),
    ...differencesOfDeposits(books),
    ...strangers(books),
    ...balances(books),
  ];
  return [
    ...books.internalErrors.map((words): BooksViolation => ({ kind: 'internal error', words })),
    ...commands(books),
    ...payments(books),
    ...uncredited(books),
    ...found.flatMap((difference): BooksViolation[] =>
      difference.breaks ? [{ kind: difference.breaks, words: nameOf(difference) }] : [],
    ),
    ...sentAgain(books),
    ...naming(found, books.named),
    ...(['here', 'upstream'] as const).flatMap((side) =>
      books.breaches[side].map(
        ({ rule, rows }): BooksViolation => ({ kind: 'audit', words: `${side}: ${rule}, ${rows.length} rows` }),
      ),
    ),
  ];
}

/** Checks the responses to commands. If a restore has undone a command, its outcome counts as unknown. */
function commands({ history, restores: { undonePayments }, ...books }: Books): BooksViolation[] {
  const standing = history.map((command): Command => {
    const transactionIds = command.transactionIds.filter((id) => !undonePayments.has(id));
    const isUndone = transactionIds.length < command.transactionIds.length;
    return { ...command, transactionIds, ...(isUndone && { outcome: 'unknown' }) };
  });
  return checkCommands({ ...books, history: standing });
}

/** Checks that every payment belongs to a command or a deposit, and has ended as it should. */
function payments({ payments: all, history, feed, deposits, restores, ...books }: Books): BooksViolation[] {
  const commandOf = commandsOf(history);
  const executed = executedIn(feed);
  const credited = new Set(deposits.map(({ transactionId }) => transactionId));
  const forgotten = forgottenThere({ ...books, restores });
  return all.flatMap((payment): BooksViolation[] => {
    const { id, description, status } = payment;
    if (credited.has(id)) return [];
    const command = commandOf(payment);
    if (!command) return [{ kind: 'from nowhere', words: `nobody ordered ${id}: ${description}` }];
    if (command.operation === 'createQuote' && !executed.has(id)) return [];
    // A payment that the upstream has forgotten can no longer be returned.
    const usual = forgotten.has(id) ? ['COMPLETED'] : (command.ends ?? ['COMPLETED']);
    const ends = restores.endedByHand.has(id) ? ['FAILED'] : usual;
    if (ends.includes(status)) return [];
    return [{ kind: 'unfinished', words: `${command.key} ${id} is ${status}` }];
  });
}

/** Returns the payments that are settled in the gateway but were lost in an upstream restore. */
function forgottenThere({ orders, movements, restores }: Pick<Books, 'orders' | 'movements' | 'restores'>) {
  const there = new Set(movements.map(({ orderId }) => orderId));
  const gone = new Set(restores.vanished.map(({ orderId }) => orderId));
  return new Set(
    orders.flatMap(({ id, transactionId, state }) =>
      state === 'SETTLED' && gone.has(id) && !there.has(id) ? [transactionId] : [],
    ),
  );
}

/** Checks that each order that moved money has one movement upstream, with the same amount and outcome. */
function differencesOfOrders({ orders, movements, restores: { vanished } }: Books): Found[] {
  const byOrder = Map.groupBy(movements, ({ orderId }) => orderId);
  const gone = new Set(vanished.map(({ orderId }) => orderId));
  return orders.flatMap((order): Found[] => {
    const [movement, ...more] = byOrder.get(order.id) ?? [];
    const about = { transaction: order.transactionId, here: `${order.status} ${words(order)}` };
    if (!movement) {
      if (order.state !== 'SETTLED' && order.state !== 'RETURNED') return [];
      return [{ ...about, fault: 'MISSING_THERE', breaks: gone.has(order.id) ? undefined : 'lost' }];
    }
    const thereOf = (one: Movement) => ({ reference: one.reference, there: `${one.state} ${words(one)}` });
    const doubled = more.map((one): Found => ({ ...about, ...thereOf(one), fault: 'TWICE', breaks: 'doubled' }));
    const differs = { ...about, ...thereOf(movement) };
    if (words(order) !== words(movement))
      return [{ ...differs, fault: 'OTHER_AMOUNT', breaks: 'other amount' }, ...doubled];
    // If a payment was returned before the gateway saw its delivery, it counts as failed.
    const isBack = order.state === 'FAILED' && movement.state === 'RETURNED';
    if (order.state !== movement.state && !isBack)
      return [{ ...differs, fault: 'OTHER_OUTCOME', breaks: 'other outcome' }, ...doubled];
    return doubled;
  });
}

/** Checks that each deposit credited by the gateway exists upstream. */
function differencesOfDeposits({ deposits, movements, restores: { vanished } }: Books): Found[] {
  const there = new Set(movements.map(({ reference }) => reference));
  const gone = new Set(vanished.map(({ reference }) => reference));
  return deposits.flatMap((deposit): Found[] => {
    const { reference, transactionId } = deposit;
    if (transactionId === undefined || there.has(reference)) return [];
    const here = `COMPLETED ${words(deposit)}`;
    const breaks = gone.has(reference) ? undefined : 'lost';
    return [{ fault: 'MISSING_THERE', transaction: transactionId, here, breaks }];
  });
}

/** Checks that no deposit is still waiting to be processed or waiting for an operator. */
function uncredited({ deposits }: Books): BooksViolation[] {
  return deposits
    .filter(({ transactionId }) => transactionId === undefined)
    .map((deposit) => {
      const { reference, status, reason, attempts } = deposit;
      const now = `is ${status} after ${attempts} attempts: ${reason}`;
      return { kind: 'unfinished', words: `deposit ${reference} of ${words(deposit)} ${now}` };
    });
}

/** Checks that each upstream movement belongs to one of the gateway's orders or deposits. */
function strangers({ orders, deposits, movements, restores: { undoneOrders } }: Books): Found[] {
  const known = new Set(orders.map(({ id }) => id));
  const found = new Set(deposits.map(({ reference }) => reference));
  return movements.flatMap((movement): Found[] => {
    const { orderId = '', isDeposit, reference, state, direction } = movement;
    if (isDeposit ? found.has(reference) : known.has(orderId)) return [];
    if (state === 'FAILED' || (state === 'UNDER_WAY' && direction === 'IN')) return [];
    const isUndone = !isDeposit && undoneOrders.has(orderId);
    const breaks = isUndone ? undefined : isDeposit ? 'lost' : 'from nowhere';
    return [{ fault: 'MISSING_HERE', reference, there: `${state} ${words(movement)}`, breaks }];
  });
}

/** Checks that the upstream balance in each currency is the sum of the gateway's payments. */
function balances({ orders, deposits, held, restores }: Books): Found[] {
  const booked = new Map<string, bigint>();
  const add = ({ amount, currency }: Amount, sign: 1n | -1n) =>
    booked.set(currency, (booked.get(currency) ?? 0n) + sign * amount);
  for (const order of orders.filter(({ state }) => state === 'SETTLED')) {
    add(order, order.direction === 'IN' ? 1n : -1n);
    if (order.converted) add(order.converted, 1n);
  }
  for (const deposit of deposits) if (deposit.transactionId !== undefined) add(deposit, 1n);
  const isRestored = restores.vanished.length > 0 || restores.undoneOrders.size > 0;
  const breaks = isRestored ? undefined : 'other amount';
  return [...held]
    .filter(([currency, there]) => there !== (booked.get(currency) ?? 0n))
    .map(([currency, there]) => ({ fault: 'OTHER_BALANCE', reference: currency, there: String(there), breaks }));
}

/** Checks that no settled order is sent again after the upstream has lost it, because the bank has already paid it. */
function sentAgain({ movements, restores: { vanished, settledBefore } }: Books): BooksViolation[] {
  const gone = new Set(vanished.flatMap(({ orderId }) => (orderId === undefined ? [] : [orderId])));
  return movements.flatMap(({ orderId = '', reference }): BooksViolation[] =>
    gone.has(orderId) && settledBefore.has(orderId)
      ? [{ kind: 'sent again', words: `order ${orderId} had settled, but exists upstream again: ${reference}` }]
      : [],
  );
}

/** Checks that the reconciliation has reported each difference, with both of its sides, and nothing else. */
function naming(found: readonly Found[], named: readonly Named[]): BooksViolation[] {
  const left = named.map(nameOf);
  const missing = found.map(nameOf).filter((name) => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [
    ...missing.map((name): BooksViolation => ({ kind: 'not named', words: name })),
    ...left.map((name): BooksViolation => ({ kind: 'named without cause', words: name })),
  ];
}

/** Returns a key for a difference. For a balance, this is the currency, because the amounts vary over time. */
function nameOf({ fault, transaction, reference, here, there }: Named): string {
  if (fault === 'OTHER_BALANCE') return `${fault} ${/([A-Z]{3,4}) in the books/.exec(here ?? '')?.[1] ?? reference}`;
  return [fault, transaction ?? reference, here ?? 'nothing', there ?? 'nothing'].join(' | ');
}

function words({ amount, currency }: Pick<BookedOrder, 'amount' | 'currency'>): string {
  return formatMajor(amount, requiredCurrency(currency));
}
