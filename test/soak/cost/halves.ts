/** A field's value in the older half of the rows, and its value in the newer half. */
type Halves = readonly [older: unknown, newer: unknown];

/**
 * The values that `fillPlatform` gives to rows, by filter type and field. Each value matches half of the rows, so
 * Postgres expects to find a match soon. No row has values from both halves, so a filter on values from both has to
 * examine all rows.
 */
export const halves: Readonly<Record<string, Readonly<Record<string, Halves>>>> = {
  TransactionFilter: {
    status: [['COMPLETED'], ['EXPIRED']],
    type: [['INCOMING'], ['OUTGOING']],
    failureReason: [['OFFRAMP_FAILED'], ['QUOTE_EXPIRED']],
    currency: ['USD', 'EUR'],
    amount: [
      { currency: 'USD', min: '0' },
      { currency: 'EUR', min: '0' },
    ],
    executed: [true, false],
  },
  QuoteFilter: { status: [['FAILED'], ['EXPIRED']] },
  CustomerFilter: {
    kycStatus: [['REJECTED'], ['APPROVED']],
    customerType: ['BUSINESS', 'INDIVIDUAL'],
    name: ['Old', 'New'],
  },
  AccountFilter: {
    kind: ['INTERNAL', 'EXTERNAL'],
    currency: ['EUR', 'USD'],
    status: [['UNDER_REVIEW'], ['ACTIVE']],
    accountType: [['PIX'], ['US_ACCOUNT']],
    beneficiaryVerificationStatus: [['NOT_MATCHED'], ['MATCHED']],
  },
  EventFilter: { types: [['KYC_STATUS'], ['CUSTOMER_CHANGE']] },
};
