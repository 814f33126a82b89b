import { z } from 'zod';
import { currencyOf } from '../../core/currencies.ts';
import type {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
  FailureReason,
  KycStatus,
  RailOrderKind,
} from '../../infra/database/generated/client/client.ts';
import { trustedJson } from '../../infra/database/rows.ts';
import type { RailModule } from '../port.ts';
import type { AccountCheck, Rail, RailOrder, RailOutcome, RailRequest, UmaReceiver } from '../rail.ts';
import * as port from '../rail-parts.ts';
import { checkedSettings } from '../rail-settings.ts';
import { waysToPay } from './funding.ts';
import { rateOverrides, sandboxTerms } from './rates.ts';

const settingsSchema = z
  .strictObject({
    paceMs: z.int({ error: 'must be a whole number of milliseconds' }).min(0).max(600_000).optional(),
    rates: rateOverrides.optional(),
  })
  .prefault({});

/** Creates the sandbox rail's module. Its settings in RAILS are `paceMs` (by default `usualPaceMs`) and `rates`. */
export function sandboxModule(usualPaceMs: number): RailModule {
  return {
    railPort: 1,
    name: 'sandbox',
    open(given) {
      const { paceMs = usualPaceMs, rates } = checkedSettings(settingsSchema, given);
      return sandboxRail(paceMs, rates);
    },
  };
}

interface MagicSuffix {
  readonly explanation: string;
  readonly paces: number;
  readonly moneyStuck?: boolean;
}

/** The suffixes of accounts whose payments are accepted but fail after `paces` steps. */
const magicSuffixes: Readonly<Record<string, MagicSuffix>> = {
  '002': { explanation: 'insufficient funds at the source (sandbox suffix 002)', paces: 1 },
  '003': { explanation: 'the account is closed or invalid (sandbox suffix 003)', paces: 1 },
  '004': { explanation: 'refused by the bank (sandbox suffix 004)', paces: 1 },
  '005': { explanation: 'no result from the bank in time (sandbox suffix 005)', paces: 60 },
  '006': { explanation: 'canceled by the user (sandbox suffix 006)', paces: 1 },
  '007': { explanation: 'neither paid out nor refunded (sandbox suffix 007)', paces: 1, moneyStuck: true },
};

/**
 * Creates a stateless rail that simulates the outside world. Outcomes depend on magic values and on an order's age.
 * @param paceMs the duration of one settlement step, in milliseconds
 * @param rates entries that override the rate table
 */
export function sandboxRail(paceMs: number, rates?: Parameters<typeof sandboxTerms>[2]) {
  return {
    name: 'sandbox',
    rate: async (sending, receiving) => sandboxTerms(sending, receiving, rates),
    paymentInstructions: async (request) => waysToPay(request),
    lookUp: async (umaAddress) => testReceiver(umaAddress),
    expectedMs: (order) => durationMs(order, paceMs),
    // The first query is sent when the outcome is due, because an earlier one would have no effect.
    firstAskMs: (order) => durationMs(order, paceMs),
    collectionAmount: () => 10_000n,
    checkAccount: async (account, ownerName, ageMs) => checkSandboxAccount(account, ownerName, { ageMs, paceMs }),
    checkIdentity: async ({ name }) => identityStatuses[name?.slice(-3) ?? ''] ?? 'APPROVED',
    payOut: async (order) => outcomeOf(order, paceMs),
    collect: async (order) => outcomeOf(order, paceMs),
    findOrder: async (order) => outcomeOf(order, paceMs),
    // There is nothing to refund, because the simulation keeps no balances.
    giveBack: async () => undefined,
    simulation,
  } satisfies Rail;
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

const simulation: port.Simulation = {
  scenarioFault,
  deposit: simulatedDeposit,
  approval: (scenario) => readScenario(scenario).approval,
  senderInformation: () => ({ FULL_NAME: 'Sandbox Sender' }),
};

function durationMs(order: RailRequest, paceMs: number): number {
  const { delayMs } = scenarioAt(order.step, order.scenario);
  if (delayMs !== undefined) return delayMs;
  // Magic suffixes and test addresses delay payments, but not pay requests.
  if (order.step === 'PAY_REQUEST') return paceMs;
  return paceMs * Math.max(magicOf(order.account)?.paces ?? 1, partOf(order.umaAddress)?.paces ?? 1);
}

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

function magicOf(account: port.RailAccount | undefined) {
  return account && magicSuffixes[suffixOf(account)];
}

const identityStatuses: Readonly<Record<string, KycStatus>> = {
  '001': 'PENDING_REVIEW',
  '002': 'REJECTED',
  '003': 'EXPIRED',
};

/** The test addresses: their currencies, and the number of settlement steps that a payment to or from them takes. */
const parts: ReadonlyMap<string, { readonly currencies: readonly string[]; readonly paces: number }> = new Map([
  ['success', { currencies: ['USD', 'EUR', 'MXN', 'INR', 'GBP', 'BRL', 'PHP'], paces: 1 }],
  ['pending.long', { currencies: ['USD'], paces: 60 }],
  ['fail.compliance', { currencies: ['USD'], paces: 1 }],
  ['fail.timeout', { currencies: ['USD'], paces: 60 }],
]);

function partOf(umaAddress = '') {
  const [, part = '', currency = '', domain] = /^\$([a-z.]+)\.([a-z]{3})@(.*)$/.exec(umaAddress) ?? [];
  const { currencies = [], paces = 1 } = parts.get(part) ?? {};
  const code = currency.toUpperCase();
  return domain === port.simulatedDomain && currencies.includes(code) ? { part, paces, currency: code } : undefined;
}

function testReceiver(umaAddress: string): UmaReceiver | undefined {
  const found = partOf(umaAddress);
  const currency = found && currencyOf(found.currency);
  if (!currency) return undefined;
  return {
    vaspName: 'Sandbox',
    currencies: [{ code: currency.code, minAmount: 1n, maxAmount: 10_000_000n * 10n ** BigInt(currency.decimals) }],
    requiredFields: [
      { name: 'FULL_NAME', mandatory: true },
      { name: 'BIRTH_DATE', mandatory: true },
      { name: 'NATIONALITY', mandatory: false },
    ],
    information: { FULL_NAME: 'Sandbox Receiver' },
  };
}

function umaOutcome(umaAddress: string | undefined, kind: RailOrderKind): RailOutcome | undefined {
  const part = partOf(umaAddress)?.part;
  if (part === 'fail.compliance') {
    const explanation = `refused for compliance (sandbox address ${umaAddress})`;
    return kind === 'PAYOUT'
      ? { kind: 'rejected', explanation }
      : { kind: 'failed', explanation, failureReason: 'PAY_REQUEST_FAILED' satisfies FailureReason };
  }
  if (part === 'fail.timeout') {
    const explanation = `no answer in time (sandbox address ${umaAddress})`;
    return { kind: 'failed', explanation, ...(kind === 'COLLECTION' && { failureReason: 'LNURLP_FAILED' }) };
  }
  return undefined;
}

const maxMs = 3_600_000;

const isDuration = (ms: number | undefined) => ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= maxMs);

function scenarioAt(step: port.RailStep, value: unknown): port.Scenario {
  const scenario = readScenario(value);
  return (scenario.step ?? 'SETTLEMENT') === step ? scenario : {};
}

/** Reads a scenario that was checked before it was stored. */
function readScenario(value: unknown): port.Scenario {
  return trustedJson<port.Scenario | null>(value) ?? {};
}

/** Returns what is wrong with a scenario; undefined if it is usable. */
export function scenarioFault(scenario: port.Scenario): port.ScenarioFault | undefined {
  const { step, failureReason, reject, refundFails, returnAfterMs } = scenario;
  const wrong = (['delayMs', 'returnAfterMs'] as const).find((field) => !isDuration(scenario[field]));
  if (wrong) return { field: wrong, reason: `a time must be between 0 and ${maxMs} ms` };
  if (step === 'PAY_REQUEST' || step === 'PULL') {
    const unfit = (['reject', 'refundFails', 'returnAfterMs'] as const).find((field) => scenario[field] !== undefined);
    if (unfit) return { field: unfit, reason: `only the step SETTLEMENT can have this field, not ${step}` };
  }
  if (reject && failureReason) return { field: 'reject', reason: 'a payment can be rejected or fail, not both' };
  if (refundFails && !failureReason) return { field: 'refundFails', reason: 'refundFails needs a failureReason' };
  if (returnAfterMs !== undefined && (failureReason || reject))
    return { field: 'returnAfterMs', reason: 'only a payment that settles can be returned' };
  return undefined;
}

function simulatedDeposit(scenario: unknown, amount: bigint): port.Deposit {
  const { deposit } = readScenario(scenario);
  const short = deposit === 'SHORT' && amount > 1n;
  return { amount: short ? amount / 2n : amount, twice: deposit === 'TWICE', late: deposit === 'LATE' };
}

/** An account's first status, and its later status after `paces` steps (by default one). */
interface Course<Status> {
  readonly first: Status;
  readonly later?: Status;
  readonly paces?: number;
}

/** The result of the owner verification for each identifier suffix. 108 and 109 are specific to this sandbox. */
const verifications: Readonly<Record<string, Course<BeneficiaryVerificationStatus>>> = {
  '102': { first: 'NOT_MATCHED' },
  '103': { first: 'PARTIAL_MATCH' },
  '104': { first: 'PENDING', later: 'MATCHED' },
  '106': { first: 'UNSUPPORTED' },
  '107': { first: 'CHECKED_BY_RECEIVING_FI' },
  '108': { first: 'PENDING', later: 'NOT_MATCHED' },
  '109': { first: 'PENDING', later: 'PARTIAL_MATCH' },
};

const refusedSuffix = '105';

/** The status of an account or wallet for each identifier suffix. All of these are specific to this sandbox. */
const statuses: Readonly<Record<string, Course<ExternalAccountStatus>>> = {
  '201': { first: 'PENDING', later: 'ACTIVE' },
  '202': { first: 'PENDING', later: 'UNDER_REVIEW' },
  '203': { first: 'PENDING', later: 'INACTIVE' },
  '204': { first: 'PENDING', later: 'ACTIVE', paces: 60 },
};

/** Checks an account by suffix and age. Without a magic suffix, it is ACTIVE at once and the owner's name matches. */
function checkSandboxAccount(
  account: port.RailAccount,
  ownerName: string | undefined,
  { ageMs, paceMs }: { readonly ageMs: number; readonly paceMs: number },
): AccountCheck {
  const suffix = suffixOf(account);
  if (suffix === refusedSuffix)
    return { accepted: false, explanation: 'the bank does not know this account (sandbox suffix 105)' };
  const statusCourse = statuses[suffix];
  const checkMs = paceMs * (statusCourse?.paces ?? 1);
  // A new account always has its first status, even if the pace is zero.
  const old = ageMs > 0 && ageMs >= checkMs;
  const verificationCourse = ownerName === undefined ? undefined : verifications[suffix];
  const verification = ownerName === undefined ? null : (statusAt(verificationCourse, old) ?? 'MATCHED');
  const changes = (statusCourse?.later ?? verificationCourse?.later) !== undefined;
  return {
    accepted: true,
    status: statusAt(statusCourse, old) ?? 'ACTIVE',
    verification,
    verifiedName: ownerName === undefined ? null : nameAtBank(verification, ownerName),
    ...((statusCourse ?? verificationCourse) && { explanation: `sandbox suffix ${suffix}` }),
    ...(changes && !old && { checkInMs: Math.max(1, Math.ceil(checkMs - ageMs)) }),
  };
}

function statusAt<Status>(course: Course<Status> | undefined, old: boolean): Status | undefined {
  return (old ? course?.later : undefined) ?? course?.first;
}

/** Returns the name that the bank reports for the owner: a variant for a partial match, null if there is no match. */
function nameAtBank(verification: BeneficiaryVerificationStatus | null, ownerName: string): string | null {
  if (verification === 'MATCHED') return ownerName;
  if (verification !== 'PARTIAL_MATCH') return null;
  const [first = '', ...otherNames] = ownerName.split(' ');
  return [`${first.slice(0, 1)}.`, ...otherNames].join(' ');
}

/** Returns the last three characters of an account's identifier (before any @), which may be a magic value. */
function suffixOf(account: port.RailAccount): string {
  return account.identifier.replace(/@.*$/s, '').slice(-3);
}
