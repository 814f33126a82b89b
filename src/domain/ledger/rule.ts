/** The rows that the auditor checks. Each field is a table's name, or a query in parentheses. */
export type Scope = Readonly<typeof allRows>;

export interface Rule {
  readonly rule: string;
  /** Whether the rule can be checked for a few payments at a time. */
  readonly ofPayments?: true;
  /** The rows of a scope that break the rule. */
  readonly offenders: (scope: Scope) => string;
}

export const allRows = {
  payments: 'transaction',
  journalsOfPayments: '(select * from journal where transaction_id is not null)',
  quotes: 'quote',
  eventsOfPayments: 'stored_event',
  deposits: 'rail_deposit',
  journals: 'journal',
  /** The legs of `journals`, and legs without a journal. */
  postings: 'posting',
  /** Legs on accounts: for each account, all those posted since its balance in `balances`. */
  accountLegs: '(select * from posting where account_id is not null)',
  /** Account balances already checked, with the account's version at that time (`audit_balance`). */
  balances: '(select * from audit_balance where false)',
  /** The last checked event of each platform's feed (`audit_mark`). */
  marks: '(select * from audit_mark where false)',
};
