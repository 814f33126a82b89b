import { z } from 'zod';
import { boundedCache } from '../../core/bounded-cache.ts';
import type { FundingRequest, PaymentInstruction } from '../rail.ts';
import type { DepositsPage, DepositsRequest, DepositToTake, RailDeposit, TakenDeposit } from '../rail-deposits.ts';
import type { UpstreamAccounts } from './upstream-accounts.ts';
import { type UpstreamClient, UpstreamRefusal } from './upstream-client.ts';
import { customerIn } from './upstream-identity.ts';
import { isWithin, orderIdIn, states, sweepMemo } from './upstream-movements.ts';
import { transactionRecord } from './upstream-records.ts';

const incomingRecord = transactionRecord.extend({
  createdAt: z.iso.datetime({ offset: true }),
  platformCustomerId: z.string().nullish(),
  destination: z.object({ accountId: z.string() }),
});
type IncomingRecord = z.infer<typeof incomingRecord>;

const incomingPage = z.object({ data: z.array(incomingRecord), nextCursor: z.string().optional() });

const fundedAccounts = z.object({
  data: z.array(
    z.object({
      fundingPaymentInstructions: z.array(
        z.object({ accountOrWalletInfo: z.looseObject({ accountType: z.string() }) }),
      ),
    }),
  ),
});

const pageSize = 100;

/** The deposits to a platform's customers, on their accounts at its upstream service (decision 85). */
export class UpstreamDeposits {
  readonly #client: UpstreamClient;
  readonly #accounts: UpstreamAccounts;
  /** Upstream's ids of customers just created there, for the creation of their accounts here right afterwards. */
  readonly #customers = boundedCache<string>(10_000);

  constructor(client: UpstreamClient, accounts: UpstreamAccounts) {
    this.#client = client;
    this.#accounts = accounts;
  }

  noteCustomer(customerId: string, upstreamId: string): void {
    this.#customers.set(customerId, upstreamId);
  }

  /** Returns the payment instructions of a customer's account upstream; none for quotes and the platform's accounts. */
  async instructions({ customerId, currency, expiresAt }: FundingRequest): Promise<PaymentInstruction[]> {
    if (!customerId || expiresAt) return [];
    const upstreamId = this.#customers.get(customerId);
    if (upstreamId === undefined) throw new Error('the upstream customer is not known');
    const query = new URLSearchParams({ customerId: upstreamId, currency: currency.code });
    const { data } = await this.#client.get(`/customers/internal-accounts?${query}`, fundedAccounts);
    // Upstream implements the same API, so its instructions have the same forms.
    return data.flatMap(({ fundingPaymentInstructions: ways }) =>
      ways.map(({ accountOrWalletInfo }) => accountOrWalletInfo as unknown as PaymentInstruction),
    );
  }

  /** Lists the deposits upstream, without collections of the gateway's orders and moves between upstream accounts. */
  async list({ from, cursor }: DepositsRequest): Promise<DepositsPage> {
    const query = new URLSearchParams({
      ...{ type: 'INCOMING', sortOrder: 'asc', limit: String(pageSize), startDate: from.toISOString() },
      ...(cursor !== undefined && { cursor }),
    });
    const { data, nextCursor } = await this.#client.get(`/transactions?${query}`, incomingPage);
    const last = data.at(-1);
    return {
      deposits: data.filter(isDeposit).map(depositOf),
      lookedUpTo: last && new Date(last.createdAt),
      ...(nextCursor !== undefined && { nextCursor }),
    };
  }

  /** Moves a deposit from the customer's account upstream to the platform's own, from which payments are paid. */
  async take({ id, amount, currency, heldAt }: DepositToTake): Promise<TakenDeposit> {
    try {
      const own = await this.#accounts.internalId(currency);
      if (heldAt === own) return { kind: 'taken' };
      const key = `deposit-${id}`;
      await this.#client.transfer('internal', { from: heldAt, to: own, amount, memo: sweepMemo(id), key });
      return { kind: 'taken' };
    } catch (error) {
      if (!(error instanceof UpstreamRefusal)) throw error;
      return { kind: 'refused', explanation: `refused by the upstream service: ${error.message} (${error.code})` };
    }
  }
}

/** Returns whether a record is a deposit: any money for a customer, whatever its memo, but no orders or sweeps. */
function isDeposit(record: IncomingRecord): boolean {
  if (isWithin(record)) return false;
  return Boolean(record.platformCustomerId) || orderIdIn(record.description) === undefined;
}

function depositOf(record: IncomingRecord): RailDeposit {
  const { id, createdAt, status, receivedAmount, platformCustomerId, source, destination, description } = record;
  const state = states[status];
  return {
    reference: id,
    at: new Date(createdAt),
    state: state === 'RETURNED' ? 'FAILED' : state,
    amount: BigInt(receivedAmount.amount),
    currency: receivedAmount.currency.code,
    customerId: customerIn(platformCustomerId),
    heldAt: destination.accountId,
    payer: source?.umaAddress,
    memo: description,
  };
}
