import type { Operation } from '../../src/domain/access/operations.ts';
import type { Balances } from './world.ts';

/**
 * The payments domain reduced to a few numbers that predict the result of a sequence of commands. Amounts are in the
 * currency's smallest unit.
 */
export interface Model {
  readonly balances: Balances;
  readonly quotes: ModelQuote[];
  /** Incoming payments that await approval. */
  readonly waiting: Waiting[];
  /** Payments whose money is in suspense. */
  readonly suspended: Suspended[];
  /** The status of A's external dollar account. */
  outside: AccountStatus;
  /** The last call, which the `replay` command repeats. */
  last: Call | undefined;
}

/** Returns the model of a platform with no payments in flight. */
export function modelOf(balances: Model['balances']): Model {
  return { balances, quotes: [], waiting: [], suspended: [], outside: 'ACTIVE', last: undefined };
}

export interface ModelQuote {
  readonly id: string;
  readonly transactionId: string;
  readonly kind: QuoteKind;
  readonly send: bigint;
  readonly receive: bigint;
  /** The payment's description, which also identifies the incoming side of a UMA payment. */
  readonly name: string;
  status: 'PENDING' | 'DONE' | 'EXPIRED';
  /**
   * Whether the quote expired or was canceled. After a late deposit, `status` is DONE here but EXPIRED in the service.
   */
  hasExpired: boolean;
}

/**
 * The first three pay from A's dollar account: to A's external euro account, B's euro account or B's UMA address.
 * The last two pay into A's external euro account: from a deposit or from A's external dollar account.
 */
export type QuoteKind = 'outside' | 'other' | 'uma' | 'funded' | 'pulled';

export type AccountStatus = 'ACTIVE' | 'UNDER_REVIEW' | 'INACTIVE';

export interface Suspended {
  readonly id: string;
  readonly amount: bigint;
  released: boolean;
}

export interface Waiting {
  readonly id: string;
  readonly amount: bigint;
  readonly outcome: Outcome;
  /** The payment on the sending side, if the sender is a customer of this platform. */
  readonly sent: { readonly id: string; readonly amount: bigint } | undefined;
}

/** The payment outcomes that a command can make the sandbox simulate. */
export type Outcome = 'ok' | 'fail' | 'reject' | 'stuck' | 'return';

export const outcomes: Record<
  Outcome,
  { readonly scenario: object | undefined; readonly status: string; readonly back: boolean }
> = {
  ok: { scenario: undefined, status: 'COMPLETED', back: false },
  fail: { scenario: { failureReason: 'QUOTE_EXPIRED' }, status: 'FAILED', back: true },
  reject: { scenario: { reject: true }, status: 'REJECTED', back: true },
  stuck: { scenario: { failureReason: 'QUOTE_EXECUTION_FAILED', refundFails: true }, status: 'FAILED', back: false },
  return: { scenario: { returnAfterMs: 0 }, status: 'REFUNDED', back: true },
};

/** Returns the actual outcome of a payment between internal accounts. No bank can return such a payment. */
export function withinTheHouse(outcome: Outcome): Outcome {
  return outcome === 'return' ? 'ok' : outcome;
}

export interface Call {
  readonly name: Operation;
  readonly input: object;
  /** The refusal's code, or undefined if the call succeeded. */
  readonly code: string | undefined;
}
