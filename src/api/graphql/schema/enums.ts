import { builder } from './builder.ts';

type Values = Readonly<Record<string, { readonly description: string }>>;

/** Returns the values of an enum with their descriptions. */
const describe = <T extends Record<string, string>>(values: T) =>
  Object.fromEntries(Object.entries(values).map(([value, description]) => [value, { description }])) as {
    [K in keyof T]: { description: string };
  } satisfies Values;

/** Returns a name in camel case as that of an enum's value: createQuote is CREATE_QUOTE. */
export const inCapitals = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

export const SortOrder = builder.enumType('SortOrder', {
  description: 'The order of a list.',
  values: describe({ ASC: 'Oldest first.', DESC: 'Newest first.' }),
});

export const ClientGrant = builder.enumType('ClientGrant', {
  description: 'What a platform lets the app of a customer do besides its permissions, for that customer.',
  values: describe({
    LOOK_UP_RECEIVERS: 'Look receivers at UMA addresses up (lookUpReceiver), and quote with these lookups.',
    ADD_BENEFICIARIES: "Register the customer's own external accounts (createExternalAccount).",
  }),
});

export const TrustedDocumentPolicy = builder.enumType('TrustedDocumentPolicy', {
  description: 'Whose tokens may send registered documents only.',
  values: describe({
    OPTIONAL: 'Nobody: any document may be sent.',
    APPS: 'Client tokens.',
    ALL: 'All tokens, those of servers as well.',
  }),
});

export const LedgerParty = builder.enumType('LedgerParty', {
  description: "A party of a ledger entry that is no account of the caller's.",
  values: describe({
    OUTSIDE: 'What is beyond the rails.',
    CLEARING: 'Money that is under way.',
    LIQUIDITY: 'The other side of a conversion.',
    FEES: "The service's fees.",
    SUSPENSE: 'Money that has neither arrived nor come back.',
    ADJUSTMENTS: 'The other side of corrections by the operator of the service.',
    DIFFERENCES: 'What a provider has moved beyond what was promised, or less. The operator of the service bears it.',
    OTHER_ACCOUNT: 'An account that the caller may not see.',
  }),
});

export const LookupNetwork = builder.enumType('LookupNetwork', {
  description: 'The network of a receiver.',
  values: describe({ UMA: 'Universal Money Addresses.' }),
});

export const ListOrder = builder.enumType('ListOrder', {
  description: 'What the order of a list goes by.',
  values: describe({ CREATED: 'When its rows were created.', UPDATED: 'When its rows last changed.' }),
});

export const QuoteStatus = builder.enumType('QuoteStatus', {
  description: 'Where a quote stands (specification 3.1).',
  values: describe({
    PENDING: 'Its rate is locked; it waits for execution or funding until it expires.',
    PROCESSING: 'It is paid and under way.',
    COMPLETED: 'Delivered.',
    FAILED: 'Not delivered; its transaction tells why.',
    EXPIRED: 'Neither executed nor funded in time.',
  }),
});

export const TransactionStatus = builder.enumType('TransactionStatus', {
  description: 'Where a transaction stands (specification 3.2).',
  values: describe({
    CREATED: 'Announced, not yet acted on.',
    PENDING: 'Waits: for execution, funds, approval or the bank.',
    PROCESSING: 'The money is under way.',
    COMPLETED: 'Delivered.',
    REJECTED: 'The receiving side or the platform refused it; the money is back.',
    FAILED: 'Not delivered: failureReason tells why, refund where the money went.',
    REFUNDED: 'Delivered, then returned.',
    EXPIRED: 'Its quote expired.',
  }),
});

export const TransactionType = builder.enumType('TransactionType', {
  description: 'Which way the money goes, seen from the customer.',
  values: describe({ INCOMING: 'Towards the customer.', OUTGOING: 'From the customer.' }),
});

export const JournalKind = builder.enumType('JournalKind', {
  description: 'What a ledger entry was posted for.',
  values: describe({
    DEBIT: 'Money is taken from its source.',
    DELIVERY: 'The money is delivered.',
    REFUND: 'The money goes back to its source.',
    RETURN: 'A bank returns what was delivered.',
    SUSPENSION: 'The rail neither delivers nor gives back.',
    RESUMPTION: 'The rail gives back after all.',
    TRANSFER: 'Money goes to an account here without a quote.',
    DEPOSIT: 'Money comes in.',
    ARRIVAL: 'Money comes in that is passed on.',
    ADJUSTMENT: 'The operator of the service corrects the balance of an account.',
    DIFFERENCE: 'A provider has moved another amount than was promised.',
  }),
});

export const LockedCurrencySide = builder.enumType('LockedCurrencySide', {
  description: "Which side's amount is fixed; the other is computed from the rate.",
  values: describe({ SENDING: 'What is sent, fees included.', RECEIVING: 'What arrives.' }),
});

export const FailureReason = builder.enumType('FailureReason', {
  description: 'Why a transaction failed (specification 2.6). Open to growth.',
  values: describe({
    LNURLP_FAILED: "The receiver's address could not be resolved.",
    PAY_REQUEST_FAILED: 'The receiving side did not answer the pay request.',
    PAYMENT_APPROVAL_WEBHOOK_ERROR: "The platform's answer to the approval question was an error.",
    PAYMENT_APPROVAL_TIMED_OUT: 'The platform did not answer the approval question in time.',
    OFFRAMP_FAILED: 'Conversion or delivery to the destination failed.',
    MISSING_MANDATORY_PAYEE_DATA: 'Required data about the receiver is missing.',
    QUOTE_EXPIRED: 'The money came after the quote had expired.',
    QUOTE_EXECUTION_FAILED: 'Something failed on the way to settlement; the timeline tells what.',
  }),
});

export const CustomerType = builder.enumType('CustomerType', {
  description: 'What kind of customer.',
  values: describe({ INDIVIDUAL: 'A person.', BUSINESS: 'A company.' }),
});

export const KycStatus = builder.enumType('KycStatus', {
  description: "Where a customer's identity check stands. Only APPROVED and MANUALLY_APPROVED may move money.",
  values: describe({
    APPROVED: 'Passed.',
    REJECTED: 'Not passed.',
    PENDING_REVIEW: 'Under way.',
    EXPIRED: 'Must be done again.',
    CANCELED: 'Given up.',
    MANUALLY_APPROVED: 'Passed, by a person.',
    MANUALLY_REJECTED: 'Not passed, by a person.',
  }),
});

export const AccountKind = builder.enumType('AccountKind', {
  description: 'Where an account is.',
  values: describe({ INTERNAL: 'A balance held here.', EXTERNAL: 'A bank account or wallet elsewhere.' }),
});

export const ExternalAccountStatus = builder.enumType('ExternalAccountStatus', {
  description: 'Whether an external account can take part in payments: only an ACTIVE one can.',
  values: describe({
    PENDING: 'Being verified.',
    ACTIVE: 'Usable.',
    UNDER_REVIEW: 'Being looked at again.',
    INACTIVE: 'Disabled.',
  }),
});

export const BeneficiaryVerificationStatus = builder.enumType('BeneficiaryVerificationStatus', {
  description: "Whether the account's owner is who the platform says.",
  values: describe({
    MATCHED: 'The names agree.',
    PARTIAL_MATCH: 'The names nearly agree.',
    NOT_MATCHED: 'The names differ.',
    UNSUPPORTED: 'The rail cannot tell.',
    CHECKED_BY_RECEIVING_FI: 'The receiving institution checks.',
    PENDING: 'Being checked.',
  }),
});

export const ExternalAccountType = builder.enumType('ExternalAccountType', {
  description: 'What kind of bank account or wallet.',
  values: describe({
    US_ACCOUNT: 'US bank account.',
    CLABE: 'Mexican bank account.',
    PIX: 'Brazilian Pix key.',
    IBAN: 'Bank account with an IBAN.',
    UPI: 'Indian UPI address.',
    NGN_ACCOUNT: 'Nigerian bank account.',
    CAD_ACCOUNT: 'Canadian bank account.',
    GBP_ACCOUNT: 'British bank account.',
    PHP_ACCOUNT: 'Philippine bank account.',
    SGD_ACCOUNT: 'Singapore bank account.',
    LAYER2_WALLET: 'Wallet on the second-layer bitcoin network.',
    LIGHTNING: 'Lightning destination.',
    SOLANA_WALLET: 'Wallet on Solana.',
    TRON_WALLET: 'Wallet on Tron.',
    POLYGON_WALLET: 'Wallet on Polygon.',
    BASE_WALLET: 'Wallet on Base.',
  }),
});

export const EventType = builder.enumType('EventType', {
  description: 'What kind of change an event reports.',
  values: describe({
    OUTGOING_PAYMENT: 'An outgoing transaction was made or changed its status.',
    INCOMING_PAYMENT: 'An incoming transaction was made or changed its status.',
    ACCOUNT_STATUS: "An internal account's balance changed.",
    KYC_STATUS: "A customer's identity check was decided.",
    TEST: 'A test of a webhook endpoint.',
    QUOTE_STATUS: 'A quote was made or changed its status. In the feed only.',
    EXTERNAL_ACCOUNT_STATUS: 'An external account was made or changed its status. In the feed only.',
    CUSTOMER_CHANGE:
      'A customer changed in any other way: its details, its deletion, a check that is pending. In the feed only.',
    ACCOUNT_CHANGE: 'An internal account was made, or an account changed in any other way. In the feed only.',
    WEBHOOK_DELIVERY: 'A webhook delivery ended. In the feed only.',
  }),
});

export const WebhookEndpointStatus = builder.enumType('WebhookEndpointStatus', {
  description: 'How a webhook endpoint fares.',
  values: describe({
    ENABLED: 'It gets events.',
    FAILING: 'Its last attempts failed; they go on by the schedule until one succeeds or it is disabled.',
    DISABLED: 'It gets nothing until it is enabled again; its notice says why.',
  }),
});

export const WebhookDeliveryStatus = builder.enumType('WebhookDeliveryStatus', {
  description: 'Where the delivery of an event to an endpoint stands.',
  values: describe({
    PENDING: 'Under way, or waiting for its next attempt.',
    DELIVERED: 'The receiver has it: it answered 2xx or 409.',
    FAILED: 'No further attempt will be made, unless it is replayed.',
  }),
});

export const Permission = builder.enumType('Permission', {
  description: 'What a token may do.',
  values: describe({
    VIEW: 'Read everything.',
    TRANSACT: 'Move money.',
    MANAGE: 'Manage customers, accounts, tokens and settings.',
  }),
});

export const ViewerKind = builder.enumType('ViewerKind', {
  description: 'What kind of caller.',
  values: describe({ PLATFORM: "A platform's server, with an API token.", CLIENT: 'An app, with a client token.' }),
});

export const Environment = builder.enumType('Environment', {
  description: 'Whether the world outside is simulated.',
  values: describe({ SANDBOX: 'Simulated.', PRODUCTION: 'Real.' }),
});

export const PaymentKind = builder.enumType('PaymentKind', {
  description: 'How a payment is made.',
  values: describe({
    TRANSFER_OUT: 'transferOut.',
    TRANSFER_IN: 'transferIn.',
    TRANSFER_INTERNAL: 'transferInternal.',
    QUOTE: 'A quote that is executed, or that a deposit will execute.',
  }),
});

export const PolicyRelease = builder.enumType('PolicyRelease', {
  description: 'When a payment counts no longer.',
  values: describe({
    FAILED: 'When it fails, is rejected or expires: it was not delivered.',
    REFUNDED: 'When it is returned after its delivery.',
  }),
});

export const PolicyPeriod = builder.enumType('PolicyPeriod', {
  description: 'What a limit of a policy is about.',
  values: describe({
    PAYMENT: 'Each payment.',
    DAY: "All payments of a calendar day, in the policy's time zone.",
    MONTH: "All payments of a calendar month, in the policy's time zone.",
    LAST_24_HOURS: 'All payments of the last 24 hours.',
    LAST_30_DAYS: 'All payments of the last 30 times 24 hours.',
  }),
});

export const PolicyRule = builder.enumType('PolicyRule', {
  description: 'The rule of a policy that does not allow a payment.',
  values: describe({
    LIMIT: 'One of its limits.',
    CURRENCY: 'It has limits of amounts, and none in this currency.',
    KIND: 'It does not allow payments of this kind.',
    RECEIVER: 'It does not allow this receiver.',
    HOURS: 'It does not allow payments at this time of the day.',
  }),
});
