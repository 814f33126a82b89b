/** The rows that the auditor checks: each field is a table with its columns, or a query in parentheses. */
export interface Scope {
  readonly payments: string;
  readonly journalsOfPayments: string;
  readonly quotes: string;
  readonly eventsOfPayments: string;
  readonly deposits: string;
  readonly journals: string;
  /** The legs of these journals, and legs without a journal. */
  readonly postings: string;
  /** Legs on accounts: for each account, all legs after its balance in `balances`. */
  readonly accountLegs: string;
  /** Known account states (`audit_balance`), each a balance with the account's version at that time. */
  readonly balances: string;
  /** The last checked event of each platform's feed (`audit_mark`). */
  readonly marks: string;
}

export interface Rule {
  readonly rule: string;
  /** Whether the rule can be checked for a few payments at a time. */
  readonly ofPayments?: true;
  /** The rows of a scope that break the rule. */
  readonly offenders: (scope: Scope) => string;
}

export const allRows: Scope = {
  payments: 'transaction',
  journalsOfPayments: '(select * from journal where transaction_id is not null)',
  quotes: 'quote',
  eventsOfPayments: 'stored_event',
  deposits: 'rail_deposit',
  journals: 'journal',
  postings: 'posting',
  accountLegs: '(select * from posting where account_id is not null)',
  balances: '(select * from audit_balance where false)',
  marks: '(select * from audit_mark where false)',
};
