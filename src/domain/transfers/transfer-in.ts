import { type GivenAmount, smallestUnits } from '../../core/amounts.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Transaction } from '../../infra/database/rows.ts';
import type { Caller } from '../access/caller.ts';
import { checkPullable } from '../accounts/pullable.ts';
import { type CommandPlan, type CommandResult, type Payments, railOf, runCommand } from '../commands/command.ts';
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
export function transferIn(
  payments: Payments,
  caller: Caller,
  input: TransferIn,
  idempotencyKey?: string | null,
): Promise<CommandResult<Transaction>> {
  return runCommand(payments, caller, {
    operation: 'transferIn',
    readsOnly: true,
    type: 'Transaction',
    input,
    idempotencyKey,
    amount: amountOf(payments, caller, input),
    plan: () => planTransfer(payments, caller, input, idempotencyKey),
    paths: {
      USER_NOT_READY: at('destinationAccountId'),
      ACCOUNT_FROZEN: pathOfAccount(input),
      INVALID_BANK_ACCOUNT: at('sourceAccountId'),
      AMOUNT_OUT_OF_RANGE: at('amount'),
    },
  });
}

async function planTransfer(
  payments: Payments,
  caller: Caller,
  input: TransferIn,
  idempotencyKey: string | null | undefined,
): Promise<CommandPlan> {
  const scenario = checkScenario(payments, caller, input.sandboxScenario);
  const { from, to, parties, ...described } = await readAccounts(payments, caller, input, {
    source: 'EXTERNAL',
    destination: 'INTERNAL',
  });
  checkPullable(from, at('sourceAccountId'));
  const rail = railOf(payments, caller, 'collect');
  const currency = currencyOfAccount(to);
  const given = input.amount ?? rail.collectionAmount?.(currency);
  if (given === undefined) throw new Refusal('INVALID_INPUT', 'an amount is required', at('amount'));
  const amount = smallestUnits(given, currency, at('amount'));
  const row = { ...described, from, to, amount, customerId: to.customerId };
  const transaction = { ...newTransaction(caller, parties, row), type: 'INCOMING' } as const;
  const order = {
    id: orderIdOfKey(caller, { operation: 'transferIn', idempotencyKey }, idAt(parties, 1)),
    account: from,
    scenario,
  };
  return {
    requireActive: { customers: ownersOf(from, to), accounts: [from.id], unfrozen: [to.id] },
    capacity: [{ account: to.id, amount }],
    insert: railRows(rail, transaction, order),
    spend: spendOf(caller, 'TRANSFER_IN', { transactionId: transaction.id, ...row, currency: from.currency }),
    result: transaction.id,
  };
}
