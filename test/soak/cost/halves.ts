/** The value that the older half of the rows has, and that of the newer half. */
type Halves = readonly [older: unknown, newer: unknown];

/**
 * The values of filters, by their type and field, which `fillPlatform` gives to rows. Each leaves half of the rows, so
 * that Postgres expects a match soon, and no row has values of both halves: a filter on two of them examines all rows.
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
