import { z } from 'zod';
import { boundedCache, boundedMemo } from '../../core/bounded-cache.ts';
import type { RailModule } from '../port.ts';
import type { FundingRequest, PaymentInstruction, Rail } from '../rail.ts';
import type { DepositsPage, DepositsRequest, DepositToTake, RailDeposit, TakenDeposit } from '../rail-parts.ts';
import { checkedSettings } from '../rail-settings.ts';
import type { Upstream } from './upstream-accounts.ts';
import * as accounts from './upstream-accounts.ts';
import * as api from './upstream-client.ts';
import { collect, findOrder, giveBack, payOut } from './upstream-orders.ts';
import { lockRate, lookUp, readTerms } from './upstream-quotes.ts';

/** Parses a stored connection to an upstream service. @throws RangeError that describes the fault, without secrets */
function parseConnection(text: string): api.UpstreamConnection {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RangeError('the connection must be JSON with baseUrl, clientId and secret');
  }
  return checkedSettings(api.upstreamConnection, value);
}

/** The module of the rail whose provider is another service that implements the specification (docs/rails.md). */
export const upstreamModule: RailModule = {
  railPort: 1,
  name: 'upstream',
  open(given, { connections }) {
    const settings = checkedSettings(api.upstreamSettings, given);
    const clients = new Set<api.UpstreamClient>();
    const rails = boundedMemo(10_000, (platformId) => {
      const connection = async () => {
        const stored = await connections.read(platformId);
        return stored === undefined ? undefined : parseConnection(stored);
      };
      const client = new api.UpstreamClient(async () => {
        const current = await connection();
        if (current) return current;
        throw new Error('the platform is not connected: run `npm run ops -- rails connect`');
      });
      clients.add(client);
      return platformRail({ client, settings, ids: boundedCache<string>(20_000) }, connection);
    });
    return {
      name: 'upstream',
      forPlatform: (platformId) => rails.memo(platformId),
      async close() {
        await Promise.all([...clients].map((client) => client.close()));
      },
    };
  },
};

function platformRail(upstream: Upstream, connection: () => Promise<api.UpstreamConnection | undefined>): Rail {
  const { settings } = upstream;
  return {
    name: 'upstream',
    rate: (sending, receiving) => readTerms(upstream, sending, receiving),
    // Payments to UMA addresses need a locked rate, so receivers are looked up only if rates are locked.
    ...(settings.lockQuotes && {
      lockRate: (request) => lockRate(upstream, request),
      lookUp: (umaAddress) => lookUp(upstream, umaAddress),
    }),
    checkAccount: (account) => accounts.checkAccount(upstream, account),
    checkIdentity: async (customer) => {
      const { upstreamId, ...check } = await accounts.checkIdentity(upstream, customer);
      // The id is needed immediately afterwards, when the customer's accounts are created in the gateway.
      upstream.ids.set(customer.customerId, upstreamId);
      return check;
    },
    paymentInstructions: (request) => readInstructions(upstream, request),
    deposits: (request) => listDeposits(upstream, request),
    takeDeposit: (deposit) => takeDeposit(upstream, deposit),
    payOut: (order) => payOut(upstream, order),
    collect: (order) => collect(upstream, order),
    findOrder: (order) => findOrder(upstream, order),
    giveBack: (order) => giveBack(upstream, order),
    expectedMs: () => settings.expectedMs,
    movements: (request) => accounts.readMovements(upstream, request),
    balances: () => accounts.balances(upstream),
    receiveWebhook: async (webhook) => accounts.verifyWebhook((await connection())?.webhookSecret, webhook),
    readWebhook: async (body) => accounts.newsIn(body),
    async checkConnection() {
      const held = [...(await accounts.balances(upstream))].map(([code, units]) => `${code} ${units}`);
      const webhooks =
        (await connection())?.webhookSecret === undefined ? 'are refused: there is no webhookSecret' : 'are accepted';
      return `upstream balances, in the currency's smallest unit: ${held.join(', ')}; webhooks ${webhooks}`;
    },
  };
}

const incomingRecord = api.transactionRecord.extend({
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

/** Returns payment instructions for a customer's upstream account; none for quotes or the platform's own accounts. */
async function readInstructions({ client, ids }: Upstream, { customerId, currency, expiresAt }: FundingRequest) {
  if (!customerId || expiresAt) return [];
  const upstreamId = ids.get(customerId);
  if (upstreamId === undefined) throw new Error("the customer's upstream counterpart is unknown");
  const query = { customerId: upstreamId, currency: currency.code };
  const { data } = await client.get('/customers/internal-accounts', fundedAccounts, query);
  // The upstream service implements the same API, so its instructions have the same form.
  return data.flatMap(({ fundingPaymentInstructions: ways }) =>
    ways.map(({ accountOrWalletInfo }) => accountOrWalletInfo as unknown as PaymentInstruction),
  );
}

/** Lists the upstream deposits, excluding both money collected by orders and transfers between upstream accounts. */
async function listDeposits({ client }: Upstream, { from, cursor }: DepositsRequest): Promise<DepositsPage> {
  const query = { type: 'INCOMING', sortOrder: 'asc', limit: '100', startDate: from.toISOString(), cursor };
  const { data, nextCursor } = await client.get('/transactions', incomingPage, query);
  const last = data.at(-1);
  // Money for a customer is always a deposit, regardless of its memo.
  const found = data.filter(
    (one) => !accounts.isWithin(one) && (one.platformCustomerId || !accounts.orderIdIn(one.description)),
  );
  return { deposits: found.map(depositOf), lookedUpTo: last && new Date(last.createdAt), nextCursor };
}

/** Moves a deposit from the customer's upstream account to the platform's own account, from which payments are made. */
async function takeDeposit(upstream: Upstream, { id, amount, currency, heldAt }: DepositToTake): Promise<TakenDeposit> {
  try {
    const own = await accounts.internalId(upstream, currency);
    if (heldAt === own) return { kind: 'taken' };
    const [key, memo] = [`deposit-${id}`, accounts.memoOf('deposit', id)];
    await upstream.client.transfer('internal', { from: heldAt, to: own, amount, memo, key });
    return { kind: 'taken' };
  } catch (error) {
    if (!(error instanceof api.UpstreamRefusal)) throw error;
    return { kind: 'refused', explanation: `refused by the upstream service: ${error.message} (${error.code})` };
  }
}

function depositOf(record: IncomingRecord): RailDeposit {
  const { id, createdAt, status, receivedAmount, platformCustomerId, source, destination, description } = record;
  const state = accounts.states[status];
  return {
    reference: id,
    at: new Date(createdAt),
    state: state === 'RETURNED' ? 'FAILED' : state,
    amount: BigInt(receivedAmount.amount),
    currency: receivedAmount.currency.code,
    customerId: accounts.customerIn(platformCustomerId),
    heldAt: destination.accountId,
    payer: source?.umaAddress,
    memo: description,
  };
}
