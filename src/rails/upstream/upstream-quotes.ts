import DataLoader from 'dataloader';
import type { Currency } from '../../core/currencies.ts';
import { parseDecimal, rateDigits, ratePlaces, tenTo, whole } from '../../core/fraction.ts';
import { oncePer } from '../../core/once-per.ts';
import type { RateTerms, UmaReceiver } from '../rail.ts';
import type { LockAnswer, LockRequest, UmaPayment } from '../rail-parts.ts';
import { customerThere, externalId, internalId, memoOf, type Upstream } from './upstream-accounts.ts';
import * as api from './upstream-client.ts';

/** A lock is valid for this fraction of the upstream quote's lifetime. The rest leaves time to execute the quote. */
const promisedShare = 0.9;

/** Looks up how a UMA address can be paid. */
export async function lookUp({ client }: Upstream, umaAddress: string): Promise<UmaReceiver | undefined> {
  const found = await api.unlessRefused(client.get(receiverPath(umaAddress), api.receiverRecord), undefined);
  if (!found) return undefined;
  return {
    vaspName: found.receiver.vaspName ?? umaAddress.replace(/^.*@/, ''),
    currencies: found.supportedCurrencies.map(({ code, min, max }) => {
      return { code, minAmount: BigInt(min), maxAmount: BigInt(max) };
    }),
    requiredFields: found.requiredPayerFields.map((name) => ({ name, mandatory: true })),
    information: {},
  };
}

const receiverPath = (umaAddress: string) => `/receiver/${encodeURIComponent(umaAddress)}`;

/** Locks a rate through an upstream quote, whose memo names the order that will execute it. */
export async function lockRate(upstream: Upstream, request: LockRequest): Promise<LockAnswer> {
  const { id, orderId, lockedSide, amount, uma } = request;
  try {
    const body = {
      ...(uma ? await umaParties(upstream, uma, request) : await parties(upstream, request)),
      lockedCurrencySide: lockedSide,
      lockedCurrencyAmount: Number(amount),
      description: memoOf('order', orderId),
    };
    return lockedBy(await upstream.client.post('/quotes', api.quoteRecord, { body, key: `quote-${id}` }), request);
  } catch (error) {
    const because = error instanceof api.UpstreamRefusal ? causes.get(error.code) : undefined;
    if (because === undefined || !(error instanceof api.UpstreamRefusal)) throw error;
    return { kind: 'refused', because, explanation: `refused by the upstream service: ${error.message}` };
  }
}

/** Returns the parties of a payment to a UMA address: the sender's counterpart, and the receiver from a new lookup. */
async function umaParties({ client }: Upstream, { address, sender }: UmaPayment, { sending, receiving }: LockRequest) {
  const { id: customerId } = await customerThere(client, sender);
  const query = { customerId, currency: sending.code };
  const [account] = (await client.get('/customers/internal-accounts', api.internalAccountList, query)).data;
  if (!account)
    throw new api.UpstreamRefusal('INVALID_CURRENCY', `the customer has no ${sending.code} account upstream`);
  const { id: lookupId } = await client.get(receiverPath(address), api.receiverRecord, { customerId });
  return {
    source: { sourceType: 'ACCOUNT', accountId: account.id },
    destination: { destinationType: 'UMA_ADDRESS', umaAddress: address, currency: receiving.code },
    lookupId,
    senderCustomerInfo: sender.information,
  };
}

async function parties(upstream: Upstream, { sending, receiving, account }: LockRequest) {
  const source = await internalId(upstream, sending.code).catch(noAccount);
  const destination = account
    ? await externalId(upstream, account, receiving.code)
    : await internalId(upstream, receiving.code).catch(noAccount);
  return {
    source: { sourceType: 'ACCOUNT', accountId: source },
    destination: { destinationType: 'ACCOUNT', accountId: destination },
  };
}

const causes: ReadonlyMap<string, Extract<LockAnswer, { kind: 'refused' }>['because']> = new Map([
  ['AMOUNT_OUT_OF_RANGE', 'AMOUNT'],
  ['INVALID_AMOUNT', 'AMOUNT'],
  ['ACCOUNT_NOT_FOUND', 'ACCOUNT'],
  ['INVALID_BANK_ACCOUNT', 'ACCOUNT'],
  ['INVALID_CURRENCY', 'PAIR'],
  ['UMA_NOT_FOUND', 'RECEIVER'],
  ['INVALID_UMA_ADDRESS', 'RECEIVER'],
  ['MISSING_MANDATORY_USER_INFO', 'SENDER'],
  ['SELF_PAYMENT', 'SENDER'],
]);

/** Turns a refusal into INVALID_CURRENCY: a currency without a platform account cannot be converted upstream. */
function noAccount(error: unknown): never {
  if (error instanceof api.UpstreamRefusal) throw new api.UpstreamRefusal('INVALID_CURRENCY', error.message);
  throw error;
}

function lockedBy(quote: api.QuoteRecord, { sending, receiving }: LockRequest): LockAnswer {
  const { quoteId, createdAt, expiresAt, sendingCurrency, receivingCurrency } = quote;
  if (sendingCurrency.code !== sending.code || receivingCurrency.code !== receiving.code) {
    throw new Error(
      `upstream quoted ${sendingCurrency.code} to ${receivingCurrency.code} instead of ${sending.code} to ${receiving.code}`,
    );
  }
  // Both times come from the upstream clock, which may differ from the gateway's. Only the time between them is used.
  const lifeMs = new Date(expiresAt).getTime() - new Date(createdAt).getTime();
  return {
    kind: 'locked',
    validMs: Math.floor(lifeMs * promisedShare),
    lock: {
      reference: quoteId,
      sent: BigInt(quote.totalSendingAmount),
      received: BigInt(quote.totalReceivingAmount),
      rate: decimalOf(quote.exchangeRate),
      fees: BigInt(quote.feesIncluded),
    },
  };
}

/** The number of decimal places in a variable fee rate that is derived from amounts. */
const feePlaces = 6;

interface Pair {
  readonly source: string;
  readonly destination: string;
}

const loaderOf = oncePer(
  (client: api.UpstreamClient) =>
    new DataLoader((pairs: readonly Pair[]) => readPairs(client, pairs), { cache: false }),
);

/**
 * Reads a conversion's current terms from the upstream rates. Returns undefined if the pair cannot be converted
 * upstream. Conversions from the same currency that are requested at the same time share an upstream request.
 */
export function readTerms({ client }: Upstream, sending: Currency, receiving: Currency) {
  return loaderOf(client).load({ source: sending.code, destination: receiving.code });
}

async function readPairs(client: api.UpstreamClient, pairs: readonly Pair[]) {
  const bySource = Map.groupBy(pairs, ({ source }) => source);
  const lists = new Map(
    Array.from(bySource, ([source, group]) => [source, readRates(client, source, destinationsOf(group))] as const),
  );
  const terms = pairs.map(async ({ source, destination }) => termsTo(destination, (await lists.get(source)) ?? []));
  return Promise.all(terms.map((one) => one.catch((error: Error) => error)));
}

const destinationsOf = (pairs: readonly Pair[]) => [...new Set(pairs.map(({ destination }) => destination))];

type Rates = api.RateList['data'];

/**
 * Reads the rates for conversions from a currency. A request for several rates names no target currencies, because
 * the whole request would be refused if one of them were not supported. Only the currency's rate to itself must be
 * requested by name.
 */
async function readRates(client: api.UpstreamClient, source: string, destinations: readonly string[]): Promise<Rates> {
  if (destinations.length === 1) return requestRates(client, source, [...new Set([...destinations, 'BTC'])]);
  const toItself = destinations.includes(source) ? requestRates(client, source, [source]) : [];
  return (await Promise.all([requestRates(client, source), toItself])).flat();
}

async function requestRates(client: api.UpstreamClient, source: string, destinations?: readonly string[]) {
  const query = { sourceCurrency: source, destinationCurrency: destinations };
  return (await api.unlessRefused(client.get('/exchange-rates', api.rateList, query), { data: [] })).data;
}

function termsTo(destination: string, rates: Rates): RateTerms | undefined {
  const rateTo = (code: string) => rates.find(({ destinationCurrency }) => destinationCurrency.code === code);
  const [found, bitcoin] = [rateTo(destination), rateTo('BTC')];
  if (!found) return undefined;
  const { fees, sendingAmount } = found;
  const charged = sendingAmount - fees.fixed;
  return {
    rate: decimalOf(found.exchangeRate),
    serviceFixedFee: BigInt(fees.fixed),
    serviceVariableFeeRate: charged > 0 ? shareOf(fees.total - fees.fixed, charged) : '0',
    counterpartyFixedFee: 0n,
    minSendingAmount: BigInt(found.minSendingAmount),
    maxSendingAmount: BigInt(found.maxSendingAmount),
    bridge: bitcoin ? decimalOf(bitcoin.exchangeRate) : '1',
  };
}

/** Returns a fee rate as a decimal, rounded up, so that the upstream fee never exceeds the fee that is charged here. */
function shareOf(part: number, of: number): string {
  const share = whole(BigInt(part)).over(whole(BigInt(of)));
  const units = share.times(tenTo(feePlaces)).roundUp();
  return whole(units).times(tenTo(-feePlaces)).toDecimal(rateDigits);
}

/** Formats a JSON number as a plain decimal. `String` would give small numbers an exponent. */
export function decimalOf(value: number): string {
  const [digits = '0', exponent = '0'] = String(value).split('e');
  return parseDecimal(digits)
    .times(tenTo(Number(exponent)))
    .toDecimal(rateDigits, ratePlaces);
}
