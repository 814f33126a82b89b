/** A rule of the auditor. */
export interface Rule {
  /** The rule, in words. */
  readonly rule: string;
  /** The query for the rows that break the rule: none in a sound ledger. */
  readonly offenders: string;
}
