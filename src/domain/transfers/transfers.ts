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
import { command, type Payments, railOf } from '../commands/command.ts';
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

/** A transfer in one currency: in, out (specification 4.6, 4.12), or between internal accounts (decision 63). */
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

/** Validates a transfer's input fields, and reads both accounts, which must be of the given kinds. */
async function readAccounts(
  payments: Payments,
  caller: Caller,
  input: Omit<Transfer, 'amount'>,
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

/**
 * Returns the parts that all transfer declarations share. Both accounts have the currency of the amount.
 * @param customerPath the path of the account whose customer the transfer belongs to
 */
function transferring(
  { database }: Payments,
  caller: Caller,
  { sourceAccountId, destinationAccountId }: Omit<Transfer, 'amount'>,
  customerPath: FieldPath,
) {
  const pathOf = (id: string) => (accountNameIn(destinationAccountId)?.id === id ? destinationPath : sourcePath);
  return {
    readsOnly: true,
    type: 'Transaction',
    amount: { field: 'amount', currency: () => currencyOfNamed(database.pool, caller, sourceAccountId) },
    paths: {
      INSUFFICIENT_BALANCE: sourcePath,
      USER_NOT_READY: customerPath,
      ACCOUNT_FROZEN: pathOf,
      INVALID_BANK_ACCOUNT: pathOf,
      AMOUNT_OUT_OF_RANGE: at('amount'),
    },
  } as const;
}

/** Returns the accounts' owners, who must be allowed to move money. */
function ownersOf(...accounts: readonly Account[]): string[] {
  return [...new Set(accounts.map((account) => account.customerId))].filter((id) => id !== null);
}

/** Returns the rows of a transfer by a rail. Its expected settlement is counted from the database's time in its id. */
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
 * Sends money in one currency from an internal to an external account (specification 4.12). The source is debited
 * immediately. The transaction is PENDING until the rail has delivered or failed.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   INSUFFICIENT_BALANCE, LIMIT_EXCEEDED, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN, INVALID_BANK_ACCOUNT,
 *   IDEMPOTENCY_MISMATCH
 */
export const transferOut = command((payments, caller, input: Transfer, idempotencyKey) => ({
  ...transferring(payments, caller, input, sourcePath),
  operation: 'transferOut',
  plan: async () => {
    const scenario = checkScenario(payments, caller, input.sandboxScenario);
    const must = { source: 'INTERNAL', destination: 'EXTERNAL' } as const;
    const { from, to, parties, ...described } = await readAccounts(payments, caller, input, must);
    const amount = smallestUnits(input.amount, requiredCurrency(from.currency), at('amount'));
    const row = { ...described, type: 'OUTGOING', from, to, amount, customerId: from.customerId } as const;
    const transaction = newTransaction(caller, parties, row);
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
}));

type TransferIn = Omit<Transfer, 'amount'> & { readonly amount?: GivenAmount | null | undefined };

/**
 * Pulls money in one currency from an external to an internal account (specification 4.6). The destination is credited
 * once the rail has collected the money. Without an amount, the rail decides how much it pulls.
 * @throws Refusal as transferOut does, except INSUFFICIENT_BALANCE; INVALID_INPUT also for a wallet (decision 30), and
 *   AMOUNT_OUT_OF_RANGE also if the destination cannot receive the amount
 */
export const transferIn = command((payments, caller, input: TransferIn, idempotencyKey) => ({
  ...transferring(payments, caller, input, destinationPath),
  operation: 'transferIn',
  plan: async () => {
    const scenario = checkScenario(payments, caller, input.sandboxScenario);
    const must = { source: 'EXTERNAL', destination: 'INTERNAL' } as const;
    const { from, to, parties, ...described } = await readAccounts(payments, caller, input, must);
    checkPullable(from, sourcePath);
    const rail = railOf(payments, caller, 'collect');
    const currency = requiredCurrency(to.currency);
    const given = input.amount ?? rail.collectionAmount?.(currency);
    if (given === undefined) throw invalid('an amount is required', at('amount'));
    const amount = smallestUnits(given, currency, at('amount'));
    const row = { ...described, type: 'INCOMING', from, to, amount, customerId: to.customerId } as const;
    const transaction = newTransaction(caller, parties, row);
    const id = orderIdOfKey(caller, { operation: 'transferIn', idempotencyKey }, idAt(parties, 1));
    return {
      requireActive: { customers: ownersOf(from, to), accounts: [from.id], unfrozen: [to.id] },
      capacity: [{ account: to.id, amount }],
      insert: railRows(rail, transaction, { id, account: from, scenario }),
      spend: spendOf(caller, 'TRANSFER_IN', { transactionId: transaction.id, ...row, currency: from.currency }),
      result: transaction.id,
    };
  },
}));

/**
 * Moves money in one currency from an internal account to an internal account of another owner: between a customer and
 * the platform, or between customers (decision 63). It is COMPLETED immediately. The receiver has its own INCOMING
 * transaction (decision 26). The platform's own account can receive money from any customer, even one who may not move
 * money.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   SELF_PAYMENT, INSUFFICIENT_BALANCE, LIMIT_EXCEEDED, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN,
 *   IDEMPOTENCY_MISMATCH
 */
export const transferInternal = command((payments, caller, input: Omit<Transfer, 'sandboxScenario'>) => ({
  ...transferring(payments, caller, input, sourcePath),
  operation: 'transferInternal',
  plan: async () => {
    const must = { source: 'INTERNAL', destination: 'INTERNAL' } as const;
    const { from, to, parties, ...described } = await readAccounts(payments, caller, input, must);
    if (from.id === to.id)
      throw new Refusal('SELF_PAYMENT', 'the source and the destination are the same account', destinationPath);
    const amount = smallestUnits(input.amount, requiredCurrency(from.currency), at('amount'));
    const row = { ...described, type: 'OUTGOING', from, to, amount, customerId: from.customerId } as const;
    const transaction = newTransaction(caller, parties, row);
    return {
      ...betweenAccounts(transaction, idAt(parties, 1), { from, to, amount }),
      requireActive: { customers: to.customerId === null ? [] : ownersOf(from, to), unfrozen: [from.id, to.id] },
      spend: spendOf(caller, 'TRANSFER_INTERNAL', { transactionId: transaction.id, ...row, currency: from.currency }),
      result: transaction.id,
    };
  },
}));

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
