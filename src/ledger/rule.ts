/** A rule of the auditor, and the statement that answers the rows which break it: none in a sound ledger. */
export interface Rule {
  /** The rule, in words. */
  readonly rule: string;
  readonly offenders: string;
}
