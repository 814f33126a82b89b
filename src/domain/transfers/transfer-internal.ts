import { smallestUnits } from '../../core/amounts.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Account, Transaction } from '../../infra/database/rows.ts';
import { directArrival } from '../approvals/incoming.ts';
import { command } from '../commands/command.ts';
import { transfer } from '../commands/movements.ts';
import { currencyOfAccount, idAt } from '../commands/parties.ts';
import { spendOf } from '../commands/spending.ts';
import { mergePlans } from '../ledger/merge-plans.ts';
import type { NewRow, Plan } from '../ledger/plan.ts';
import {
  amountOf,
  at,
  newTransaction,
  ownersOf,
  pathOfAccount,
  readAccounts,
  type Transfer,
  type TransferRow,
} from './transfer.ts';

/**
 * Moves money in one currency from an internal account to another owner's: between a customer and the platform, or between
 * customers (decision 63). It is COMPLETED at once. The receiver has an INCOMING transaction of its own (decision 26). The
 * platform's own account can receive money from any customer, even one who may not move money.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY, SELF_PAYMENT,
 * INSUFFICIENT_BALANCE, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN, IDEMPOTENCY_MISMATCH
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
 * Plans a transfer between two internal accounts: the transaction that leaves and the one that arrives, both COMPLETED.
 * @param newId the id of the transaction that arrives
 */
export function betweenAccounts(
  transaction: Omit<NewRow<Transaction>, 'type'>,
  newId: string,
  { from, to, amount }: Omit<TransferRow, 'metadata' | 'customerId'> & { readonly to: Pick<Account, 'customerId'> },
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
