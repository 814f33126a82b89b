import type { GivenAmount } from '../../core/currencies.ts';
import { accountNameIn, creationTime, paymentReference } from '../../core/ids.ts';
import { checkAll, type FieldPath, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { checkText, longest } from '../../core/texts.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Account, Transaction } from '../../infra/database/rows.ts';
import type { Rail } from '../../rails/rail.ts';
import { type Caller, tokenOf } from '../access/caller.ts';
import type { Payments } from '../commands/command.ts';
import { checkMetadata, type Metadata } from '../commands/metadata.ts';
import {
  accountName,
  accountNotFound,
  currencyOfNamed,
  idAt,
  readTransferParties,
  type TransferParties,
  toRailAccount,
} from '../commands/parties.ts';
import type { NewRow, Plan } from '../ledger/plan.ts';
import { expectedMs, firstAskMs } from '../orders/orders.ts';
import type { GivenScenario } from '../orders/scenario.ts';

/** A transfer in one currency: in, out (specification 4.6, 4.12), or between internal accounts (decision 63). */
export interface Transfer {
  readonly sourceAccountId: string;
  readonly destinationAccountId: string;
  /** 1 to `maxAmount` smallest units. */
  readonly amount: GivenAmount;
  readonly description?: string | null | undefined;
  readonly metadata?: Metadata | null | undefined;
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

export const at = pathsIn<Transfer>();
const sourcePath = at('sourceAccountId');
const destinationPath = at('destinationAccountId');

/**
 * Validates the input fields of a transfer, and reads both accounts, which must be of the given kinds.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_CURRENCY, FORBIDDEN (metadata of an app)
 */
export async function readAccounts(
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

function requireKind(account: Account | undefined, kind: Account['kind'], side: string, path: FieldPath): Account {
  if (!account) accountNotFound(path);
  if (account.kind !== kind) {
    const words = { INTERNAL: 'an internal account', EXTERNAL: 'an external account' };
    throw invalid(`the ${side} must be ${words[kind]}`, path);
  }
  return account;
}

/** The fields of a transfer's row, in addition to its input. */
export interface TransferRow extends Pick<NewRow<Transaction>, 'metadata' | 'customerId' | 'createdBy'> {
  readonly from: Pick<Account, 'id' | 'currency'>;
  readonly to: Pick<Account, 'id' | 'currency'>;
  readonly amount: bigint;
  readonly description?: string | null | undefined;
}

/** Creates the row of a new transfer, without its type. */
export function newTransaction(
  { platformId }: Pick<Caller, 'platformId'>,
  parties: Pick<TransferParties, 'ids'>,
  { from, to, amount, customerId, description = null, metadata, createdBy }: TransferRow,
): Omit<NewRow<Transaction>, 'type'> {
  const id = idAt(parties, 0);
  return {
    platformId,
    id,
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

/** Returns which field of a transfer is the amount, and how to find its currency, which is that of its accounts. */
export function amountOf(
  { database }: Payments,
  caller: Caller,
  { sourceAccountId }: Pick<Transfer, 'sourceAccountId'>,
) {
  return { field: 'amount', currency: () => currencyOfNamed(database.pool, caller, sourceAccountId) };
}

/** Returns the path of the account that caused the refusal of a transfer. */
export function pathOfAccount({ destinationAccountId }: Pick<Transfer, 'destinationAccountId'>) {
  return (id: string) => (accountNameIn(destinationAccountId)?.id === id ? destinationPath : sourcePath);
}

/** Returns the owners of accounts, who must be allowed to move money. */
export function ownersOf(...accounts: readonly Account[]): string[] {
  return [...new Set(accounts.map((account) => account.customerId))].filter((id) => id !== null);
}

/**
 * Returns the rows of a transfer that a rail moves: its transaction, and the order to the rail. The expected settlement
 * is computed from the database's time, which the id contains.
 */
export function railRows(
  rail: Rail,
  transaction: NewRow<Transaction>,
  order: { readonly id: string; readonly account: Account; readonly scenario: Prisma.JsonValue },
): Plan['insert'] {
  const { platformId, id: transactionId } = transaction;
  const { id, scenario } = order;
  const request = {
    step: 'SETTLEMENT',
    account: toRailAccount(order.account),
    umaAddress: undefined,
    scenario,
  } as const;
  const expectedSettlementAt = new Date(creationTime(transactionId).getTime() + expectedMs(rail, request));
  const kind = transaction.type === 'INCOMING' ? 'COLLECTION' : 'PAYOUT';
  return {
    transaction: [{ ...transaction, expectedSettlementAt }],
    rail_order: [{ platformId, id, transactionId, kind, scenario, dueInMs: firstAskMs(rail, request) }],
  };
}
