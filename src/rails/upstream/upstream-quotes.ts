import type { Currency } from '../../core/currencies.ts';
import {
  divide,
  multiply,
  parseDecimal,
  rateDigits,
  ratePlaces,
  roundUp,
  tenTo,
  toDecimal,
  whole,
} from '../../core/fraction.ts';
import type { RateTerms } from '../rail.ts';
import type { LockAnswer, LockRequest } from '../rail-parts.ts';
import type { UpstreamAccounts } from './upstream-accounts.ts';
import {
  type QuoteRecord,
  quoteRecord,
  rateList,
  type UpstreamClient,
  UpstreamRefusal,
  unlessRefused,
} from './upstream-client.ts';
import { memoOf } from './upstream-movements.ts';
import type { UpstreamUma } from './upstream-orders.ts';

/** The fraction of an upstream quote's lifetime that this gateway promises; the rest is for its execution. */
const promisedShare = 0.9;

/** Locks a rate through an upstream quote (decision 83), whose memo names the order that will execute it. */
export async function lockRate(
  client: UpstreamClient,
  { accounts, uma }: { readonly accounts: UpstreamAccounts; readonly uma: UpstreamUma },
  request: LockRequest,
): Promise<LockAnswer> {
  const { id, orderId, lockedSide, amount } = request;
  try {
    const body = {
      ...(request.uma ? await uma.parties(request.uma, request) : await parties(accounts, request)),
      lockedCurrencySide: lockedSide,
      lockedCurrencyAmount: Number(amount),
      description: memoOf('order', orderId),
    };
    return lockedBy(await client.post('/quotes', quoteRecord, { body, key: `quote-${id}` }), request);
  } catch (error) {
    const because = error instanceof UpstreamRefusal ? causes.get(error.code) : undefined;
    if (because === undefined || !(error instanceof UpstreamRefusal)) throw error;
    return { kind: 'refused', because, explanation: `refused by the upstream service: ${error.message}` };
  }
}

async function parties(accounts: UpstreamAccounts, { sending, receiving, account }: LockRequest) {
  const source = await accounts.internalId(sending.code).catch(noAccount);
  const destination = account
    ? await accounts.externalId(account, receiving.code)
    : await accounts.internalId(receiving.code).catch(noAccount);
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

/** Refuses a currency in which the platform has no account upstream, because upstream cannot convert it. */
function noAccount(error: unknown): never {
  if (error instanceof UpstreamRefusal) throw new UpstreamRefusal('INVALID_CURRENCY', error.message);
  throw error;
}

function lockedBy(quote: QuoteRecord, { sending, receiving }: LockRequest): LockAnswer {
  const { quoteId, createdAt, expiresAt, sendingCurrency, receivingCurrency } = quote;
  if (sendingCurrency.code !== sending.code || receivingCurrency.code !== receiving.code) {
    throw new Error(
      `upstream quoted ${sendingCurrency.code} to ${receivingCurrency.code} instead of ${sending.code} to ${receiving.code}`,
    );
  }
  // Both times are by upstream's clock, which may differ from the gateway's, so only their difference counts.
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

/** The decimal places of a variable fee rate that is derived from amounts. */
const feePlaces = 6;

/** Reads the current terms of a conversion from upstream's rates; undefined if upstream does not convert the pair. */
export async function readTerms(
  client: UpstreamClient,
  sending: Currency,
  receiving: Currency,
): Promise<RateTerms | undefined> {
  const wanted = [...new Set([receiving.code, 'BTC'])].map((code) => `&destinationCurrency=${code}`).join('');
  const path = `/exchange-rates?sourceCurrency=${sending.code}${wanted}`;
  const { data } = await unlessRefused(client.get(path, rateList), { data: [] });
  const found = data.find(({ destinationCurrency }) => destinationCurrency.code === receiving.code);
  if (!found) return undefined;
  const bitcoin = data.find(({ destinationCurrency }) => destinationCurrency.code === 'BTC');
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

/** Returns a share as a decimal, rounded up, so that upstream never charges more than this gateway does. */
function shareOf(part: number, of: number): string {
  const share = divide(whole(BigInt(part)), whole(BigInt(of)));
  const units = roundUp(multiply(share, tenTo(feePlaces)));
  return toDecimal(multiply(whole(units), tenTo(-feePlaces)), rateDigits);
}

/** Formats a JSON number as a plain decimal. `String` would give small numbers an exponent. */
export function decimalOf(value: number): string {
  const [digits = '0', exponent = '0'] = String(value).split('e');
  return toDecimal(multiply(parseDecimal(digits), tenTo(Number(exponent))), rateDigits, ratePlaces);
}
