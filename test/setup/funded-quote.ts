import { expect } from 'vitest';
import type { Data, TestPlatform } from './gateway.ts';
import type { Scene } from './scene.ts';

/** A quote that its customer funds with an external payment. Ids are public ids. */
export interface FundedQuote {
  readonly quoteId: string;
  readonly transactionId: string;
  readonly due: bigint;
  readonly account: string;
  readonly currency: string;
  /** The quote's expiry time by the database's clock, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Creates a quote that the customer pays in `currency`; the receiver gets 50 euros. */
export async function fundedQuote(platform: TestPlatform, of: Scene, currency = 'USDC'): Promise<FundedQuote> {
  const input = {
    source: { realtimeFunding: { customerId: of.customerId, currency } },
    destination: { account: { accountId: of.outsideEur } },
    lockedCurrencySide: 'RECEIVING',
    lockedCurrencyAmount: 5_000,
  };
  const { quote } = await platform.succeed(
    'createQuote',
    input,
    `quote { id status expiresAt totalSendingAmount { amount } transaction { id } paymentInstructions { __typename }
      source { ... on RealtimeFundingSource { customer { id } currency { code } } } }`,
  );
  expect(quote).toMatchObject({
    status: 'PENDING',
    source: { customer: { id: of.customerId }, currency: { code: currency } },
  });
  return {
    quoteId: quote.id,
    transactionId: quote.transaction.id,
    due: BigInt(quote.totalSendingAmount.amount),
    account: await platform.internalAccount(of.customerId, currency),
    currency,
    expiresAt: Date.parse(quote.expiresAt),
  };
}

/** Simulates a deposit for the quote, and returns the mutation's result. */
export async function sendDeposit(platform: TestPlatform, quote: FundedQuote, more: object = {}): Promise<Data> {
  const input = { quoteId: quote.quoteId, currency: quote.currency, ...more };
  return platform.act('sandboxSend', input, 'transaction { id status failureReason }');
}
