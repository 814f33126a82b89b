import type { Currency } from '../../money/currencies.ts';
import type {
  FundingRequest,
  OutsideAccount,
  PaymentInstruction,
  Rail,
  RailOrder,
  RailOutcome,
  RateTerms,
} from '../rail.ts';
import { checkSandboxAccount } from './account-check.ts';
import { waysToPay } from './funding/ways.ts';
import type { SandboxRates } from './rates.ts';
import { suffixOf } from './suffix.ts';

export interface SandboxRailOptions {
  /** How long one settlement step takes, in milliseconds. */
  readonly paceMs: number;
  readonly rates: SandboxRates;
}

/**
 * What the end of an account's identifier makes the sandbox do (domain-facts 6.8): the payment is accepted and ends
 * FAILED. `paces` is how many settlement steps it takes to come to that.
 */
const magicSuffixes: Readonly<Record<string, { readonly explanation: string; readonly paces: number }>> = {
  '002': { explanation: 'insufficient funds at the source (sandbox suffix 002)', paces: 1 },
  '003': { explanation: 'the account is closed or invalid (sandbox suffix 003)', paces: 1 },
  '004': { explanation: 'refused by the bank (sandbox suffix 004)', paces: 1 },
  '005': { explanation: 'no result from the bank in time (sandbox suffix 005)', paces: 60 },
  '006': { explanation: 'cancelled by the user (sandbox suffix 006)', paces: 1 },
};

/**
 * A rail that pretends the world outside, with the documented magic values and a settable pace. It keeps no state: how an
 * order stands follows from its age and its account, so a restart changes nothing.
 */
export function sandboxRail({ paceMs, rates }: SandboxRailOptions): Rail {
  return {
    name: 'sandbox',
    rate: async (sending: Currency, receiving: Currency): Promise<RateTerms | undefined> =>
      rates.terms(sending, receiving),
    paymentInstructions: async (request: FundingRequest): Promise<PaymentInstruction[]> => waysToPay(request),
    expectedMs: (order) => paceMs * steps(order.account),
    collectionAmount: () => 10_000n,
    checkAccount: async (account, ownerName) => checkSandboxAccount(account, ownerName),
    perform: async (order: RailOrder): Promise<RailOutcome> => {
      const remaining = paceMs * steps(order.account) - order.ageMs;
      if (remaining > 0) return { kind: 'pending', checkInMs: Math.ceil(remaining) };
      const magic = magicOf(order.account);
      return magic ? { kind: 'failed', explanation: magic.explanation } : { kind: 'settled' };
    },
  };
}

function steps(account: OutsideAccount | undefined): number {
  return magicOf(account)?.paces ?? 1;
}

function magicOf(account: OutsideAccount | undefined) {
  return account && magicSuffixes[suffixOf(account)];
}
