import type { Account, Transaction } from '../database/rows.ts';
import type { NewRow } from '../ledger/plan.ts';
import { checkAmount, checkText } from './checks.ts';
import { type Done, type Payments, railOf, run, type Tenant } from './command.ts';
import { madeAt, paymentReference } from './ids.ts';
import { debit } from './movements.ts';
import { firstAskMs } from './orders.ts';
import { accountNotFound, accountUuid, currencyOfAccount, idAt, outsideOf, readSides, type Sides } from './parties.ts';
import { Refusal } from './refusal.ts';
import { checkScenario, type GivenScenario } from './scenario.ts';

export interface Transfer {
  readonly sourceAccountId: string;
  readonly destinationAccountId: string;
  /** Smallest units, 1 to 9·10^15. */
  readonly amount: bigint;
  readonly description?: string | null | undefined;
  /** Sandbox: what shall happen to it. */
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

const source = 'sourceAccountId';
const destination = 'destinationAccountId';

/**
 * Sends money in one currency from an internal to an external account (specification 4.12). The source is debited at
 * once; the transaction is PENDING until the rail has delivered or given up.
 * @throws Refusal ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   INSUFFICIENT_BALANCE, USER_NOT_READY, INVALID_BANK_ACCOUNT, IDEMPOTENCY_MISMATCH
 */
export function transferOut(
  payments: Payments,
  tenant: Tenant,
  input: Transfer,
  idempotencyKey?: string | null,
): Promise<Done<Transaction>> {
  return run(payments, tenant, {
    operation: 'transferOut',
    readsOnly: true,
    type: 'Transaction',
    input,
    idempotencyKey,
    plan: async () => {
      checkAmount(input.amount, 'amount');
      const scenario = checkScenario(tenant, input.sandboxScenario);
      const { from, to, sides } = await readAccounts(payments, tenant, input, 'INTERNAL');
      const outside = outsideOf(to);
      const transaction = newTransaction(tenant, input, sides, {
        from,
        to,
        amount: input.amount,
        customerId: from.customerId,
      });
      const rail = railOf(payments, tenant);
      const errand = { step: 'SETTLEMENT', account: outside, umaAddress: undefined, scenario } as const;
      const expected = rail.expectedMs(errand);
      return {
        ready: { customers: ownersOf(from, to), accounts: [to.id] },
        insert: {
          transaction: [
            { ...transaction, type: 'OUTGOING', expectedSettlementAt: expectedAt(transaction.id, expected) },
          ],
          rail_order: [
            {
              platformId: tenant.platformId,
              id: idAt(sides, 1),
              transactionId: transaction.id,
              kind: 'PAYOUT',
              scenario,
              dueInMs: firstAskMs(rail, errand),
            },
          ],
        },
        journals: [
          debit({
            transactionId: transaction.id,
            sourceAccountId: from.id,
            sendingCurrency: from.currency,
            sent: input.amount,
            fees: 0n,
            platformFee: 0n,
            platformAccountId: undefined,
            receivingCurrency: to.currency,
            received: input.amount,
            destinationAccountId: undefined,
          }),
        ],
        result: transaction.id,
      };
    },
    fields: { INSUFFICIENT_BALANCE: source, USER_NOT_READY: source, INVALID_BANK_ACCOUNT: destination },
  });
}

/**
 * Pulls money in one currency from an external to an internal account (specification 4.6). The destination is credited
 * when the rail has collected. Without an amount the rail decides how much it pulls.
 * @throws Refusal as transferOut does, but INSUFFICIENT_BALANCE; AMOUNT_OUT_OF_RANGE also where the destination cannot take it
 */
export function transferIn(
  payments: Payments,
  tenant: Tenant,
  input: Omit<Transfer, 'amount'> & { readonly amount?: bigint | null | undefined },
  idempotencyKey?: string | null,
): Promise<Done<Transaction>> {
  return run(payments, tenant, {
    operation: 'transferIn',
    readsOnly: true,
    type: 'Transaction',
    input,
    idempotencyKey,
    plan: async () => {
      if (input.amount !== null && input.amount !== undefined) checkAmount(input.amount, 'amount');
      const scenario = checkScenario(tenant, input.sandboxScenario);
      const { from, to, sides } = await readAccounts(payments, tenant, input, 'EXTERNAL');
      const rail = railOf(payments, tenant);
      const amount = input.amount ?? rail.collectionAmount(currencyOfAccount(to));
      const transaction = newTransaction(tenant, input, sides, { from, to, amount, customerId: to.customerId });
      const errand = { step: 'SETTLEMENT', account: outsideOf(from), umaAddress: undefined, scenario } as const;
      const expected = rail.expectedMs(errand);
      return {
        ready: { customers: ownersOf(from, to), accounts: [from.id] },
        room: [{ account: to.id, amount }],
        insert: {
          transaction: [
            { ...transaction, type: 'INCOMING', expectedSettlementAt: expectedAt(transaction.id, expected) },
          ],
          rail_order: [
            {
              platformId: tenant.platformId,
              id: idAt(sides, 1),
              transactionId: transaction.id,
              kind: 'COLLECTION',
              scenario,
              dueInMs: firstAskMs(rail, errand),
            },
          ],
        },
        result: transaction.id,
      };
    },
    fields: { USER_NOT_READY: destination, INVALID_BANK_ACCOUNT: source, AMOUNT_OUT_OF_RANGE: 'amount' },
  });
}

/** Both accounts, the source being of the kind that the transfer starts from and the destination of the other. */
async function readAccounts(
  payments: Payments,
  tenant: Tenant,
  input: Omit<Transfer, 'amount'>,
  sourceKind: Account['kind'],
) {
  checkText(input.description, 'description');
  const sides = await readSides(payments.database.pool, tenant.platformId, {
    source: accountUuid(input.sourceAccountId, source),
    destination: accountUuid(input.destinationAccountId, destination),
    ids: 2,
  });
  const from = sides.source ?? accountNotFound(source);
  const to = sides.destination ?? accountNotFound(destination);
  const kinds = { INTERNAL: 'an internal account', EXTERNAL: 'an external account' };
  if (from.kind !== sourceKind) {
    throw new Refusal('INVALID_INPUT', `${source} must be ${kinds[sourceKind]}`, { field: source });
  }
  const destinationKind = sourceKind === 'INTERNAL' ? 'EXTERNAL' : 'INTERNAL';
  if (to.kind !== destinationKind) {
    throw new Refusal('INVALID_INPUT', `${destination} must be ${kinds[destinationKind]}`, { field: destination });
  }
  if (from.currency !== to.currency) {
    throw new Refusal(
      'INVALID_CURRENCY',
      `a transfer does not convert: the source is in ${from.currency}, the destination in ${to.currency}; create a quote`,
      {
        field: destination,
      },
    );
  }
  return { from, to, sides };
}

function newTransaction(
  tenant: Tenant,
  input: Omit<Transfer, 'amount'>,
  sides: Sides,
  { from, to, amount, customerId }: { from: Account; to: Account; amount: bigint; customerId: string | null },
): Omit<NewRow<Transaction>, 'type'> {
  const id = idAt(sides, 0);
  return {
    platformId: tenant.platformId,
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
    description: input.description ?? null,
  };
}

/** Whoever takes part must be allowed to move money, on either side. */
function ownersOf(...accounts: readonly Account[]): string[] {
  return [...new Set(accounts.map((account) => account.customerId))].filter((id) => id !== null);
}

/** From the database's clock, which is inside the id. */
function expectedAt(transactionId: string, expectedMs: number): Date {
  return new Date(madeAt(transactionId).getTime() + expectedMs);
}
