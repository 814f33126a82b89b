import type { CurrencyCode } from '../../core/currencies.ts';

/** The payment rails that deliver currencies, with their descriptions in the GraphQL schema. */
export const paymentRails = {
  RTP: 'RTP, real-time payments in the United States.',
  SEPA_INSTANT: 'SEPA Instant, in the euro area.',
  FASTER_PAYMENTS: 'Faster Payments, in the United Kingdom.',
  SPEI: 'SPEI, in Mexico.',
  PIX: 'Pix, in Brazil.',
  UPI: 'UPI, in India.',
  BANK_TRANSFER: "A bank transfer through the country's usual system.",
  LIGHTNING: 'The Lightning network.',
  SOLANA: 'The Solana network.',
  TRON: 'The Tron network.',
} as const;

export type PaymentRail = keyof typeof paymentRails;

export const deliveryRails: Readonly<Record<CurrencyCode, PaymentRail>> = {
  USD: 'RTP',
  EUR: 'SEPA_INSTANT',
  GBP: 'FASTER_PAYMENTS',
  MXN: 'SPEI',
  BRL: 'PIX',
  INR: 'UPI',
  NGN: 'BANK_TRANSFER',
  CAD: 'BANK_TRANSFER',
  PHP: 'BANK_TRANSFER',
  SGD: 'BANK_TRANSFER',
  JPY: 'BANK_TRANSFER',
  BTC: 'LIGHTNING',
  USDC: 'SOLANA',
  USDT: 'TRON',
};
