import type { Operation } from '../../src/domain/access/operations.ts';
import type { Balances } from './world.ts';

/** The payments domain as a few numbers: the expected result of a sequence of commands. Amounts in smallest units. */
export interface Model {
  readonly balances: Balances;
  readonly quotes: ModelQuote[];
  /** Incoming payments that wait for approval. */
  readonly waiting: Waiting[];
  /** Payments whose money waits in suspense. */
  readonly suspended: Suspended[];
  /** The status of A's dollar account outside. */
  outside: AccountStatus;
  /** The last command that was sent, to be repeated. */
  last: Call | undefined;
}

/** A platform at which nothing is under way. */
export function modelOf(balances: Model['balances']): Model {
  return { balances, quotes: [], waiting: [], suspended: [], outside: 'ACTIVE', last: undefined };
}

export interface ModelQuote {
  readonly id: string;
  readonly transactionId: string;
  readonly kind: QuoteKind;
  readonly send: bigint;
  readonly receive: bigint;
  /** How its incoming side is known, where it has one. */
  readonly name: string;
  status: 'PENDING' | 'DONE' | 'EXPIRED';
  /** Whether it expired or was cancelled: a late deposit makes it DONE, and it stays EXPIRED for whoever asks. */
  hasExpired: boolean;
}

/**
 * From A's dollars to its euro account outside, to B's euros here, to B's UMA address; to the euro
 * account outside, funded by a deposit, or pulled from A's dollar account outside.
 */
export type QuoteKind = 'outside' | 'other' | 'uma' | 'funded' | 'pulled';

export type AccountStatus = 'ACTIVE' | 'UNDER_REVIEW' | 'INACTIVE';

/** The moves of an external account that is not PENDING any more. */
export const accountMoves: Record<AccountStatus, readonly AccountStatus[]> = {
  ACTIVE: ['UNDER_REVIEW', 'INACTIVE'],
  UNDER_REVIEW: ['ACTIVE', 'INACTIVE'],
  INACTIVE: ['ACTIVE'],
};

export interface Suspended {
  readonly id: string;
  readonly amount: bigint;
  released: boolean;
}

export interface Waiting {
  readonly id: string;
  readonly amount: bigint;
  readonly outcome: Outcome;
  /** The sending side, where it is here. */
  readonly sent: { readonly id: string; readonly amount: bigint } | undefined;
}

/** The calls of the sandbox for a payment. */
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

/** What comes of a payment that stays here: no bank can return it. */
export function withinTheHouse(outcome: Outcome): Outcome {
  return outcome === 'return' ? 'ok' : outcome;
}

export interface Call {
  readonly name: Operation;
  readonly input: object;
  /** The refusal's code, or undefined when it succeeded. */
  readonly code: string | undefined;
}
