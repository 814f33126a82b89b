import type { Database } from '../infra/database/database.ts';
import type { Config } from '../server/config.ts';

/** The verdict of a check. A fault stops an instance or its work, or loses data; a warning is for human review. */
export type Verdict = readonly [result: 'ok' | 'warning' | 'fault' | 'skipped', detail: string];

export type Finding = { readonly check: string; readonly result: Verdict[0]; readonly detail: string };

export interface Patient {
  readonly config: Config;
  readonly database: Database;
  readonly role: 'gateway_serving' | 'gateway_work';
  readonly limits: Limits;
}

/** The limits in seconds for an open transaction, and for a wait for a lock. */
export interface Limits {
  readonly transactionSeconds: number;
  readonly lockSeconds: number;
}

/** The results of a check: a verdict, one for each finding, or none if it does not apply. */
export type Verdicts = Verdict | readonly Verdict[];

export type Checks<Of> = Readonly<Record<string, (of: Of) => Verdicts | Promise<Verdicts>>>;
