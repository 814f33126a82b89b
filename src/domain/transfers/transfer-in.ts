import { type GivenAmount, smallestUnits } from '../../core/amounts.ts';
import { Refusal } from '../../core/refusal.ts';
import { checkPullable } from '../accounts/pullable.ts';
import { command, railOf } from '../commands/command.ts';
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

type TransferIn = Omit<Transfer, 'amount'> & { readonly amount?: GivenAmount | null | undefined };

/**
 * Pulls money in one currency from an external to an internal account (specification 4.6). The destination is credited
 * when the rail has collected the money. Without an amount, the rail decides how much it pulls.
 * @throws Refusal as transferOut does, except INSUFFICIENT_BALANCE; INVALID_INPUT also for a wallet (decision 30), and
 *   AMOUNT_OUT_OF_RANGE also where the destination cannot take the amount
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
    if (given === undefined) throw new Refusal('INVALID_INPUT', 'an amount is required', at('amount'));
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
