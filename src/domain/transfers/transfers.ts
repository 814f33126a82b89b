import { type GivenAmount, smallestUnits } from '../../core/currencies.ts';
import { invalid, Refusal } from '../../core/refusal.ts';
import type { Account, Transaction } from '../../infra/database/rows.ts';
import { checkPullable } from '../accounts/pullable.ts';
import { directArrival } from '../approvals/incoming.ts';
import { command, railOf } from '../commands/command.ts';
import { debitInFull, transfer } from '../commands/movements.ts';
import { currencyOfAccount, idAt } from '../commands/parties.ts';
import { spendOf } from '../commands/spending.ts';
import { mergePlans } from '../ledger/merge-plans.ts';
import type { NewRow, Plan } from '../ledger/plan.ts';
import { orderIdOfKey } from '../orders/order-ids.ts';
import { checkScenario } from '../orders/scenario.ts';
import {
  amountOf,
  at,
  newTransaction,
  ownersOf,
  pathOfAccount,
  railRows,
  readAccounts,
  type Transfer,
  type TransferRow,
} from './transfer.ts';

/**
 * Sends money in one currency from an internal to an external account (specification 4.12). The source is debited at
 * once. The transaction is PENDING until the rail has delivered or failed.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   INSUFFICIENT_BALANCE, LIMIT_EXCEEDED, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN, INVALID_BANK_ACCOUNT,
 *   IDEMPOTENCY_MISMATCH
 */
export const transferOut = command((payments, caller, input: Transfer, idempotencyKey) => ({
  operation: 'transferOut',
  readsOnly: true,
  type: 'Transaction',
  amount: amountOf(payments, caller, input),
  plan: async () => {
    const scenario = checkScenario(payments, caller, input.sandboxScenario);
    const must = { source: 'INTERNAL', destination: 'EXTERNAL' } as const;
    const { from, to, parties, ...described } = await readAccounts(payments, caller, input, must);
    const amount = smallestUnits(input.amount, currencyOfAccount(from), at('amount'));
    const row = { ...described, from, to, amount, customerId: from.customerId };
    const transaction = { ...newTransaction(caller, parties, row), type: 'OUTGOING' } as const;
    const id = orderIdOfKey(caller, { operation: 'transferOut', idempotencyKey }, idAt(parties, 1));
    const rail = railOf(payments, caller, 'payOut');
    return {
      requireActive: { customers: ownersOf(from, to), accounts: [to.id], unfrozen: [from.id] },
      insert: railRows(rail, transaction, { id, account: to, scenario }),
      journals: [debitInFull(from.id, from.currency, amount, transaction.id)],
      spend: spendOf(caller, 'TRANSFER_OUT', { transactionId: transaction.id, ...row, currency: from.currency }),
      result: transaction.id,
    };
  },
  paths: {
    INSUFFICIENT_BALANCE: at('sourceAccountId'),
    USER_NOT_READY: at('sourceAccountId'),
    ACCOUNT_FROZEN: pathOfAccount(input),
    INVALID_BANK_ACCOUNT: at('destinationAccountId'),
  },
}));

type TransferIn = Omit<Transfer, 'amount'> & { readonly amount?: GivenAmount | null | undefined };

/**
 * Pulls money in one currency from an external to an internal account (specification 4.6). The destination is credited
 * once the rail has collected the money. Without an amount, the rail decides how much it pulls.
 * @throws Refusal as transferOut does, except INSUFFICIENT_BALANCE; INVALID_INPUT also for a wallet (decision 30), and
 *   AMOUNT_OUT_OF_RANGE also if the destination cannot receive the amount
 */
export const transferIn = command((payments, caller, input: TransferIn, idempotencyKey) => ({
  operation: 'transferIn',
  readsOnly: true,
  type: 'Transaction',
  amount: amountOf(payments, caller, input),
  plan: async () => {
    const scenario = checkScenario(payments, caller, input.sandboxScenario);
    const must = { source: 'EXTERNAL', destination: 'INTERNAL' } as const;
    const { from, to, parties, ...described } = await readAccounts(payments, caller, input, must);
    checkPullable(from, at('sourceAccountId'));
    const rail = railOf(payments, caller, 'collect');
    const currency = currencyOfAccount(to);
    const given = input.amount ?? rail.collectionAmount?.(currency);
    if (given === undefined) throw invalid('an amount is required', at('amount'));
    const amount = smallestUnits(given, currency, at('amount'));
    const row = { ...described, from, to, amount, customerId: to.customerId };
    const transaction = { ...newTransaction(caller, parties, row), type: 'INCOMING' } as const;
    const id = orderIdOfKey(caller, { operation: 'transferIn', idempotencyKey }, idAt(parties, 1));
    return {
      requireActive: { customers: ownersOf(from, to), accounts: [from.id], unfrozen: [to.id] },
      capacity: [{ account: to.id, amount }],
      insert: railRows(rail, transaction, { id, account: from, scenario }),
      spend: spendOf(caller, 'TRANSFER_IN', { transactionId: transaction.id, ...row, currency: from.currency }),
      result: transaction.id,
    };
  },
  paths: {
    USER_NOT_READY: at('destinationAccountId'),
    ACCOUNT_FROZEN: pathOfAccount(input),
    INVALID_BANK_ACCOUNT: at('sourceAccountId'),
    AMOUNT_OUT_OF_RANGE: at('amount'),
  },
}));

/**
 * Moves money in one currency from an internal account to another owner's: between a customer and the platform, or
 * between customers (decision 63). It is COMPLETED at once. The receiver has its own INCOMING transaction (decision
 * 26). The platform's own account can receive money from any customer, even one who may not move money.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   SELF_PAYMENT, INSUFFICIENT_BALANCE, LIMIT_EXCEEDED, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN,
 *   IDEMPOTENCY_MISMATCH
 */
export const transferInternal = command((payments, caller, input: Omit<Transfer, 'sandboxScenario'>) => ({
  operation: 'transferInternal',
  readsOnly: true,
  type: 'Transaction',
  amount: amountOf(payments, caller, input),
  plan: async () => {
    const must = { source: 'INTERNAL', destination: 'INTERNAL' } as const;
    const { from, to, parties, ...described } = await readAccounts(payments, caller, input, must);
    if (from.id === to.id) {
      const message = 'the source and the destination are the same account';
      throw new Refusal('SELF_PAYMENT', message, at('destinationAccountId'));
    }
    const amount = smallestUnits(input.amount, currencyOfAccount(from), at('amount'));
    const row = { ...described, from, to, amount, customerId: from.customerId };
    const transaction = newTransaction(caller, parties, row);
    return {
      ...betweenAccounts(transaction, idAt(parties, 1), { from, to, amount }),
      requireActive: { customers: to.customerId === null ? [] : ownersOf(from, to), unfrozen: [from.id, to.id] },
      spend: spendOf(caller, 'TRANSFER_INTERNAL', { transactionId: transaction.id, ...row, currency: from.currency }),
      result: transaction.id,
    };
  },
  paths: {
    INSUFFICIENT_BALANCE: at('sourceAccountId'),
    USER_NOT_READY: at('sourceAccountId'),
    ACCOUNT_FROZEN: pathOfAccount(input),
    AMOUNT_OUT_OF_RANGE: at('amount'),
  },
}));

/**
 * Plans a transfer between two internal accounts: the outgoing and the incoming transaction, both COMPLETED.
 * @param newId the id of the incoming transaction
 */
export function betweenAccounts(
  transaction: Omit<NewRow<Transaction>, 'type'>,
  newId: string,
  {
    from,
    to,
    amount,
  }: Omit<TransferRow, 'metadata' | 'customerId' | 'createdBy'> & { readonly to: Pick<Account, 'customerId'> },
): Plan {
  const { id, platformId, reference, description = null } = transaction;
  const sent: Plan = {
    insert: { transaction: [{ ...transaction, type: 'OUTGOING' }] },
    transactions: [{ id, from: ['PENDING'], to: 'COMPLETED', reason: 'transferred', isNew: true }],
    journals: [transfer(from.id, from.currency, amount, id)],
  };
  const arrived = directArrival(
    {
      platformId,
      newId,
      transaction: { id, reference, receivedAmount: amount, description },
      fundingAccountId: from.id,
    },
    to,
  );
  return mergePlans(sent, arrived);
}
