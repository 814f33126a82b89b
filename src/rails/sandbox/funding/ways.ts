import type { CurrencyCode } from '../../../core/currencies.ts';
import type { FundingRequest, PaymentInstruction } from '../../rail.ts';
import {
  cadAccount,
  clabeAccount,
  gbpAccount,
  ibanAccount,
  ngnAccount,
  phpAccount,
  pixKey,
  sgdAccount,
  upiAddress,
  usAccount,
} from './banks.ts';
import { layer2Wallet, lightning } from './bitcoin.ts';
import { baseWallet, polygonWallet, solanaWallet, tronWallet } from './chains.ts';

type Way = (request: FundingRequest) => PaymentInstruction;

/** The payment instructions of each currency (specification 1, decision 49). The interface has no account for yen. */
const ways: Readonly<Record<CurrencyCode, readonly Way[]>> = {
  USD: [usAccount],
  EUR: [ibanAccount],
  GBP: [gbpAccount],
  MXN: [clabeAccount],
  BRL: [pixKey],
  INR: [upiAddress],
  NGN: [ngnAccount],
  CAD: [cadAccount],
  PHP: [phpAccount],
  SGD: [sgdAccount],
  JPY: [],
  BTC: [lightning, layer2Wallet],
  USDC: [solanaWallet, baseWallet, polygonWallet],
  USDT: [tronWallet, solanaWallet],
};

/** Returns all payment instructions for a request; none for a currency without a form of account in the sandbox. */
export function waysToPay(request: FundingRequest): PaymentInstruction[] {
  return ways[request.currency.code].map((way) => way(request));
}
