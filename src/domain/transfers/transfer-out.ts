import { smallestUnits } from '../../core/amounts.ts';
import { command, railOf } from '../commands/command.ts';
import { debit } from '../commands/movements.ts';
import { currencyOfAccount, idAt } from '../commands/parties.ts';
import { spendOf } from '../commands/spending.ts';
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
} from './transfer.ts';

/**
 * Sends money in one currency from an internal to an external account (specification 4.12). The source is debited at
 * once. The transaction is PENDING until the rail has delivered or failed.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   INSUFFICIENT_BALANCE, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN, INVALID_BANK_ACCOUNT, IDEMPOTENCY_MISMATCH
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
      journals: [
        debit({
          transactionId: transaction.id,
          sourceAccountId: from.id,
          sendingCurrency: from.currency,
          sent: amount,
          fees: 0n,
          platformFee: 0n,
          receivingCurrency: to.currency,
          received: amount,
        }),
      ],
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
