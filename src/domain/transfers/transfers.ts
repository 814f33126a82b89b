import { type GivenAmount, requiredCurrency, smallestUnits } from '../../core/currencies.ts';
import { accountNameIn, creationTime, paymentReference } from '../../core/ids.ts';
import { checkAll, type FieldPath, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { checkText, longest } from '../../core/texts.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Account, Transaction } from '../../infra/database/rows.ts';
import type { Rail } from '../../rails/rail.ts';
import { type Caller, tokenOf } from '../access/caller.ts';
import { checkPullable } from '../accounts/account-details.ts';
import { directArrival } from '../approvals/incoming.ts';
import { type CommandPlan, command, type Payments, railOf } from '../commands/command.ts';
import { checkMetadata, type Metadata } from '../commands/information.ts';
import { debitInFull, spendOf, transfer } from '../commands/movements.ts';
import {
  accountName,
  accountNotFound,
  currencyOfNamed,
  idAt,
  readTransferParties,
  type TransferParties,
  toRailAccount,
} from '../commands/parties.ts';
import { mergePlans, type NewRow, type Plan } from '../ledger/plan.ts';
import { orderIdOfKey } from '../orders/order-ids.ts';
import { checkScenario, expectedMs, firstAskMs, type GivenScenario } from '../orders/orders.ts';

/** A transfer in one currency: incoming, outgoing, or between internal accounts. */
export interface Transfer {
  readonly sourceAccountId: string;
  readonly destinationAccountId: string;
  /** 1 to `maxAmount`, in the currency's smallest unit. */
  readonly amount: GivenAmount;
  readonly description?: string | null | undefined;
  readonly metadata?: Metadata | null | undefined;
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

const at = pathsIn<Transfer>();
const sourcePath = at('sourceAccountId');
const destinationPath = at('destinationAccountId');

/** For each command: its kind in policies, the kinds of its accounts, and the rail method that it needs. */
const transfers = {
  transferOut: { kind: 'TRANSFER_OUT', source: 'INTERNAL', destination: 'EXTERNAL', by: 'payOut' },
  transferIn: { kind: 'TRANSFER_IN', source: 'EXTERNAL', destination: 'INTERNAL', by: 'collect' },
  transferInternal: { kind: 'TRANSFER_INTERNAL', source: 'INTERNAL', destination: 'INTERNAL', by: undefined },
} as const;

type TransferIn = Omit<Transfer, 'amount'> & { readonly amount?: GivenAmount | null | undefined };

/** Creates one of the commands above. Its two accounts must be in the same currency. */
function transferring<Input extends TransferIn>(operation: keyof typeof transfers) {
  const { kind, by, ...must } = transfers[operation];
  const isIn = operation === 'transferIn';
  return command((payments, caller, input: Input, idempotencyKey) => {
    const { sourceAccountId, destinationAccountId } = input;
    const pathOf = (id: string) => (accountNameIn(destinationAccountId)?.id === id ? destinationPath : sourcePath);
    const plan = async (): Promise<CommandPlan> => {
      const scenario = checkScenario(payments, caller, input.sandboxScenario);
      const { from, to, parties, ...described } = await readAccounts(payments, caller, input, must);
      const { currency } = from;
      const collected = () => railOf(payments, caller, 'collect').collectionAmount?.(requiredCurrency(currency));
      const given = input.amount ?? (isIn ? collected() : undefined);
      if (given === undefined) throw invalid('an amount is required', at('amount'));
      const amount = smallestUnits(given, requiredCurrency(currency), at('amount'));
      const rail = by && railOf(payments, caller, by);
      const [type, { customerId }] = isIn ? (['INCOMING', to] as const) : (['OUTGOING', from] as const);
      const transaction = newTransaction(caller, parties, { ...described, type, from, to, amount, customerId });
      const { id: result } = transaction;
      const spend = spendOf(caller, kind, { transactionId: result, customerId, amount, currency, to });
      if (!rail) {
        const customers = to.customerId === null ? [] : ownersOf(from, to);
        const moved = betweenAccounts(transaction, idAt(parties, 1), { from, to, amount });
        return { ...moved, requireActive: { customers, unfrozen: [from.id, to.id] }, spend, result };
      }
      const [inside, outside] = isIn ? [to, from] : [from, to];
      const id = orderIdOfKey(caller, { operation, idempotencyKey }, idAt(parties, 1));
      return {
        requireActive: { customers: ownersOf(from, to), accounts: [outside.id], unfrozen: [inside.id] },
        insert: railRows(rail, transaction, { id, account: outside, scenario }),
        ...(isIn
          ? { capacity: [{ account: to.id, amount }] }
          : { journals: [debitInFull(from.id, currency, amount, result)] }),
        ...{ spend, result },
      };
    };
    return {
      ...{ operation, plan, readsOnly: true, type: 'Transaction' },
      amount: { field: 'amount', currency: () => currencyOfNamed(payments.database.pool, caller, sourceAccountId) },
      paths: {
        INSUFFICIENT_BALANCE: sourcePath,
        // The transfer belongs to this account's customer.
        USER_NOT_READY: isIn ? destinationPath : sourcePath,
        ACCOUNT_FROZEN: pathOf,
        INVALID_BANK_ACCOUNT: pathOf,
        AMOUNT_OUT_OF_RANGE: at('amount'),
      },
    };
  });
}

/**
 * Sends money in one currency from an internal to an external account. The source is debited immediately. The
 * transaction is PENDING until the rail has delivered the money or failed to do so.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   INSUFFICIENT_BALANCE, LIMIT_EXCEEDED, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN, INVALID_BANK_ACCOUNT,
 *   IDEMPOTENCY_MISMATCH
 */
export const transferOut = transferring<Transfer>('transferOut');

/**
 * Pulls money in one currency from an external to an internal account. The destination is credited once the rail has
 * collected the money. If no amount is given, the rail decides how much to pull.
 * @throws Refusal as transferOut does, except INSUFFICIENT_BALANCE; also INVALID_INPUT for a wallet, from which money
 *   cannot be pulled, and AMOUNT_OUT_OF_RANGE if the destination cannot receive the amount
 */
export const transferIn = transferring<TransferIn>('transferIn');

/**
 * Moves money in one currency from an internal account to another owner's internal account: between a customer and the
 * platform, or between customers. The transaction is COMPLETED immediately. The receiver has its own INCOMING
 * transaction. The platform's own account can receive money from any customer, even one who may not move money.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   SELF_PAYMENT, INSUFFICIENT_BALANCE, LIMIT_EXCEEDED, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN,
 *   IDEMPOTENCY_MISMATCH
 */
export const transferInternal = transferring<Omit<Transfer, 'sandboxScenario'>>('transferInternal');

/** Validates a transfer's input fields, and reads both accounts, which must be of the given kinds. */
async function readAccounts(
  payments: Payments,
  caller: Caller,
  input: TransferIn,
  must: { readonly source: Account['kind']; readonly destination: Account['kind'] },
) {
  const [source, destination, description, metadata = null] = checkAll(
    () => accountName(input.sourceAccountId, sourcePath),
    () => accountName(input.destinationAccountId, destinationPath),
    () => checkText(input.description, at('description'), longest.memo),
    () => checkMetadata(caller, input.metadata, at('metadata')),
  );
  const parties = await readTransferParties(payments.database.pool, caller, { source, destination, ids: 2 });
  const [from, to] = checkAll(
    () => requireKind(parties.source, must.source, 'source', sourcePath),
    () => requireKind(parties.destination, must.destination, 'destination', destinationPath),
  );
  if (from.currency !== to.currency) {
    const message = `a transfer does not convert currencies: the source is in ${from.currency}, the destination in ${to.currency}; create a quote instead`;
    throw new Refusal('INVALID_CURRENCY', message, destinationPath);
  }
  if (from.kind === 'EXTERNAL') checkPullable(from, sourcePath);
  if (from.id === to.id)
    throw new Refusal('SELF_PAYMENT', 'the source and the destination are the same account', destinationPath);
  return { from, to, parties, description, metadata, createdBy: tokenOf(caller) };
}

function requireKind(account: Account | null, kind: Account['kind'], side: string, path: FieldPath): Account {
  if (!account) accountNotFound(path);
  if (account.kind === kind) return account;
  throw invalid(`the ${side} must be an ${kind.toLowerCase()} account`, path);
}

interface TransferRow extends Pick<NewRow<Transaction>, 'type' | 'metadata' | 'customerId' | 'createdBy'> {
  readonly from: Pick<Account, 'id' | 'currency'>;
  readonly to: Pick<Account, 'id' | 'currency' | 'customerId'>;
  readonly amount: bigint;
  readonly description?: string | null | undefined;
}

/** Creates a new transfer's row. */
export function newTransaction(
  { platformId }: Pick<Caller, 'platformId'>,
  parties: Pick<TransferParties, 'ids'>,
  { type, from, to, amount, customerId, description = null, metadata, createdBy }: TransferRow,
): NewRow<Transaction> {
  const id = idAt(parties, 0);
  return {
    platformId,
    id,
    type,
    status: 'PENDING',
    customerId,
    sentAmount: amount,
    sentCurrency: from.currency,
    receivedAmount: amount,
    receivedCurrency: to.currency,
    sourceKind: 'ACCOUNT',
    sourceAccountId: from.id,
    destinationKind: 'ACCOUNT',
    destinationAccountId: to.id,
    reference: paymentReference(id),
    counterpartyInformation: {},
    description,
    metadata,
    createdBy,
  };
}

/** Returns the ids of the customers who own the accounts. */
function ownersOf(...accounts: readonly Account[]): string[] {
  return [...new Set(accounts.map((account) => account.customerId))].filter((id) => id !== null);
}

/** Returns the rows for a transfer that uses a rail. The transfer starts at the time in the transaction's id. */
function railRows(
  rail: Rail,
  transaction: NewRow<Transaction>,
  order: { readonly id: string; readonly account: Account; readonly scenario: Prisma.JsonValue },
): Plan['insert'] {
  const { platformId, id: transactionId } = transaction;
  const { id, scenario } = order;
  const account = toRailAccount(order.account);
  const request = { step: 'SETTLEMENT', account, umaAddress: undefined, scenario } as const;
  const expectedSettlementAt = new Date(creationTime(transactionId).getTime() + expectedMs(rail, request));
  const kind = transaction.type === 'INCOMING' ? 'COLLECTION' : 'PAYOUT';
  return {
    transaction: [{ ...transaction, expectedSettlementAt }],
    rail_order: [{ platformId, id, transactionId, kind, scenario, dueInMs: firstAskMs(rail, request) }],
  };
}

/**
 * Plans a transfer between two internal accounts: the outgoing and the incoming transaction, both COMPLETED.
 * @param newId the id of the incoming transaction
 */
export function betweenAccounts(
  transaction: NewRow<Transaction>,
  newId: string,
  { from, to, amount }: Pick<TransferRow, 'from' | 'to' | 'amount'>,
): Plan {
  const { id, platformId, reference, description = null } = transaction;
  const sent: Plan = {
    insert: { transaction: [transaction] },
    transactions: [{ id, from: ['PENDING'], to: 'COMPLETED', reason: 'transferred', isNew: true }],
    journals: [transfer(from.id, from.currency, amount, id)],
  };
  const received = { id, reference, receivedAmount: amount, description };
  const arrived = directArrival({ platformId, newId, transaction: received, fundingAccountId: from.id }, to);
  return mergePlans(sent, arrived);
}
