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

/**
 * All the ways to pay in each currency (specification 1, decision 49). Canada, Britain, the Philippines and
 * Singapore have the account forms of decision 16 with a reference; for yen the interface has no form of account.
 */
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

/** Every way to bring the money of a request in; none for a currency that the sandbox has no account form for. */
export function waysToPay(request: FundingRequest): PaymentInstruction[] {
  return ways[request.currency.code].map((way) => way(request));
}
