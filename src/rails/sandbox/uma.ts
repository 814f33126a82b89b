import { currencyOf } from '../../core/currencies.ts';
import type { FailureReason, RailOrderKind } from '../../infra/database/generated/client/client.ts';
import type { RailOutcome, UmaReceiver } from '../rail.ts';
import { simulatedDomain } from '../simulation.ts';

type Part = 'success' | 'pending.long' | 'fail.compliance' | 'fail.timeout';

const receivers: Readonly<Record<Part, readonly string[]>> = {
  success: ['USD', 'EUR', 'MXN', 'INR', 'GBP', 'BRL', 'PHP'],
  'pending.long': ['USD'],
  'fail.compliance': ['USD'],
  'fail.timeout': ['USD'],
};

/** The number of settlement steps of a payment to or from a test address. */
const paces: Readonly<Record<Part, number>> = {
  success: 1,
  'pending.long': 60,
  'fail.compliance': 1,
  'fail.timeout': 60,
};

/** Returns the behavior and the currency of a test address; undefined for any other address. */
function partOf(umaAddress: string): { readonly part: Part; readonly currency: string } | undefined {
  const [, part, currency] =
    /^\$(success|pending\.long|fail\.compliance|fail\.timeout)\.([a-z]{3})@(.*)$/.exec(umaAddress) ?? [];
  if (part === undefined || currency === undefined || !umaAddress.endsWith(`@${simulatedDomain}`)) return undefined;
  const code = currency.toUpperCase();
  // The pattern matches exactly the names in the table.
  return receivers[part as Part].includes(code) ? { part: part as Part, currency: code } : undefined;
}

/** Returns the sandbox's receiver at a test address, or undefined for any other address. */
export function testReceiver(umaAddress: string): UmaReceiver | undefined {
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

/** Returns how many settlement steps a payment takes, which the other party's address determines. */
export function umaPaces(umaAddress: string | undefined): number {
  const found = umaAddress === undefined ? undefined : partOf(umaAddress);
  return found ? paces[found.part] : 1;
}

/** Returns the outcome of a payment, which the other party's address determines; undefined if the payment settles. */
export function umaOutcome(umaAddress: string | undefined, kind: RailOrderKind): RailOutcome | undefined {
  const part = umaAddress === undefined ? undefined : partOf(umaAddress)?.part;
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
