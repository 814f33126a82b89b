import type { KycStatus } from '../../infra/database/generated/client/client.ts';
import type { Rail, RailOrder, RailOutcome, RailRequest } from '../rail.ts';
import type { RailDeposits } from '../rail-deposits.ts';
import type { RailBooks } from '../rail-movements.ts';
import type { RailAccount } from '../rail-parts.ts';
import type { RailWebhooks } from '../rail-webhooks.ts';
import type { RailLocks } from '../rate-lock.ts';
import type { Simulation } from '../simulation.ts';
import { checkSandboxAccount, suffixOf, verificationOf } from './account-check.ts';
import { waysToPay } from './funding.ts';
import type { SandboxRates } from './rates.ts';
import { scenarioAt, scenarioFault, simulatedApproval, simulatedDeposit } from './scenario.ts';
import { testReceiver, umaOutcome, umaPaces } from './uma.ts';

export interface SandboxRailOptions {
  /** The duration of one settlement step, in milliseconds. */
  readonly paceMs: number;
  readonly rates: SandboxRates;
}

/** The sandbox rail, which has every method of the port except those that need a provider. */
export type SandboxRail = Required<
  Omit<
    Rail,
    | keyof RailBooks
    | keyof RailDeposits
    | keyof RailLocks
    | keyof RailWebhooks
    | 'forPlatform'
    | 'checkConnection'
    | 'close'
  >
>;

interface MagicSuffix {
  readonly explanation: string;
  readonly paces: number;
  readonly moneyStuck?: boolean;
}

/** The suffixes of accounts whose payments are accepted and fail after `paces` steps (decision 21). */
const magicSuffixes: Readonly<Record<string, MagicSuffix>> = {
  '002': { explanation: 'insufficient funds at the source (sandbox suffix 002)', paces: 1 },
  '003': { explanation: 'the account is closed or invalid (sandbox suffix 003)', paces: 1 },
  '004': { explanation: 'refused by the bank (sandbox suffix 004)', paces: 1 },
  '005': { explanation: 'no result from the bank in time (sandbox suffix 005)', paces: 60 },
  '006': { explanation: 'cancelled by the user (sandbox suffix 006)', paces: 1 },
  '007': { explanation: 'neither paid out nor refunded (sandbox suffix 007)', paces: 1, moneyStuck: true },
};

/** Creates a stateless rail that simulates the outside world by magic values. Progress follows from an order's age. */
export function sandboxRail({ paceMs, rates }: SandboxRailOptions): SandboxRail {
  return {
    name: 'sandbox',
    rate: async (sending, receiving) => rates.terms(sending, receiving),
    paymentInstructions: async (request) => waysToPay(request),
    lookUp: async (umaAddress) => testReceiver(umaAddress),
    expectedMs: (order) => durationMs(order, paceMs),
    // An earlier call would start nothing, so the first one is made when there is an outcome.
    firstAskMs: (order) => durationMs(order, paceMs),
    collectionAmount: () => 10_000n,
    checkAccount: async (account, ownerName, ageMs) => checkSandboxAccount(account, ownerName, { ageMs, paceMs }),
    checkIdentity: async ({ name }) => checkSandboxIdentity(name),
    payOut: async (order) => outcomeOf(order, paceMs),
    collect: async (order) => outcomeOf(order, paceMs),
    findOrder: async (order) => outcomeOf(order, paceMs),
    // The simulated world has no balances.
    giveBack: async () => undefined,
    simulation,
  };
}

function outcomeOf(order: RailOrder, paceMs: number): RailOutcome {
  const remaining = durationMs(order, paceMs) - order.ageMs;
  if (remaining > 0) return { kind: 'pending', checkInMs: Math.ceil(remaining) };
  const { returnAfterMs } = scenarioAt(order.step, order.scenario);
  if (order.settled) {
    return returnAfterMs === undefined
      ? { kind: 'settled' }
      : { kind: 'returned', explanation: 'returned by the bank (sandbox scenario)' };
  }
  return failureOf(order) ?? { kind: 'settled', watchMs: returnAfterMs };
}

const simulation: Simulation = {
  scenarioFault,
  deposit: simulatedDeposit,
  approval: simulatedApproval,
  senderInformation: () => ({ FULL_NAME: 'Sandbox Sender' }),
  accountVerification: verificationOf,
};

/** Returns an order's duration in milliseconds, set by its scenario or else by the paces of its account or address. */
function durationMs(order: RailRequest, paceMs: number): number {
  const { delayMs } = scenarioAt(order.step, order.scenario);
  if (delayMs !== undefined) return delayMs;
  // Suffixes and addresses slow down payments, but not pay requests.
  if (order.step === 'PAY_REQUEST') return paceMs;
  return paceMs * Math.max(magicOf(order.account)?.paces ?? 1, umaPaces(order.umaAddress));
}

/** Returns the outcome of an order that does not settle, as its scenario, its account or its address determines. */
function failureOf(order: RailOrder): RailOutcome | undefined {
  const { failureReason, reject, refundFails } = scenarioAt(order.step, order.scenario);
  if (reject) return { kind: 'rejected', explanation: 'refused by the receiving side (sandbox scenario)' };
  if (failureReason) {
    const explanation = `${failureReason} (sandbox scenario)`;
    return { kind: 'failed', explanation, failureReason, moneyStuck: refundFails };
  }
  if (order.step === 'PAY_REQUEST') return undefined;
  const magic = magicOf(order.account);
  if (magic) return { kind: 'failed', explanation: magic.explanation, moneyStuck: magic.moneyStuck };
  return umaOutcome(order.umaAddress, order.kind);
}

function magicOf(account: RailAccount | undefined) {
  return account && magicSuffixes[suffixOf(account)];
}

/** The results of identity checks, by the suffix of the customer's name; other customers are APPROVED. */
const statuses: Readonly<Record<string, KycStatus>> = {
  '001': 'PENDING_REVIEW',
  '002': 'REJECTED',
  '003': 'EXPIRED',
};

function checkSandboxIdentity(name: string | null): KycStatus {
  return statuses[name?.slice(-3) ?? ''] ?? 'APPROVED';
}
