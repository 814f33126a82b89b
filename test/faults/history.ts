import type { Operation } from '../../src/domain/access/operations.ts';
import type { Breach } from '../../src/domain/ledger/audit.ts';

/** The outcome of a command, as far as its caller knows. */
export type Outcome =
  | 'succeeded'
  /** The command was refused or never reached an instance, or its response said that nothing had happened. */
  | 'refused'
  /** The caller gave up before it learned the outcome. */
  | 'unknown';

export interface Receipt {
  readonly outcome: 'NONE' | 'SUCCEEDED' | 'REFUSED';
}

/** One command as its caller saw it, across all attempts with the same idempotency key. */
export interface Command {
  /** The idempotency key. If the command creates a payment, the key is also the payment's description. */
  readonly key: string;
  readonly operation: Extract<
    Operation,
    'transferOut' | 'transferIn' | 'createQuote' | 'executeQuote' | 'approveTransaction' | 'rejectTransaction'
  >;
  readonly accountId: string;
  /** How much the completed payment changes the account's balance, in the currency's smallest unit. */
  readonly change: bigint;
  /** The final statuses that the command's payment may have. By default, only COMPLETED is allowed. */
  readonly ends?: readonly string[];
  readonly outcome: Outcome;
  readonly code?: string;
  /** The transactions named in responses to the command: several if a repeated request returned a different one. */
  readonly transactionIds: readonly string[];
  /** The transaction that the command executes or decides on, created by an earlier command. */
  readonly transactionId?: string;
  /** The latest fault that was injected before the command ended. */
  readonly during: string;
}

export interface Payment {
  readonly id: string;
  readonly description: string | null;
  readonly status: string;
}

export interface Change {
  readonly id: string;
  /** The number of the change in its platform's feed. */
  readonly sequence: bigint;
  /** The payment that changed, as it was after the change. */
  readonly payment?: { readonly id: string; readonly status: string; readonly version: number };
}

/** The number of counted payments, and their sum in the smallest unit. */
export interface Usage {
  readonly payments: number;
  readonly amount: bigint;
}

/** Everything that is visible from the outside after the faults have ended. */
export interface Evidence {
  readonly history: readonly Command[];
  /** Wrong responses, such as those that report neither a command's outcome nor that it is unknown. */
  readonly internalErrors: readonly string[];
  /** The receipts read at the end, by idempotency key. */
  readonly receipts: ReadonlyMap<string, Receipt>;
  readonly payments: readonly Payment[];
  /** The feed number of the last change before `feed`. */
  readonly start: bigint;
  readonly feed: readonly Change[];
  /** For each follower, by name: the ids of the changes that it received, in the order in which they arrived. */
  readonly followers: ReadonlyMap<string, readonly string[]>;
  /** The ids of the changes that webhooks reported. */
  readonly webhooks: ReadonlySet<string>;
  readonly balances: ReadonlyMap<string, { readonly before: bigint; readonly after: bigint }>;
  /** By account id: the payments that the customer's policy has counted today. */
  readonly usage: ReadonlyMap<string, Usage>;
  readonly breaches: readonly Breach[];
}
