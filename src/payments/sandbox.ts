import { type Account, rowFromSnapshot, type Transaction } from '../database/rows.ts';
import { statement } from '../database/statement.ts';
import { currencyOf } from '../money/currencies.ts';
import { checkAmount } from './checks.ts';
import { type Done, type Payments, railOf, run, type Tenant } from './command.ts';
import { execution } from './execution.ts';
import { uuidOf } from './ids.ts';
import { deposit } from './movements.ts';
import { accountNotFound, accountUuid, outsideOf, readParties } from './parties.ts';
import { Refusal } from './refusal.ts';

/** The most that one call may bring into a sandbox account, in smallest units. */
export const maxFunding = 100_000_000_000n;

function sandboxOnly(tenant: Tenant): void {
  if (tenant.environment !== 'SANDBOX')
    throw new Refusal('FORBIDDEN', 'only sandbox platforms can simulate the world outside');
}

/**
 * Lets money arrive in an internal account, as a bank transfer to it would (sandbox).
 * @throws Refusal FORBIDDEN, ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, IDEMPOTENCY_MISMATCH
 */
export function fundAccount(
  payments: Payments,
  tenant: Tenant,
  input: { readonly accountId: string; readonly amount: bigint },
  idempotencyKey?: string | null,
): Promise<Done<Account>> {
  return run(payments, tenant, {
    operation: 'sandboxFundAccount',
    type: 'Account',
    input,
    idempotencyKey,
    plan: async () => {
      sandboxOnly(tenant);
      checkAmount(input.amount, 'amount');
      if (input.amount > maxFunding) {
        throw new Refusal('AMOUNT_OUT_OF_RANGE', `amount must be at most ${maxFunding}`, {
          field: 'amount',
          value: input.amount.toString(),
        });
      }
      const { source } = await readParties(payments.database.pool, tenant.platformId, {
        source: accountUuid(input.accountId, 'accountId'),
        ids: 0,
      });
      if (!source) accountNotFound('accountId');
      if (source.kind !== 'INTERNAL')
        throw new Refusal('INVALID_INPUT', 'only an internal account can be funded', { field: 'accountId' });
      return { journals: [deposit(source.id, source.currency, input.amount)], result: source.id };
    },
  });
}

const fundableStatement = statement<{
  quote: Record<string, unknown>;
  destination: Record<string, unknown> | null;
  funding_account_id: string | null;
  order_id: string;
}>(
  'fundable_quote',
  `select to_jsonb(q) as quote, uuid_v7() as order_id,
     (select account_snapshot(a) from account a where a.platform_id = q.platform_id and a.id = q.destination_account_id) as destination,
     (select a.id from account a where a.platform_id = q.platform_id and a.kind = 'INTERNAL'
        and a.customer_id is not distinct from q.customer_id and a.currency = q.sending_currency) as funding_account_id
   from quote q where q.platform_id = $1 and q.id = $2`,
);

/**
 * Lets the deposit for a real-time funded quote arrive (specification 4.7): the money is credited, converted and sent on
 * without another call. Without an amount, exactly what the quote asks for.
 * @throws Refusal FORBIDDEN, QUOTE_NOT_FOUND, INVALID_INPUT (not real-time funded), INVALID_CURRENCY, INVALID_AMOUNT,
 *   AMOUNT_OUT_OF_RANGE, CONFLICT (paid before), QUOTE_EXPIRED, USER_NOT_READY, IDEMPOTENCY_MISMATCH
 */
export function sandboxSend(
  payments: Payments,
  tenant: Tenant,
  input: {
    readonly quoteId: string;
    readonly currencyCode: string;
    readonly currencyAmount?: bigint | null | undefined;
  },
  idempotencyKey?: string | null,
): Promise<Done<Transaction>> {
  return run(payments, tenant, {
    operation: 'sandboxSend',
    type: 'Transaction',
    input,
    idempotencyKey,
    plan: async () => {
      sandboxOnly(tenant);
      const uuid = uuidOf(input.quoteId, 'Quote');
      const [found] = uuid ? await fundableStatement(payments.database.pool, tenant.platformId, uuid) : [];
      if (!found?.destination) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', { field: 'quoteId' });
      const quote = rowFromSnapshot('Quote', found.quote);
      if (quote.sourceKind !== 'REALTIME_FUNDING' || !found.funding_account_id) {
        throw new Refusal('INVALID_INPUT', 'this quote is paid from an account: execute it instead', {
          field: 'quoteId',
        });
      }
      if (currencyOf(input.currencyCode)?.code !== quote.sendingCurrency) {
        throw new Refusal('INVALID_CURRENCY', `this quote is funded in ${quote.sendingCurrency}`, {
          field: 'currencyCode',
          value: input.currencyCode,
        });
      }
      const amount = input.currencyAmount ?? quote.totalSendingAmount;
      checkAmount(amount, 'currencyAmount');
      const destination = rowFromSnapshot('Account', found.destination);
      const arrival = {
        orderId: found.order_id,
        rail: railOf(payments, tenant),
        sourceAccountId: found.funding_account_id,
        outside: outsideOf(destination),
        reason: 'the deposit arrived',
        depositAmount: amount,
      };
      const ready = { customers: quote.customerId ? [quote.customerId] : [], accounts: [destination.id] };
      if (amount === quote.totalSendingAmount) {
        const { order, ...moves } = execution(quote, arrival);
        return { ...moves, ready, insert: { rail_order: [order] }, result: quote.transactionId };
      }
      // The money stays in the customer's account of that currency; the payment fails (decision on deposits that do not match).
      const reason = `${amount} arrived where ${quote.totalSendingAmount} were due; the money is in the customer's ${quote.sendingCurrency} account`;
      return {
        ready,
        quotes: [{ id: quote.id, from: ['PENDING'], to: 'FAILED', expiry: 'before', reason }],
        transactions: [
          {
            id: quote.transactionId,
            from: ['PENDING'],
            to: 'FAILED',
            reason,
            set: { failureReason: 'QUOTE_EXECUTION_FAILED' },
          },
        ],
        journals: [deposit(found.funding_account_id, quote.sendingCurrency, amount, quote.transactionId)],
        result: quote.transactionId,
      };
    },
    fields: {
      QUOTE_EXPIRED: 'quoteId',
      CONFLICT: 'quoteId',
      USER_NOT_READY: 'quoteId',
      INVALID_BANK_ACCOUNT: 'quoteId',
    },
  });
}
