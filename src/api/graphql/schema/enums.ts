import { paymentRails } from '../../../domain/pricing/delivery-rails.ts';
import { enumOf } from './builder.ts';

export const SortOrder = enumOf('SortOrder', 'The order of a list.', { ASC: 'Oldest first.', DESC: 'Newest first.' });

export const ClientGrant = enumOf(
  'ClientGrant',
  'Rights that a client token can have in addition to its permissions. They apply to the customer that the token is bound to.',
  {
    LOOK_UP_RECEIVERS: 'Look up receivers by UMA address (lookUpReceiver), and create quotes from those lookups.',
    ADD_BENEFICIARIES: 'Register external accounts for the customer (createExternalAccount).',
  },
);

export const TrustedDocumentPolicy = enumOf(
  'TrustedDocumentPolicy',
  'Which tokens are limited to registered documents.',
  {
    OPTIONAL: 'Only tokens that were created with this restriction.',
    APPS: 'Client tokens.',
    ALL: "All tokens, including servers' API tokens.",
  },
);

export const LedgerParty = enumOf(
  'LedgerParty',
  'The party to a ledger entry, unless it is an account that the caller can see.',
  {
    OUTSIDE: 'Anything outside the service: the source of money coming in, or the destination of money going out.',
    CLEARING: 'Money in transit.',
    LIQUIDITY: 'The other side of a currency conversion.',
    FEES: "The service's fees.",
    SUSPENSE: 'Money that was neither delivered nor returned. It stays here until an operator resolves the case.',
    ADJUSTMENTS: "The other side of balance corrections by the service's operator.",
    DIFFERENCES: "The difference between what a provider moved and what was agreed; the service's operator bears it.",
    OTHER_ACCOUNT: 'An account that the caller is not allowed to see.',
  },
);

export const LookupNetwork = enumOf('LookupNetwork', 'The network through which a receiver is reached.', {
  UMA: 'Universal Money Address.',
});

export const ListOrder = enumOf('ListOrder', 'The sort key of a list.', {
  CREATED: 'By creation time.',
  UPDATED: 'By the time of the latest change.',
});

export const QuoteStatus = enumOf('QuoteStatus', 'The status of a quote. COMPLETED, FAILED and EXPIRED are terminal.', {
  PENDING: 'The rate is locked. The quote can be executed or funded until it expires.',
  PROCESSING: 'The quote was executed or funded, and its payment is in progress.',
  COMPLETED: 'The payment was delivered.',
  FAILED: "The payment was not delivered; the quote's transaction says why.",
  EXPIRED:
    'The quote was neither executed nor funded in time, its payment was not approved in time, or the quote was canceled.',
});

export const TransactionStatus = enumOf(
  'TransactionStatus',
  'The status of a transaction. COMPLETED, REJECTED, FAILED, REFUNDED and EXPIRED are terminal, except that a COMPLETED transaction may still become REFUNDED.',
  {
    CREATED:
      'The payment has not begun: it is waiting for the approval that a policy requires, or its sender has announced but not yet confirmed it.',
    PENDING: 'The payment is waiting for execution, funds, approval or the bank.',
    PROCESSING: 'The money is on its way.',
    COMPLETED: 'The money was delivered.',
    REJECTED: 'The receiving side or the platform rejected the payment, and the money goes back to its source.',
    FAILED: 'The payment was not delivered: `failureReason` says why, and `refund` says where the money went.',
    REFUNDED: 'The payment was delivered, and the money was then returned.',
    EXPIRED:
      'The payment never began: its quote expired, it was not approved in time, or the sender did not confirm the announced payment.',
  },
);

export const TransactionType = enumOf('TransactionType', 'The direction of a payment, as seen by the customer.', {
  INCOMING: 'The customer receives the money.',
  OUTGOING: 'The customer sends the money.',
});

export const JournalKind = enumOf('JournalKind', 'Why a ledger entry was posted.', {
  DEBIT: 'A payment takes money from its source.',
  DELIVERY: 'A payment is delivered.',
  REFUND: "A payment's funds are returned to their source.",
  RETURN: 'A bank returns a payment after its delivery.',
  SUSPENSION: 'The rail neither delivers nor returns the money, so it moves to SUSPENSE.',
  RESUMPTION: 'The rail returns money that was moved to SUSPENSE.',
  TRANSFER: 'Money moves to another internal account without a quote.',
  DEPOSIT: 'Money comes in.',
  ARRIVAL: 'Money comes in on its way to an external account.',
  ADJUSTMENT: "The service's operator corrects an account's balance.",
  DIFFERENCE: 'A provider moved an amount that differs from the agreed one.',
});

export const LockedCurrencySide = enumOf(
  'LockedCurrencySide',
  'The side whose amount is fixed; the other amount is computed from the rate.',
  { SENDING: 'The amount sent is fixed, fees included.', RECEIVING: 'The amount received is fixed.' },
);

export const FailureReason = enumOf('FailureReason', 'Why a transaction failed. New values may be added.', {
  LNURLP_FAILED: "The receiver's address could not be resolved.",
  PAY_REQUEST_FAILED: 'The receiving side did not respond to the pay request.',
  PAYMENT_APPROVAL_WEBHOOK_ERROR: 'The platform responded to the approval webhook with an error.',
  PAYMENT_APPROVAL_TIMED_OUT: 'Nobody approved or rejected the payment in time.',
  OFFRAMP_FAILED: 'Conversion or delivery to the destination failed.',
  MISSING_MANDATORY_PAYEE_DATA: 'Required information about the receiver is missing.',
  QUOTE_EXPIRED: 'The money arrived after the quote had expired, or the quote expired unused.',
  QUOTE_EXECUTION_FAILED: 'Something else failed before settlement; see the timeline for details.',
});

export const CustomerType = enumOf('CustomerType', 'Whether a customer is a person or a company.', {
  INDIVIDUAL: 'A person.',
  BUSINESS: 'A company.',
});

export const KycStatus = enumOf(
  'KycStatus',
  "The status of a customer's identity check. Only APPROVED and MANUALLY_APPROVED let the customer move money.",
  {
    APPROVED: 'The customer passed the check.',
    REJECTED: 'The customer failed the check.',
    PENDING_REVIEW: 'The check is in progress.',
    EXPIRED: 'The check has expired and must be repeated.',
    CANCELED: 'The check was abandoned.',
    MANUALLY_APPROVED: 'A person approved the customer.',
    MANUALLY_REJECTED: 'A person rejected the customer.',
  },
);

export const AccountKind = enumOf('AccountKind', 'Whether an account is held by this service or elsewhere.', {
  INTERNAL: 'A balance held by this service.',
  EXTERNAL: 'A bank account or wallet held elsewhere.',
});

export const ExternalAccountStatus = enumOf(
  'ExternalAccountStatus',
  'The status of an external account. Only ACTIVE accounts can send and receive money.',
  {
    PENDING: 'The account is being verified.',
    ACTIVE: 'The account can be used in payments.',
    UNDER_REVIEW: 'The account is being reviewed again and cannot be used in the meantime.',
    INACTIVE: 'The account cannot be used: it is disabled or deleted, or its bank did not accept it.',
  },
);

export const BeneficiaryVerificationStatus = enumOf(
  'BeneficiaryVerificationStatus',
  "Whether a bank account's owner matches the beneficiary named by the platform.",
  {
    MATCHED: 'The names match.',
    PARTIAL_MATCH: 'The names partly match.',
    NOT_MATCHED: 'The names do not match.',
    UNSUPPORTED: 'The payment rail cannot verify names.',
    CHECKED_BY_RECEIVING_FI: 'The receiving institution verifies the name when a payment arrives.',
    PENDING: 'The verification is in progress.',
  },
);

export const ExternalAccountType = enumOf(
  'ExternalAccountType',
  'The type of an external account: a kind of bank account or wallet.',
  {
    US_ACCOUNT: 'A US bank account.',
    CLABE: 'A Mexican bank account.',
    PIX: 'A Brazilian Pix key.',
    IBAN: 'A bank account with an IBAN.',
    UPI: 'An Indian UPI address.',
    NGN_ACCOUNT: 'A Nigerian bank account.',
    CAD_ACCOUNT: 'A Canadian bank account.',
    GBP_ACCOUNT: 'A British bank account.',
    PHP_ACCOUNT: 'A Philippine bank account.',
    SGD_ACCOUNT: 'A Singapore bank account.',
    LAYER2_WALLET: 'A wallet on the second-layer Bitcoin network.',
    LIGHTNING: 'A Lightning invoice, offer or address.',
    SOLANA_WALLET: 'A wallet on Solana.',
    TRON_WALLET: 'A wallet on Tron.',
    POLYGON_WALLET: 'A wallet on Polygon.',
    BASE_WALLET: 'A wallet on Base.',
  },
);

export const EventType = enumOf(
  'EventType',
  'The kind of change that an event reports. Some kinds appear only in the feed and have no webhook.',
  {
    OUTGOING_PAYMENT: 'An outgoing transaction was created or its status changed.',
    INCOMING_PAYMENT: 'An incoming transaction was created or its status changed.',
    ACCOUNT_STATUS: "An internal account's balance changed.",
    KYC_STATUS: "A customer's identity check has a new result.",
    API_TOKEN_EXPIRY: 'An API token will expire within a week. Not visible to client tokens.',
    TEST: 'A test event for a webhook endpoint.',
    QUOTE_STATUS: 'A quote was created or its status changed. In the feed only.',
    EXTERNAL_ACCOUNT_STATUS: 'An external account was created or its status changed. In the feed only.',
    CUSTOMER_CHANGE:
      'A customer changed in a way that no other type covers, such as new details, deletion or a pending identity check. In the feed only.',
    ACCOUNT_CHANGE: 'A new internal account, or an account change that no other type covers. In the feed only.',
    WEBHOOK_DELIVERY: 'A webhook delivery has finished. In the feed only, and not visible to client tokens.',
  },
);

export const WebhookEndpointStatus = enumOf('WebhookEndpointStatus', 'Whether a webhook endpoint receives events.', {
  ENABLED: 'Events are delivered to the endpoint.',
  FAILING:
    'The most recent attempts failed. Retries continue on schedule until one succeeds or the endpoint is disabled.',
  DISABLED: 'The endpoint was disabled for the reason in `notice`. It receives nothing until it is enabled again.',
});

export const WebhookDeliveryStatus = enumOf(
  'WebhookDeliveryStatus',
  "The status of an event's delivery to a webhook endpoint.",
  {
    PENDING: 'An attempt is in progress, or the next one is scheduled.',
    DELIVERED: 'The receiver accepted the event: it responded with 2xx or 409.',
    FAILED: 'No further attempt will be made unless the delivery is resent or its event is replayed.',
  },
);

export const Permission = enumOf('Permission', 'A permission that a token can have.', {
  VIEW: 'Read everything that the token can see.',
  TRANSACT: 'Move money.',
  APPROVE:
    'Approve and reject payments that others requested and that a policy holds for approval. Only for API tokens.',
  MANAGE: 'Manage customers, accounts, tokens and settings.',
});

export const ViewerKind = enumOf('ViewerKind', "Whether the caller is one of the platform's servers or an app.", {
  PLATFORM: "One of the platform's servers, with an API token.",
  CLIENT: 'An app, with a client token.',
});

export const Environment = enumOf('Environment', 'Whether payments are simulated or real.', {
  SANDBOX: 'Payments are simulated.',
  PRODUCTION: 'Payments are real.',
});

export const PaymentKind = enumOf('PaymentKind', 'How a payment is made.', {
  TRANSFER_OUT: 'With transferOut, from an internal account to an external account in the same currency.',
  TRANSFER_IN: 'With transferIn, from an external account to an internal account in the same currency.',
  TRANSFER_INTERNAL: 'With transferInternal, between internal accounts in the same currency.',
  QUOTE: 'With a quote, which is executed by a request or by a deposit.',
});

export const PolicyRelease = enumOf('PolicyRelease', "When a payment stops counting toward a policy's limits.", {
  FAILED: 'When the payment fails, is rejected or expires before delivery.',
  REFUNDED: 'When the payment is returned after delivery.',
});

export const PolicyPeriod = enumOf('PolicyPeriod', 'The period over which a policy limit adds up payments.', {
  PAYMENT: 'Each payment on its own.',
  DAY: "All payments in a calendar day, in the policy's time zone.",
  MONTH: "All payments in a calendar month, in the policy's time zone.",
  LAST_24_HOURS: 'All payments in the last 24 hours.',
  LAST_30_DAYS: 'All payments in the last 30 days (720 hours).',
});

export const PolicyRule = enumOf('PolicyRule', 'The policy rule that forbids a payment.', {
  LIMIT: "The payment exceeds one of the policy's limits.",
  CURRENCY: "The policy limits amounts, but has no limit for the payment's currency.",
  KIND: 'The policy does not allow this kind of payment.',
  RECEIVER: 'The policy does not allow this receiver.',
  HOURS: 'The policy does not allow payments at this time of day.',
});

export const PaymentRail = enumOf(
  'PaymentRail',
  'The network that delivers a payment to an external account.',
  paymentRails,
);
