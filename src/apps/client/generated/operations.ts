// Made by `npm run client:generate`. Do not edit.
import type { Operation } from '../operation.ts';
import type { ScalarText } from '../scalars.ts';

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** The category of the bank account: CHECKING or SAVINGS. */
export type AccountCategory =
  /** A checking account. */
  | 'CHECKING'
  /** A savings account. */
  | 'SAVINGS';

/** An account as the destination of a payment. */
export type AccountDestinationInput = {
  /** The account that receives: InternalAccount:… or ExternalAccount:… */
  accountId: string;
};

/** An account as the source of a payment. */
export type AccountSourceInput = {
  /** The account that pays: InternalAccount:…, or ExternalAccount:… of a bank, which is pulled from. */
  accountId: string;
};

/** A postal address. */
export type AddressInput = {
  /** The city. */
  city?: string | null | undefined;
  /** The country, as an ISO 3166-1 alpha-2 code such as DE. */
  country: string;
  /** The first line of the address: street and number. */
  line1: string;
  /** The second line of the address. */
  line2?: string | null | undefined;
  /** The postal code. */
  postalCode: string;
  /** The state or province. */
  state?: string | null | undefined;
};

/** An amount of money: exactly one field. Both forms of an amount are the same for an idempotency key. */
export type AmountInput =
  {   /** The amount in major units, exact: "12.50". */
  decimal: string; units?: never; }
  |  { decimal?: never;   /** The amount in the smallest unit of its currency: 1250 is 12.50 if the currency has 2 decimals. */
  units: ScalarText<'BigInt'> | number; };

/** A range of amounts in one currency, with inclusive bounds. */
export type AmountRange = {
  /** The currency code of the amounts. */
  currency: string;
  /** The largest amount, in the smallest unit of the currency. No upper bound when left out. */
  max?: ScalarText<'BigInt'> | number | null | undefined;
  /** The smallest amount, in the smallest unit of the currency. No lower bound when left out. */
  min?: ScalarText<'BigInt'> | number | null | undefined;
};

/** A wallet on Base. */
export type BaseWalletInput = {
  /** Address of the wallet: 0x and 40 hexadecimal digits. */
  address: string;
};

/** The owner of a bank account: exactly one field. */
export type BeneficiaryInput =
  {   /** The owner is a company. */
  business: BusinessBeneficiaryInput; individual?: never; }
  |  { business?: never;   /** The owner is a person. */
  individual: IndividualBeneficiaryInput; };

/** Whether the owner of a bank account matches the beneficiary that the platform named. */
export type BeneficiaryVerificationStatus =
  /** The receiving institution verifies the name when it is paid. */
  | 'CHECKED_BY_RECEIVING_FI'
  /** The names match. */
  | 'MATCHED'
  /** The names do not match. */
  | 'NOT_MATCHED'
  /** The names match in part. */
  | 'PARTIAL_MATCH'
  /** The verification is in progress. */
  | 'PENDING'
  /** The payment rail cannot verify names. */
  | 'UNSUPPORTED';

/** A company that owns an external account. */
export type BusinessBeneficiaryInput = {
  /** Postal address. */
  address?: AddressInput | null | undefined;
  /** The legal name of the company. */
  legalName: string;
  /** Number in the company register. */
  registrationNumber?: string | null | undefined;
  /** Tax number. */
  taxId?: string | null | undefined;
};

/** A bank account in Canada. */
export type CadAccountInput = {
  /** Account number, 7 to 12 digits. */
  accountNumber: string;
  /** Institution number, 3 digits. */
  bankCode: string;
  /** Name of the bank, for display only. */
  bankName?: string | null | undefined;
  /** Transit number, 5 digits. */
  branchCode: string;
};

/** The input of cancelQuote. */
export type CancelQuoteInput = {
  /** The version of the record that you last read. If the record has changed since, the mutation is refused with a ConflictError, whose `existing` is the current record. */
  expectedVersion?: number | null | undefined;
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey?: string | null | undefined;
  /** The quote: Quote:… */
  quoteId: string;
};

/** A bank account in Mexico. */
export type ClabeAccountInput = {
  /** Name of the bank, for display only. */
  bankName?: string | null | undefined;
  /** CLABE, 18 digits. */
  clabeNumber: string;
};

/** Rights of a client token beyond its permissions, for the customer it is bound to. */
export type ClientGrant =
  /** Register external accounts of the customer (createExternalAccount). */
  | 'ADD_BENEFICIARIES'
  /** Look up receivers at UMA addresses (lookUpReceiver), and create quotes from these lookups. */
  | 'LOOK_UP_RECEIVERS';

/** The input of createExternalAccount. */
export type CreateExternalAccountInput = {
  /** The details of the account: exactly one field, by its type. */
  accountInfo: ExternalAccountInfoInput;
  /** The owner of the account: required for bank accounts, not allowed for wallets. */
  beneficiary?: BeneficiaryInput | null | undefined;
  /** The currency of the account, as an ISO 4217 or asset code. */
  currency: string;
  /** The customer who owns the account; when left out, the platform, or the customer of the app. */
  customerId?: string | null | undefined;
  /** Whether incoming UMA payments of the customer go to this account. It replaces an earlier default. */
  defaultUmaDepositAccount?: boolean | null | undefined;
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey?: string | null | undefined;
  /** Key-value pairs of your own to store with the object, visible to apps and in webhooks. FORBIDDEN for client tokens. At most 20. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** The platform's own id for the account. */
  platformAccountId?: string | null | undefined;
};

/** The input of createQuote. */
export type CreateQuoteInput = {
  /** A note for the payment. */
  description?: string | null | undefined;
  /** Where the money goes: exactly one field. */
  destination: PaymentDestinationInput;
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey?: string | null | undefined;
  /** Whether to execute the quote immediately, at the current rate. */
  immediatelyExecute?: boolean | null | undefined;
  /** The fixed amount: 1 to 9000000000000000 smallest units of its currency. */
  lockedCurrencyAmount: AmountInput;
  /** The side whose amount is fixed; the other is computed. */
  lockedCurrencySide: LockedCurrencySide;
  /** The lookup of the receiver, required for a UMA destination: Lookup:… */
  lookupId?: string | null | undefined;
  /** Key-value pairs of your own to store with the object, visible to apps and in webhooks. FORBIDDEN for client tokens. At most 20. The quote's transaction gets them, too. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** Information about the sender. For a UMA destination: all mandatory fields of the lookup's `requiredPayerFields`, and PURPOSE_OF_PAYMENT. For an external account: PURPOSE_OF_PAYMENT. At most 30. */
  senderCustomerInfo?: Array<InformationFieldInput> | null | undefined;
  /** Where the money comes from: exactly one field. */
  source: PaymentSourceInput;
  /** Whether to validate the payment only: it is carried out and rolled back, and the result is a ValidatedPayment or the refusal. Nothing changes, and the idempotency key stays unused. For a key that was used before, the answer is what it was then. */
  validateOnly?: boolean | null | undefined;
};

/** Conditions on customers. A customer must match all that are given. */
export type CustomerFilter = {
  /** Customers created at this time or later. */
  createdAfter?: ScalarText<'DateTime'> | null | undefined;
  /** Customers created at this time or earlier. */
  createdBefore?: ScalarText<'DateTime'> | null | undefined;
  /** Customers that are persons, or those that are companies. */
  customerType?: CustomerType | null | undefined;
  /** Whether deleted customers are returned, too. */
  isIncludingDeleted?: boolean | null | undefined;
  /** Customers whose identity check has any of these statuses. At most 100. */
  kycStatus?: Array<KycStatus> | null | undefined;
  /** Customers whose full or legal name begins with this text, case-insensitively. */
  name?: string | null | undefined;
  /** The customer with exactly this id of the platform's own. */
  platformCustomerId?: string | null | undefined;
  /** The customer with this UMA address, case-insensitively. */
  umaAddress?: string | null | undefined;
  /** Customers last changed at this time or later. */
  updatedAfter?: ScalarText<'DateTime'> | null | undefined;
  /** Customers last changed at this time or earlier. */
  updatedBefore?: ScalarText<'DateTime'> | null | undefined;
};

/** A customer of the platform, named by exactly one field. */
export type CustomerReferenceInput =
  {   /** The id of the customer: Customer:… */
  customerId: string; umaAddress?: never; }
  |  { customerId?: never;   /** The UMA address of the customer: $name@domain. */
  umaAddress: string; };

/** Whether a customer is a person or a company. */
export type CustomerType =
  /** A company. */
  | 'BUSINESS'
  /** A person. */
  | 'INDIVIDUAL';

/** Whether payments are simulated or real. */
export type Environment =
  /** Payments are real. */
  | 'PRODUCTION'
  /** Payments are simulated. */
  | 'SANDBOX';

/** Conditions on events. An event must match all that are given. */
export type EventFilter = {
  /** Events that concern this customer: Customer:… */
  customerId?: string | null | undefined;
  /** Events that concern this transaction or its quote: Transaction:… */
  transactionId?: string | null | undefined;
  /** Events of any of these types. At most 100. */
  types?: Array<EventType> | null | undefined;
};

/** The kind of change that an event reports. Some kinds are only in the feed and have no webhook. */
export type EventType =
  /** An internal account was created, or an account changed in any other way. In the feed only. */
  | 'ACCOUNT_CHANGE'
  /** The balance of an internal account changed. */
  | 'ACCOUNT_STATUS'
  /** An API token expires within a week. Not for client tokens. */
  | 'API_TOKEN_EXPIRY'
  /** A customer changed in any other way: new details, deletion, a pending identity check. In the feed only. */
  | 'CUSTOMER_CHANGE'
  /** An external account was created or its status changed. In the feed only. */
  | 'EXTERNAL_ACCOUNT_STATUS'
  /** An incoming transaction was created or its status changed. */
  | 'INCOMING_PAYMENT'
  /** A customer's identity check was decided. */
  | 'KYC_STATUS'
  /** An outgoing transaction was created or its status changed. */
  | 'OUTGOING_PAYMENT'
  /** A quote was created or its status changed. In the feed only. */
  | 'QUOTE_STATUS'
  /** A test event for a webhook endpoint. */
  | 'TEST'
  /** A webhook delivery ended. In the feed only, and not for client tokens. */
  | 'WEBHOOK_DELIVERY';

/** The input of executeQuote. */
export type ExecuteQuoteInput = {
  /** The version of the record that you last read. If the record has changed since, the mutation is refused with a ConflictError, whose `existing` is the current record. */
  expectedVersion?: number | null | undefined;
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey?: string | null | undefined;
  /** The quote: Quote:… */
  quoteId: string;
  /** Whether to validate the payment only: it is carried out and rolled back, and the result is a ValidatedPayment or the refusal. Nothing changes, and the idempotency key stays unused. For a key that was used before, the answer is what it was then. */
  validateOnly?: boolean | null | undefined;
};

/** The details of an external account: exactly one field, by its type. */
export type ExternalAccountInfoInput =
  {   /** A wallet on Base. */
  baseWallet: BaseWalletInput; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never;   /** A bank account in Canada. */
  cadAccount: CadAccountInput; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never;   /** A bank account in Mexico. */
  clabe: ClabeAccountInput; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never;   /** A bank account in the United Kingdom. */
  gbpAccount: GbpAccountInput; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never;   /** A bank account with an IBAN, in the euro area. */
  iban: IbanAccountInput; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never;   /** A wallet on the second-layer Bitcoin network. */
  layer2Wallet: Layer2WalletInput; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never;   /** A Lightning destination: exactly one of an invoice, an offer and an address. */
  lightning: LightningInput; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never;   /** A bank account in Nigeria. */
  ngnAccount: NgnAccountInput; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never;   /** A bank account in the Philippines. */
  phpAccount: PhpAccountInput; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never;   /** A Pix key in Brazil. */
  pix: PixAccountInput; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never;   /** A wallet on Polygon. */
  polygonWallet: PolygonWalletInput; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never;   /** A bank account in Singapore. */
  sgdAccount: SgdAccountInput; solanaWallet?: never; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never;   /** A wallet on Solana. */
  solanaWallet: SolanaWalletInput; tronWallet?: never; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never;   /** A wallet on Tron. */
  tronWallet: TronWalletInput; upi?: never; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never;   /** A UPI address in India. */
  upi: UpiAccountInput; usAccount?: never; }
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never; layer2Wallet?: never; lightning?: never; ngnAccount?: never; phpAccount?: never; pix?: never; polygonWallet?: never; sgdAccount?: never; solanaWallet?: never; tronWallet?: never; upi?: never;   /** A bank account in the United States. */
  usAccount: UsAccountInput; };

/** The status of an external account. Only ACTIVE accounts can pay and be paid. */
export type ExternalAccountStatus =
  /** The account can be used in payments. */
  | 'ACTIVE'
  /** The account cannot be used: it is disabled or deleted, or its bank did not accept it. */
  | 'INACTIVE'
  /** The account is being verified. */
  | 'PENDING'
  /** The account is being reviewed again and cannot be used meanwhile. */
  | 'UNDER_REVIEW';

/** The type of an external account: a kind of bank account or wallet. */
export type ExternalAccountType =
  /** A wallet on Base. */
  | 'BASE_WALLET'
  /** A Canadian bank account. */
  | 'CAD_ACCOUNT'
  /** A Mexican bank account. */
  | 'CLABE'
  /** A British bank account. */
  | 'GBP_ACCOUNT'
  /** A bank account with an IBAN. */
  | 'IBAN'
  /** A wallet on the second-layer Bitcoin network. */
  | 'LAYER2_WALLET'
  /** A Lightning invoice, offer or address. */
  | 'LIGHTNING'
  /** A Nigerian bank account. */
  | 'NGN_ACCOUNT'
  /** A Philippine bank account. */
  | 'PHP_ACCOUNT'
  /** A Brazilian Pix key. */
  | 'PIX'
  /** A wallet on Polygon. */
  | 'POLYGON_WALLET'
  /** A Singapore bank account. */
  | 'SGD_ACCOUNT'
  /** A wallet on Solana. */
  | 'SOLANA_WALLET'
  /** A wallet on Tron. */
  | 'TRON_WALLET'
  /** An Indian UPI address. */
  | 'UPI'
  /** A US bank account. */
  | 'US_ACCOUNT';

/** Why a transaction failed. New values may be added. */
export type FailureReason =
  /** The receiver's address could not be resolved. */
  | 'LNURLP_FAILED'
  /** Required information about the receiver is missing. */
  | 'MISSING_MANDATORY_PAYEE_DATA'
  /** Conversion or delivery to the destination failed. */
  | 'OFFRAMP_FAILED'
  /** Nobody approved or rejected the payment in time. */
  | 'PAYMENT_APPROVAL_TIMED_OUT'
  /** The platform answered the approval webhook with an error. */
  | 'PAYMENT_APPROVAL_WEBHOOK_ERROR'
  /** The receiving side did not answer the pay request. */
  | 'PAY_REQUEST_FAILED'
  /** Something else failed before settlement; the timeline says what. */
  | 'QUOTE_EXECUTION_FAILED'
  /** The money arrived after the quote had expired, or the quote expired unused. */
  | 'QUOTE_EXPIRED';

/** The accounts that a stream follows: exactly one field. */
export type FollowedAccountsInput =
  {   /** A single account: InternalAccount:… or ExternalAccount:… */
  accountId: string; customerId?: never; }
  |  { accountId?: never;   /** All accounts of this customer: Customer:… */
  customerId: string; };

/** The transactions that a stream follows: exactly one field. */
export type FollowedTransactionsInput =
  {   /** All transactions of this customer: Customer:… */
  customerId: string; transactionId?: never; transactionIds?: never; }
  |  { customerId?: never;   /** A single transaction: Transaction:… */
  transactionId: string; transactionIds?: never; }
  |  { customerId?: never; transactionId?: never;   /** These transactions, at least one: Transaction:… At most 100. */
  transactionIds: Array<string>; };

/** A bank account in the United Kingdom. */
export type GbpAccountInput = {
  /** Account number, 8 digits. */
  accountNumber: string;
  /** Name of the bank, for display only. */
  bankName?: string | null | undefined;
  /** Sort code, 6 digits. */
  sortCode: string;
};

/** A bank account with an IBAN, in the euro area. */
export type IbanAccountInput = {
  /** Name of the bank, for display only. */
  bankName?: string | null | undefined;
  /** IBAN, 15 to 34 characters. */
  iban: string;
  /** BIC of the bank; required if the country of the IBAN is outside SEPA. */
  swiftBic?: string | null | undefined;
};

/** A person who owns an external account. */
export type IndividualBeneficiaryInput = {
  /** Postal address. */
  address?: AddressInput | null | undefined;
  /** Date of birth. */
  birthDate?: string | null | undefined;
  /** The full name of the owner. */
  fullName: string;
  /** Nationality of the owner (ISO 3166-1 alpha-2). */
  nationality?: string | null | undefined;
};

/** A piece of information about a party of a payment. */
export type InformationFieldInput = {
  /** The name of the information: FULL_NAME, BIRTH_DATE, NATIONALITY, PURPOSE_OF_PAYMENT, … */
  name: string;
  /** The value of the information. For PURPOSE_OF_PAYMENT: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL or OTHER. */
  value: string;
};

/** Why a ledger entry was posted. */
export type JournalKind =
  /** The operator of the service corrects the balance of an account. */
  | 'ADJUSTMENT'
  /** Money comes in that is then passed on. */
  | 'ARRIVAL'
  /** A payment takes money from its source. */
  | 'DEBIT'
  /** A payment is delivered. */
  | 'DELIVERY'
  /** Money comes in. */
  | 'DEPOSIT'
  /** A provider moved a different amount than was agreed. */
  | 'DIFFERENCE'
  /** The money of a payment goes back to its source. */
  | 'REFUND'
  /** The rail returns the money after all. */
  | 'RESUMPTION'
  /** A bank returns a payment after its delivery. */
  | 'RETURN'
  /** The rail neither delivers nor returns the money, which moves to SUSPENSE. */
  | 'SUSPENSION'
  /** Money moves to another internal account without a quote. */
  | 'TRANSFER';

/** The status of a customer's identity check. Only APPROVED and MANUALLY_APPROVED let it move money. */
export type KycStatus =
  /** The customer passed the check. */
  | 'APPROVED'
  /** The check was abandoned. */
  | 'CANCELED'
  /** The check has expired and must be repeated. */
  | 'EXPIRED'
  /** A person approved the customer. */
  | 'MANUALLY_APPROVED'
  /** A person rejected the customer. */
  | 'MANUALLY_REJECTED'
  /** The check is in progress. */
  | 'PENDING_REVIEW'
  /** The customer failed the check. */
  | 'REJECTED';

/** A wallet on the second-layer Bitcoin network. */
export type Layer2WalletInput = {
  /** Address of the wallet, 20 to 120 characters. */
  address: string;
};

/** The party of a ledger entry that is not an account visible to the caller. */
export type LedgerParty =
  /** The other side of balance corrections by the operator of the service. */
  | 'ADJUSTMENTS'
  /** Money in transit. */
  | 'CLEARING'
  /** The difference between what a provider moved and what was agreed; the operator of the service bears it. */
  | 'DIFFERENCES'
  /** Fees of the service. */
  | 'FEES'
  /** The other side of a currency conversion. */
  | 'LIQUIDITY'
  /** An account that the caller may not see. */
  | 'OTHER_ACCOUNT'
  /** The world beyond the payment rails: money that enters or leaves the service. */
  | 'OUTSIDE'
  /** Money that was neither delivered nor returned, until an operator resolves it. */
  | 'SUSPENSE';

/** A Lightning destination: exactly one of an invoice, an offer and an address. */
export type LightningInput =
  {   /** BOLT 12 offer. */
  bolt12: string; invoice?: never; lightningAddress?: never; }
  |  { bolt12?: never;   /** BOLT 11 invoice, which can be paid once. */
  invoice: string; lightningAddress?: never; }
  |  { bolt12?: never; invoice?: never;   /** Lightning address, user@domain. */
  lightningAddress: string; };

/** What a change does to a followed list. */
export type ListOperation =
  /** The row is now in the list and was not before: it is new, or did not match the filter. */
  | 'ENTER'
  /** The row no longer matches the filter. */
  | 'LEAVE'
  /** The row was in the list, still is, and has changed. */
  | 'UPDATE';

/** The sort key of a list. */
export type ListOrder =
  /** When the rows were created. */
  | 'CREATED'
  /** When the rows last changed. */
  | 'UPDATED';

/** The side whose amount is fixed; the other amount is computed from the rate. */
export type LockedCurrencySide =
  /** The amount received is fixed. */
  | 'RECEIVING'
  /** The amount sent is fixed, fees included. */
  | 'SENDING';

/** The input of lookUpReceiver. */
export type LookUpReceiverInput = {
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey?: string | null | undefined;
  /** The customer who would send. In an app of a customer, that customer by default. */
  sender?: CustomerReferenceInput | null | undefined;
  /** The UMA address to look up: $name@domain. */
  umaAddress: string;
};

/** A key-value pair to store with an object, each key once. */
export type MetadataInput = {
  /** The key: 1 to 40 letters, digits, dots, hyphens and underscores, beginning with a letter or digit. */
  key: string;
  /** The value: at most 500 characters. */
  value: string;
};

/** A bank account in Nigeria. */
export type NgnAccountInput = {
  /** Account number (NUBAN), 10 digits. */
  accountNumber: string;
  /** Name of the bank, which is part of what identifies the account. */
  bankName: string;
  /** The purpose of payments to the account: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL, OTHER. */
  purposeOfPayment: PurposeOfPayment;
};

/** The destination of a payment: exactly one field. */
export type PaymentDestinationInput =
  {   /** The payment goes to an account. */
  account: AccountDestinationInput; uma?: never; }
  |  { account?: never;   /** The payment goes to a UMA address. */
  uma: UmaDestinationInput; };

/** The source of a payment: exactly one field. */
export type PaymentSourceInput =
  {   /** The payment is made from an account. */
  account: AccountSourceInput; realtimeFunding?: never; }
  |  { account?: never;   /** The payment is funded by a deposit from outside, for this payment alone. */
  realtimeFunding: RealtimeFundingSourceInput; };

/** What a token is allowed to do. */
export type Permission =
  /** Approve and reject payments that others have asked for and that a policy holds back. Only for API tokens. */
  | 'APPROVE'
  /** Manage customers, accounts, tokens and settings. */
  | 'MANAGE'
  /** Move money. */
  | 'TRANSACT'
  /** Read everything that the token can see. */
  | 'VIEW';

/** A bank account in the Philippines. */
export type PhpAccountInput = {
  /** Account number. */
  accountNumber: string;
  /** Name of the bank, which is part of what identifies the account. */
  bankName: string;
};

/** A Pix key in Brazil. */
export type PixAccountInput = {
  /** Name of the bank, for display only. */
  bankName?: string | null | undefined;
  /** The Pix key, in the format of its type. */
  pixKey: string;
  /** The type of the Pix key: CPF, CNPJ, EMAIL, PHONE or RANDOM. */
  pixKeyType: PixKeyType;
  /** Tax number (CPF or CNPJ) of the owner of the Pix key. */
  taxId: string;
};

/** The type of the Pix key: CPF, CNPJ, EMAIL, PHONE or RANDOM. */
export type PixKeyType =
  /** The tax number of a company in Brazil: 14 characters. */
  | 'CNPJ'
  /** The tax number of a person in Brazil: 11 digits. */
  | 'CPF'
  /** An e-mail address. */
  | 'EMAIL'
  /** A telephone number with its country code: +5511999998888. */
  | 'PHONE'
  /** A random key of 32 letters or digits. */
  | 'RANDOM';

/** The payments that a limit of a policy counts together. */
export type PolicyPeriod =
  /** All payments of a calendar day, in the policy's time zone. */
  | 'DAY'
  /** All payments of the last 24 hours. */
  | 'LAST_24_HOURS'
  /** All payments of the last 30 times 24 hours. */
  | 'LAST_30_DAYS'
  /** All payments of a calendar month, in the policy's time zone. */
  | 'MONTH'
  /** Each payment on its own. */
  | 'PAYMENT';

/** A wallet on Polygon. */
export type PolygonWalletInput = {
  /** Address of the wallet: 0x and 40 hexadecimal digits. */
  address: string;
};

/** The purpose of payments to the account: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL, OTHER. */
export type PurposeOfPayment =
  /** A donation. */
  | 'DONATION'
  /** Education, such as tuition fees. */
  | 'EDUCATION'
  /** A gift. */
  | 'GIFT'
  /** Payment for goods or services. */
  | 'GOODS_OR_SERVICES'
  /** Health or medical expenses. */
  | 'HEALTH_OR_MEDICAL'
  /** Repayment of a loan. */
  | 'LOAN_PAYMENT'
  /** Any other purpose. */
  | 'OTHER'
  /** The purchase of real estate. */
  | 'REAL_ESTATE_PURCHASE'
  /** A transfer to an account of the sender's own. */
  | 'SELF'
  /** Payment of taxes. */
  | 'TAX_PAYMENT'
  /** Travel expenses. */
  | 'TRAVEL'
  /** Payment of a utility bill. */
  | 'UTILITY_BILL';

/** The status of a quote. COMPLETED, FAILED and EXPIRED are terminal. */
export type QuoteStatus =
  /** The payment was delivered. */
  | 'COMPLETED'
  /** The quote was neither executed nor funded in time, its payment was not approved in time, or it was cancelled. */
  | 'EXPIRED'
  /** The payment was not delivered; the quote's transaction says why. */
  | 'FAILED'
  /** The rate is locked. The quote can be executed or funded until it expires. */
  | 'PENDING'
  /** The quote was executed or funded, and its payment is in progress. */
  | 'PROCESSING';

/** A deposit from outside as the source: the quote's `paymentInstructions` say where to send it. */
export type RealtimeFundingSourceInput = {
  /** The currency of the deposit, such as USDC or BTC. */
  currency: string;
  /** The customer who makes the deposit: Customer:… */
  customerId: string;
};

/** The machine-readable reason why a request was refused: the same codes as in REST. New codes may be added. */
export type RefusalCode =
  /** The operator of the service has frozen the account. */
  | 'ACCOUNT_FROZEN'
  /** There is no such account. */
  | 'ACCOUNT_NOT_FOUND'
  /** The amount is below the minimum or above the maximum. */
  | 'AMOUNT_OUT_OF_RANGE'
  /** The request conflicts with something that already exists or has already happened. */
  | 'CONFLICT'
  /** The customer was deleted. */
  | 'CUSTOMER_DELETED'
  /** The operator of the service has frozen the customer. */
  | 'CUSTOMER_FROZEN'
  /** The customer still has money in its accounts or payments in progress. */
  | 'CUSTOMER_IN_USE'
  /** There is no such event. */
  | 'EVENT_NOT_FOUND'
  /** The token may not do this. */
  | 'FORBIDDEN'
  /** The idempotency key was already used with different input. */
  | 'IDEMPOTENCY_MISMATCH'
  /** The balance of the source is too low. */
  | 'INSUFFICIENT_BALANCE'
  /** The amount is not positive, or has more decimal places than its currency. */
  | 'INVALID_AMOUNT'
  /** The details of the external account are wrong, or the account is not ACTIVE. */
  | 'INVALID_BANK_ACCOUNT'
  /** The currency is unknown, or not supported here. */
  | 'INVALID_CURRENCY'
  /** A field is malformed or asks for something impossible. If several fields are wrong, each has a code of its own in `fields`. */
  | 'INVALID_INPUT'
  /** The receiver cannot be paid. */
  | 'INVALID_RECEIVER'
  /** The UMA address is malformed, not in the platform's domain, or refused by the receiving side. */
  | 'INVALID_UMA_ADDRESS'
  /** A policy does not allow the payment, or does not allow it now. */
  | 'LIMIT_EXCEEDED'
  /** There is no such lookup, or it has expired. */
  | 'LOOKUP_REQUEST_NOT_FOUND'
  /** Information about the sender that the receiver requires is missing. */
  | 'MISSING_MANDATORY_USER_INFO'
  /** It is unknown whether the request took effect. Repeat it with the same idempotency key. */
  | 'OUTCOME_UNKNOWN'
  /** The quote has expired. */
  | 'QUOTE_EXPIRED'
  /** There is no such quote. */
  | 'QUOTE_NOT_FOUND'
  /** The receiving side did not return a quote. */
  | 'QUOTE_REQUEST_FAILED'
  /** The token or its platform sends too many requests. Nothing was done. */
  | 'RATE_LIMITED'
  /** The source and the destination are the same account or address. */
  | 'SELF_PAYMENT'
  /** The request cannot be served at the moment. Nothing was done. */
  | 'SERVICE_UNAVAILABLE'
  /** There is no such token. */
  | 'TOKEN_NOT_FOUND'
  /** There is no such transaction. */
  | 'TRANSACTION_NOT_FOUND'
  /** The payment is not waiting for approval. */
  | 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL'
  /** Another customer has this UMA address. */
  | 'UMA_ADDRESS_EXISTS'
  /** Nobody can be reached at this UMA address. */
  | 'UMA_NOT_FOUND'
  /** There is no such customer. */
  | 'USER_NOT_FOUND'
  /** A customer in this payment may not move money: its identity check is not approved, or it was deleted. */
  | 'USER_NOT_READY'
  /** A test event could not be delivered. In REST only. */
  | 'WEBHOOK_DELIVERY_ERROR'
  /** There is no such webhook delivery. */
  | 'WEBHOOK_DELIVERY_NOT_FOUND'
  /** There is no such webhook endpoint. */
  | 'WEBHOOK_ENDPOINT_NOT_FOUND'
  /** No webhook endpoint is configured in the settings. In REST only. */
  | 'WEBHOOK_ENDPOINT_NOT_SET';

/** The platform's decision on a simulated incoming payment. */
export type SandboxApproval =
  /** The platform approves immediately, with the information in the customer record. */
  | 'APPROVE'
  /** The platform rejects immediately: the payment becomes REJECTED. */
  | 'REJECT';

/** How the simulated deposit for a real-time funded quote arrives. */
export type SandboxDeposit =
  /** The deposit arrives after the quote has expired: the payment fails with QUOTE_EXPIRED, and the money is credited to the customer's account. */
  | 'LATE'
  /** Half of the amount arrives: the payment fails, and the customer's account is credited. */
  | 'SHORT'
  /** Two deposits arrive: the first funds the quote, the second is credited to the customer's account. */
  | 'TWICE';

/** The input of sandboxReceiveUma. */
export type SandboxReceiveUmaInput = {
  /** The amount that arrives: 1 to 9000000000000000 smallest units of the currency. */
  amount: AmountInput;
  /** The currency that arrives. */
  currency: string;
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey?: string | null | undefined;
  /** The customer who receives the payment. */
  receiver: CustomerReferenceInput;
  /** The names of further information about the receiver that the sender requires: TAX_ID, … At most 30. */
  requestedReceiverFields?: Array<string> | null | undefined;
  /** How the payment turns out once it is approved. */
  sandboxScenario?: SandboxScenarioInput | null | undefined;
  /** The UMA address of the sender: any. At sandbox.uma.money, $pending.long.usd takes long, and $fail.compliance.usd and $fail.timeout.usd fail after approval. */
  senderUmaAddress: string;
};

/** Sandbox only: how a payment turns out, for cases that the magic suffixes cannot express. Without a scenario, the suffixes decide. */
export type SandboxScenarioInput = {
  /** For sandboxReceiveUma: the platform's decision, so that no approval request has to be answered. An earlier decision stands. */
  approval?: SandboxApproval | null | undefined;
  /** How long the step takes, in milliseconds, 0 to 3600000. The usual pace when left out. */
  delayMs?: number | null | undefined;
  /** How the deposit arrives. For sandboxSend, and for createQuote with a real-time funded source. */
  deposit?: SandboxDeposit | null | undefined;
  /** The payment fails with this reason, after the delay. If a deposit funds it, only QUOTE_EXPIRED and QUOTE_EXECUTION_FAILED are possible. */
  failureReason?: FailureReason | null | undefined;
  /** With `failureReason`: the refund fails, too. The money waits in SUSPENSE, as ledger entries show. */
  refundFails?: boolean | null | undefined;
  /** The receiving side rejects the payment after the delay: it becomes REJECTED. */
  reject?: boolean | null | undefined;
  /** The payment completes, and the bank returns it this many milliseconds later: COMPLETED becomes REFUNDED. Only for payments that leave the service. */
  returnAfterMs?: number | null | undefined;
  /** The step that `delayMs` and `failureReason` apply to, unlike the others; SETTLEMENT by default. */
  step?: SandboxStep | null | undefined;
};

/** A step of a simulated payment. */
export type SandboxStep =
  /** For sandboxReceiveUma: the sender has looked up the receiver and the payment is CREATED. The sender's pay request then arrives, fails, or does not arrive within the lifetime of a quote (EXPIRED). */
  | 'PAY_REQUEST'
  /** For a quote paid from an external account: pulling the money, before anything is debited. */
  | 'PULL'
  /** The delivery or collection that ends the payment. */
  | 'SETTLEMENT';

/** A bank account in Singapore. */
export type SgdAccountInput = {
  /** Account number. */
  accountNumber: string;
  /** Name of the bank. */
  bankName: string;
  /** BIC of the bank. */
  swiftCode: string;
};

/** A wallet on Solana. */
export type SolanaWalletInput = {
  /** Address of the wallet, 32 to 44 characters. */
  address: string;
};

/** When a stream of named transactions completes. */
export type StreamEnd =
  /** When no further change of any of them is possible: no return by a bank, and no pending refund. */
  | 'FINAL'
  /** When all of them have a terminal status. */
  | 'TERMINAL';

/** Conditions on transactions. A transaction must match all that are given. */
export type TransactionFilter = {
  /** Transactions from or to this account: InternalAccount:… or ExternalAccount:… */
  accountId?: string | null | undefined;
  /** Transactions whose sent or received amount is in this range. */
  amount?: AmountRange | null | undefined;
  /** Transactions created at this time or later. */
  createdAfter?: ScalarText<'DateTime'> | null | undefined;
  /** Transactions created at this time or earlier. */
  createdBefore?: ScalarText<'DateTime'> | null | undefined;
  /** Transactions that are sent or received in the currency with this code. */
  currency?: string | null | undefined;
  /** Transactions of this customer: Customer:… */
  customerId?: string | null | undefined;
  /** True leaves out the payments of quotes that were never executed or funded (PENDING, later EXPIRED). False returns only those. */
  executed?: boolean | null | undefined;
  /** Transactions that failed for any of these reasons. At most 100. */
  failureReason?: Array<FailureReason> | null | undefined;
  /** Transactions of the customer with this id of the platform's own (`Customer.platformCustomerId`). */
  platformCustomerId?: string | null | undefined;
  /** Transactions with this destination: an account id or a UMA address. */
  receiverAccountIdentifier?: string | null | undefined;
  /** Transactions with exactly this reconciliation reference. */
  reference?: string | null | undefined;
  /** Transactions with this source: an account id or a UMA address. */
  senderAccountIdentifier?: string | null | undefined;
  /** Transactions with any of these statuses. At most 100. */
  status?: Array<TransactionStatus> | null | undefined;
  /** Transactions in any of these directions. At most 100. */
  type?: Array<TransactionType> | null | undefined;
  /** Transactions last changed at this time or later. */
  updatedAfter?: ScalarText<'DateTime'> | null | undefined;
  /** Transactions last changed at this time or earlier. */
  updatedBefore?: ScalarText<'DateTime'> | null | undefined;
};

/** The status of a transaction. COMPLETED, REJECTED, FAILED, REFUNDED and EXPIRED are terminal, except that a COMPLETED transaction may still become REFUNDED. */
export type TransactionStatus =
  /** The money was delivered. */
  | 'COMPLETED'
  /** The payment has not begun: it waits for an approval that a policy requires, or its sender has only announced it. */
  | 'CREATED'
  /** The payment never began: its quote expired, it was not approved in time, or the sender did not confirm the announced payment. */
  | 'EXPIRED'
  /** The payment was not delivered: `failureReason` says why, `refund` where the money went. */
  | 'FAILED'
  /** The payment waits for its execution, its funds, an approval or the bank. */
  | 'PENDING'
  /** The money is on its way. */
  | 'PROCESSING'
  /** The payment was delivered, and the money was then returned. */
  | 'REFUNDED'
  /** The receiving side or the platform rejected the payment, and the money goes back to its source. */
  | 'REJECTED';

/** The direction of a payment, as seen by the customer. */
export type TransactionType =
  /** The customer receives the money. */
  | 'INCOMING'
  /** The customer sends the money. */
  | 'OUTGOING';

/** The input of transferIn. */
export type TransferInInput = {
  /** The amount to pull, no more than the destination may hold. Without it the provider pulls what the account offers; the sandbox pulls 10000 smallest units. */
  amount?: AmountInput | null | undefined;
  /** A note for the payment. */
  description?: string | null | undefined;
  /** The account to credit: InternalAccount:… */
  destinationAccountId: string;
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey: string;
  /** Key-value pairs of your own to store with the object, visible to apps and in webhooks. FORBIDDEN for client tokens. At most 20. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** The account to pull from: ExternalAccount:… */
  sourceAccountId: string;
  /** Whether to validate the payment only: it is carried out and rolled back, and the result is a ValidatedPayment or the refusal. Nothing changes, and the idempotency key stays unused. For a key that was used before, the answer is what it was then. */
  validateOnly?: boolean | null | undefined;
};

/** The input of transferOut. */
export type TransferOutInput = {
  /** The amount to send: 1 to 9000000000000000 smallest units of the accounts' currency. */
  amount: AmountInput;
  /** A note for the payment. */
  description?: string | null | undefined;
  /** The account to pay: ExternalAccount:… */
  destinationAccountId: string;
  /** Makes retries safe: the same key with the same input has one effect and one answer, however often it is sent. 1 to 255 printable ASCII characters without spaces. */
  idempotencyKey: string;
  /** Key-value pairs of your own to store with the object, visible to apps and in webhooks. FORBIDDEN for client tokens. At most 20. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** The account to debit: InternalAccount:… */
  sourceAccountId: string;
  /** Whether to validate the payment only: it is carried out and rolled back, and the result is a ValidatedPayment or the refusal. Nothing changes, and the idempotency key stays unused. For a key that was used before, the answer is what it was then. */
  validateOnly?: boolean | null | undefined;
};

/** A wallet on Tron. */
export type TronWalletInput = {
  /** Address of the wallet: T and 33 characters. */
  address: string;
};

/** A UMA address that was looked up (`lookupId`) as the destination of a payment. */
export type UmaDestinationInput = {
  /** The currency to receive; the receiver's first currency when left out. */
  currency?: string | null | undefined;
  /** The UMA address that receives: $name@domain. */
  umaAddress: string;
};

/** A UPI address in India. */
export type UpiAccountInput = {
  /** Virtual payment address, user@bank. */
  vpa: string;
};

/** A bank account in the United States. */
export type UsAccountInput = {
  /** The category of the bank account: CHECKING or SAVINGS. */
  accountCategory: AccountCategory;
  /** Account number, 4 to 17 digits. */
  accountNumber: string;
  /** Name of the bank, for display only. */
  bankName?: string | null | undefined;
  /** ABA routing number, 9 digits. */
  routingNumber: string;
};

/** Whether the caller is a platform's server or an app. */
export type ViewerKind =
  /** An app, with a client token. */
  | 'CLIENT'
  /** A server of the platform, with an API token. */
  | 'PLATFORM';

/** Conditions on webhook deliveries. */
export type WebhookDeliveryFilter = {
  /** Webhook deliveries with any of these statuses. At most 100. */
  status?: Array<WebhookDeliveryStatus> | null | undefined;
};

/** The status of the delivery of an event to a webhook endpoint. */
export type WebhookDeliveryStatus =
  /** The receiver accepted the event: it answered 2xx or 409. */
  | 'DELIVERED'
  /** No further attempt will be made unless the delivery is resent or its event replayed. */
  | 'FAILED'
  /** An attempt is in progress, or the next one is scheduled. */
  | 'PENDING';

/** Whether a webhook endpoint receives events. */
export type WebhookEndpointStatus =
  /** The endpoint receives nothing until it is enabled again; its `notice` says why. */
  | 'DISABLED'
  /** Events are delivered to the endpoint. */
  | 'ENABLED'
  /** The last attempts failed. Retries continue on schedule until one succeeds or the endpoint is disabled. */
  | 'FAILING';

export type AddPayeeMutationVariables = Exact<{
  input: CreateExternalAccountInput;
}>;


export type AddPayeeMutation = { createExternalAccount:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }>, existing:
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
       | null }
    | { __typename: 'CreateExternalAccountSuccess', replayed: boolean, warnings: Array<{ path: Array<string | number>, message: string }>, accountEdge: { cursor: string, node:
          | { status: ExternalAccountStatus, beneficiaryVerificationStatus: BeneficiaryVerificationStatus | null, id: string, displayName: string, maskedNumber: string, accountInfo:
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
            , currency: { code: string, symbol: string, decimals: number } }
          | { id: string, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } }
         } }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
   };

export type CancelQuoteMutationVariables = Exact<{
  input: CancelQuoteInput;
}>;


export type CancelQuoteMutation = { cancelQuote:
    | { __typename: 'CancelQuoteSuccess', quote: { id: string, status: QuoteStatus, version: number } }
    | { __typename: 'ConflictError', code: RefusalCode, message: string, existing:
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
       | null }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string }
    | { __typename: 'QuoteExpiredError', code: RefusalCode, message: string, expiredAt: ScalarText<'DateTime'> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string }
   };

export type CreateQuoteMutationVariables = Exact<{
  input: CreateQuoteInput;
  locale?: string | null | undefined;
}>;


export type CreateQuoteMutation = { createQuote:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'CreateQuoteSuccess', serverTime: ScalarText<'DateTime'>, quote: { id: string, status: QuoteStatus, version: number, createdAt: ScalarText<'DateTime'>, expiresAt: ScalarText<'DateTime'>, description: string | null, lockedCurrencySide: LockedCurrencySide, exchangeRate: string, totalSendingAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } }, totalReceivingAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } }, feesIncluded: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } }, source:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
        , destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
        , paymentInstructions: Array<
          | { __typename: 'BaseWalletInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'CadAccountInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'ClabeInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'GbpAccountInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'IbanInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'Layer2WalletInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'LightningInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'NgnAccountInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'PhpAccountInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'PixInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'PolygonWalletInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'SgdAccountInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'SolanaWalletInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'TronWalletInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'UpiInstruction', accountType: ExternalAccountType, reference: string | null }
          | { __typename: 'UsAccountInstruction', accountType: ExternalAccountType, reference: string | null }
        >, transaction: { id: string, status: TransactionStatus } } }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'InsufficientFundsError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }>, available: { formatted: string } | null, required: { formatted: string } | null }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'LimitExceededError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'ValidatedPayment' }
   };

export type ExecuteQuoteMutationVariables = Exact<{
  input: ExecuteQuoteInput;
  locale?: string | null | undefined;
}>;


export type ExecuteQuoteMutation = { executeQuote:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }>, existing:
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
       | null }
    | { __typename: 'ExecuteQuoteSuccess', replayed: boolean, quote: { id: string, status: QuoteStatus, version: number, transaction: { id: string, status: TransactionStatus, version: number } } }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'InsufficientFundsError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }>, available: { formatted: string } | null, required: { formatted: string } | null }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'LimitExceededError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'QuoteExpiredError', code: RefusalCode, message: string, expiredAt: ScalarText<'DateTime'>, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'ValidatedPayment' }
   };

export type HistoryQueryVariables = Exact<{
  filter?: TransactionFilter | null | undefined;
  orderBy?: ListOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  locale?: string | null | undefined;
}>;


export type HistoryQuery = { viewer: { feedCursor: string }, transactions: { totalCount: number, edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, description: string | null, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, version: number, sentAmount: { decimal: string, formatted: string, currency: { code: string } } | null, receivedAmount: { decimal: string, formatted: string, currency: { code: string } } | null, source:
          | { __typename: 'AccountSource', displayName: string, maskedNumber: string | null }
          | { __typename: 'RealtimeFundingSource', displayName: string, maskedNumber: string | null }
          | { __typename: 'UmaSource', displayName: string, maskedNumber: string | null }
         | null, destination:
          | { __typename: 'AccountDestination', displayName: string, maskedNumber: string | null }
          | { __typename: 'UmaDestination', displayName: string, maskedNumber: string | null }
         } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type HomeQueryVariables = Exact<{
  recent?: number | null | undefined;
  locale?: string | null | undefined;
}>;


export type HomeQuery = { viewer: { serverTime: ScalarText<'DateTime'>, feedCursor: string, expiresAt: ScalarText<'DateTime'> | null, environment: Environment, permissions: Array<Permission>, grants: Array<ClientGrant>, customer: { id: string, name: string | null, umaAddress: string, kycStatus: KycStatus, version: number, accounts: { edges: Array<{ cursor: string, node:
            | { id: string, displayName: string, maskedNumber: string, version: number }
            | { id: string, displayName: string, maskedNumber: string, version: number, balance: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } }
           }> }, transactions: { edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, description: string | null, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, version: number, sentAmount: { decimal: string, formatted: string, currency: { code: string } } | null, receivedAmount: { decimal: string, formatted: string, currency: { code: string } } | null, source:
              | { displayName: string, maskedNumber: string | null }
              | { displayName: string, maskedNumber: string | null }
              | { displayName: string, maskedNumber: string | null }
             | null, destination:
              | { displayName: string, maskedNumber: string | null }
              | { displayName: string, maskedNumber: string | null }
             } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } };

export type LookUpReceiverMutationVariables = Exact<{
  input: LookUpReceiverInput;
  locale?: string | null | undefined;
}>;


export type LookUpReceiverMutation = { lookUpReceiver:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'LookUpReceiverSuccess', serverTime: ScalarText<'DateTime'>, lookup: { id: string, umaAddress: string, vaspName: string | null, expiresAt: ScalarText<'DateTime'>, supportedCurrencies: Array<{ estimatedExchangeRate: string | null, currency: { code: string, name: string, symbol: string, decimals: number }, minAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string }, maxAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string } }>, requiredPayerFields: Array<{ name: string, mandatory: boolean }> } }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
   };

export type PayInQueryVariables = Exact<{
  quoteId: string;
  locale?: string | null | undefined;
}>;


export type PayInQuery = { viewer: { serverTime: ScalarText<'DateTime'>, feedCursor: string }, quote: { id: string, status: QuoteStatus, expiresAt: ScalarText<'DateTime'>, totalSendingAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } }, paymentInstructions: Array<
      | { __typename: 'BaseWalletInstruction', address: string, assetType: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'CadAccountInstruction', accountNumber: string, bankCode: string, bankName: string, branchCode: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'ClabeInstruction', clabeNumber: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'GbpAccountInstruction', accountNumber: string, bankName: string, sortCode: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'IbanInstruction', iban: string, swiftBic: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'Layer2WalletInstruction', address: string, assetType: string, invoice: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'LightningInstruction', invoice: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'NgnAccountInstruction', accountNumber: string, bankName: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'PhpAccountInstruction', accountNumber: string, bankName: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'PixInstruction', pixKey: string, pixKeyType: PixKeyType, taxId: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'PolygonWalletInstruction', address: string, assetType: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'SgdAccountInstruction', accountNumber: string, bankName: string, swiftCode: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'SolanaWalletInstruction', address: string, assetType: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'TronWalletInstruction', address: string, assetType: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'UpiInstruction', vpa: string, accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'UsAccountInstruction', accountCategory: AccountCategory, accountNumber: string, bankName: string, routingNumber: string, accountType: ExternalAccountType, reference: string | null }
    > } | null };

export type PayeeFormQueryVariables = Exact<{
  currency?: string | null | undefined;
}>;


export type PayeeFormQuery = { externalAccountForms: Array<{ accountType: ExternalAccountType, description: string, inputField: string, beneficiaryRequired: boolean, exactlyOneOf: Array<string>, currencies: Array<{ code: string, symbol: string, decimals: number }>, fields: Array<{ name: string, description: string, required: boolean, allowedValues: Array<string> | null, format: string | null, pattern: string | null, formatDependsOn: string | null, formatsByValue: Array<{ value: string, format: string, pattern: string }> }> }> };

export type PayeePickerQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  locale?: string | null | undefined;
}>;


export type PayeePickerQuery = { viewer: { permissions: Array<Permission>, grants: Array<ClientGrant>, policies: Array<{ id: string, limits: Array<{ period: PolicyPeriod, renewsAt: ScalarText<'DateTime'> | null, leftPayments: number | null, leftAmount: { amount: ScalarText<'BigInt'>, formatted: string, currency: { code: string } } | null }> }>, customer: { id: string, kycStatus: KycStatus, sources: { edges: Array<{ cursor: string, node:
            | { id: string, displayName: string, maskedNumber: string }
            | { id: string, displayName: string, maskedNumber: string, balance: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } }
           }> }, payees: { edges: Array<{ cursor: string, node:
            | { status: ExternalAccountStatus, beneficiaryVerificationStatus: BeneficiaryVerificationStatus | null, id: string, displayName: string, maskedNumber: string, accountInfo:
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
                | { accountType: ExternalAccountType }
              , currency: { code: string, symbol: string, decimals: number } }
            | { id: string, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } }
           }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, paidLast: { edges: Array<{ cursor: string, node: { id: string, createdAt: ScalarText<'DateTime'>, destination:
              | { __typename: 'AccountDestination', accountId: string, displayName: string, maskedNumber: string | null, currency: { code: string } }
              | { __typename: 'UmaDestination', umaAddress: string, displayName: string, maskedNumber: string | null, currency: { code: string } }
             } }> } } | null } };

export type QuoteQueryVariables = Exact<{
  quoteId: string;
  locale?: string | null | undefined;
}>;


export type QuoteQuery = { viewer: { serverTime: ScalarText<'DateTime'>, feedCursor: string }, quote: { id: string, status: QuoteStatus, version: number, createdAt: ScalarText<'DateTime'>, expiresAt: ScalarText<'DateTime'>, description: string | null, lockedCurrencySide: LockedCurrencySide, exchangeRate: string, totalSendingAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } }, totalReceivingAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } }, feesIncluded: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } }, source:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
    , destination:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
    , paymentInstructions: Array<
      | { __typename: 'BaseWalletInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'CadAccountInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'ClabeInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'GbpAccountInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'IbanInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'Layer2WalletInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'LightningInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'NgnAccountInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'PhpAccountInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'PixInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'PolygonWalletInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'SgdAccountInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'SolanaWalletInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'TronWalletInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'UpiInstruction', accountType: ExternalAccountType, reference: string | null }
      | { __typename: 'UsAccountInstruction', accountType: ExternalAccountType, reference: string | null }
    >, transaction: { id: string, status: TransactionStatus } } | null };

export type ReceiptQueryVariables = Exact<{
  transactionId: string;
  locale?: string | null | undefined;
}>;


export type ReceiptQuery = { viewer: { serverTime: ScalarText<'DateTime'>, feedCursor: string }, transaction: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, version: number, description: string | null, reconciliationReference: string | null, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, settledAt: ScalarText<'DateTime'> | null, expectedSettlementAt: ScalarText<'DateTime'> | null, exchangeRate: string | null, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } } | null, fees: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string } } | null, source:
      | { __typename: 'AccountSource', displayName: string, maskedNumber: string | null }
      | { __typename: 'RealtimeFundingSource', displayName: string, maskedNumber: string | null }
      | { __typename: 'UmaSource', umaAddress: string, displayName: string, maskedNumber: string | null }
     | null, destination:
      | { __typename: 'AccountDestination', displayName: string, maskedNumber: string | null }
      | { __typename: 'UmaDestination', umaAddress: string, displayName: string, maskedNumber: string | null }
    , counterpartyInformation: Array<{ name: string, value: string }>, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: ScalarText<'DateTime'> }>, refund: { reference: string, initiatedAt: ScalarText<'DateTime'>, settledAt: ScalarText<'DateTime'> | null, amount: { formatted: string } } | null, quote: { id: string, status: QuoteStatus } | null } | null };

export type StatementQueryVariables = Exact<{
  accountId: string;
  from: ScalarText<'DateTime'>;
  to: ScalarText<'DateTime'>;
  first?: number | null | undefined;
  after?: string | null | undefined;
  locale?: string | null | undefined;
}>;


export type StatementQuery = { account:
    | { id: string, displayName: string, maskedNumber: string, currency: { code: string, name: string } }
    | { id: string, displayName: string, maskedNumber: string, statement: { from: ScalarText<'DateTime'>, to: ScalarText<'DateTime'>, openingBalance: { amount: ScalarText<'BigInt'>, formatted: string }, closingBalance: { amount: ScalarText<'BigInt'>, formatted: string }, credits: { count: number, amount: { amount: ScalarText<'BigInt'>, formatted: string } }, debits: { count: number, amount: { amount: ScalarText<'BigInt'>, formatted: string } } }, ledgerEntries: { edges: Array<{ cursor: string, node: { id: string, kind: JournalKind, occurredAt: ScalarText<'DateTime'>, amount: { amount: ScalarText<'BigInt'>, formatted: string }, balanceAfter: { amount: ScalarText<'BigInt'>, formatted: string } | null, transaction: { id: string, type: TransactionType, description: string | null, reconciliationReference: string | null, source:
                | { displayName: string, maskedNumber: string | null }
                | { displayName: string, maskedNumber: string | null }
                | { displayName: string, maskedNumber: string | null }
               | null, destination:
                | { displayName: string, maskedNumber: string | null }
                | { displayName: string, maskedNumber: string | null }
               } | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, currency: { code: string, name: string } }
   | null };

export type MoneyPartsFragment = { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } };

type AccountParts_ExternalAccount_Fragment = { status: ExternalAccountStatus, id: string, version: number, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } };

type AccountParts_InternalAccount_Fragment = { id: string, version: number, displayName: string, maskedNumber: string, balance: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, currency: { code: string, symbol: string, decimals: number } };

export type AccountPartsFragment =
  | AccountParts_ExternalAccount_Fragment
  | AccountParts_InternalAccount_Fragment
;

export type TransactionPartsFragment = { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, description: string | null, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
    | { displayName: string, maskedNumber: string | null }
    | { displayName: string, maskedNumber: string | null }
    | { displayName: string, maskedNumber: string | null }
   | null, destination:
    | { displayName: string, maskedNumber: string | null }
    | { displayName: string, maskedNumber: string | null }
   };

export type TransactionsQueryVariables = Exact<{
  filter?: TransactionFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  locale?: string | null | undefined;
}>;


export type TransactionsQuery = { viewer: { feedCursor: string }, transactions: { edges: Array<{ cursor: string, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, description: string | null, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         | null, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TransactionQueryVariables = Exact<{
  id: string;
  locale?: string | null | undefined;
}>;


export type TransactionQuery = { transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, description: string | null, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: ScalarText<'DateTime'> }>, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
     | null, destination:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
     } | null };

export type FollowTransactionSubscriptionVariables = Exact<{
  id: string;
  locale?: string | null | undefined;
}>;


export type FollowTransactionSubscription = { transactionUpdates: { cursor: string, status: TransactionStatus, terminal: boolean, transaction: { final: boolean, expectedSettlementAt: ScalarText<'DateTime'> | null, id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, description: string | null, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, refund: { settledAt: ScalarText<'DateTime'> | null } | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: ScalarText<'DateTime'> }>, ledgerEntries: Array<{ id: string, kind: JournalKind, system: LedgerParty | null, account: { id: string, displayName: string } | null, amount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } }>, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
       | null, destination:
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
       } } };

export type FollowTransactionsSubscriptionVariables = Exact<{
  of?: FollowedTransactionsInput | null | undefined;
  locale?: string | null | undefined;
}>;


export type FollowTransactionsSubscription = { transactionUpdates: { cursor: string, previousStatus: TransactionStatus | null, status: TransactionStatus, terminal: boolean, transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, description: string | null, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
       | null, destination:
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
       } } };

export type TransactionListSubscriptionVariables = Exact<{
  filter?: TransactionFilter | null | undefined;
  first?: number | null | undefined;
  locale?: string | null | undefined;
}>;


export type TransactionListSubscription = { transactionChanges: { cursor: string, snapshot: { edges: Array<{ cursor: string, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, description: string | null, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           | null, destination:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null, changes: Array<{ op: ListOperation, changed: Array<string>, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, description: string | null, failureReason: FailureReason | null, approvalDueAt: ScalarText<'DateTime'> | null, sentAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         | null, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         } }> } };

export type FollowAccountsSubscriptionVariables = Exact<{
  of?: FollowedAccountsInput | null | undefined;
  locale?: string | null | undefined;
}>;


export type FollowAccountsSubscription = { accountUpdates: { cursor: string, account:
      | { status: ExternalAccountStatus, id: string, version: number, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } }
      | { id: string, version: number, displayName: string, maskedNumber: string, balance: { amount: ScalarText<'BigInt'>, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, currency: { code: string, symbol: string, decimals: number } }
     } };

export type SupportSearchQueryVariables = Exact<{
  customer: CustomerFilter;
  payment?: TransactionFilter | null | undefined;
}>;


export type SupportSearchQuery = { customers: { totalCount: number, edges: Array<{ cursor: string, node: { id: string, name: string | null, platformCustomerId: string, umaAddress: string, customerType: CustomerType, kycStatus: KycStatus, isDeleted: boolean, createdAt: ScalarText<'DateTime'> } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, transactions: { edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, createdAt: ScalarText<'DateTime'>, reconciliationReference: string | null, customer: { id: string, name: string | null } | null, sentAmount: { formatted: string } | null, receivedAmount: { formatted: string } | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type SupportViewQueryVariables = Exact<{
  customerId: string;
  payments?: TransactionFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SupportViewQuery = { viewer: { serverTime: ScalarText<'DateTime'>, feedCursor: string, environment: Environment }, customer: { id: string, name: string | null, platformCustomerId: string, umaAddress: string, customerType: CustomerType, kycStatus: KycStatus, isDeleted: boolean, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, metadata: Array<{ key: string, value: string }>, accounts: { edges: Array<{ cursor: string, node:
          | { __typename: 'ExternalAccount', status: ExternalAccountStatus, statusReason: string | null, isDeleted: boolean, platformAccountId: string | null, defaultUmaDepositAccount: boolean, beneficiaryVerificationStatus: BeneficiaryVerificationStatus | null, id: string, displayName: string, maskedNumber: string, createdAt: ScalarText<'DateTime'>, beneficiaryVerifiedData: { fullName: string | null } | null, accountInfo:
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
              | { accountType: ExternalAccountType }
            , metadata: Array<{ key: string, value: string }>, currency: { code: string } }
          | { __typename: 'InternalAccount', id: string, displayName: string, maskedNumber: string, createdAt: ScalarText<'DateTime'>, balance: { amount: ScalarText<'BigInt'>, formatted: string }, currency: { code: string } }
         }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, transactionTotals: Array<{ type: TransactionType, status: TransactionStatus, count: number, amount: { formatted: string } }>, transactions: { totalCount: number, edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, description: string | null, reconciliationReference: string | null, createdAt: ScalarText<'DateTime'>, updatedAt: ScalarText<'DateTime'>, settledAt: ScalarText<'DateTime'> | null, expectedSettlementAt: ScalarText<'DateTime'> | null, approvalDueAt: ScalarText<'DateTime'> | null, exchangeRate: string | null, sentAmount: { formatted: string } | null, receivedAmount: { formatted: string } | null, fees: { formatted: string } | null, source:
            | { __typename: 'AccountSource', displayName: string, maskedNumber: string | null }
            | { __typename: 'RealtimeFundingSource', displayName: string, maskedNumber: string | null }
            | { __typename: 'UmaSource', displayName: string, maskedNumber: string | null }
           | null, destination:
            | { __typename: 'AccountDestination', displayName: string, maskedNumber: string | null }
            | { __typename: 'UmaDestination', displayName: string, maskedNumber: string | null }
          , counterpartyInformation: Array<{ name: string, value: string }>, requestedReceiverInformation: Array<{ name: string, mandatory: boolean }>, metadata: Array<{ key: string, value: string }>, quote: { id: string, status: QuoteStatus, expiresAt: ScalarText<'DateTime'> } | null, refund: { reference: string, initiatedAt: ScalarText<'DateTime'>, settledAt: ScalarText<'DateTime'> | null, amount: { formatted: string } } | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: ScalarText<'DateTime'> }>, ledgerEntries: Array<{ id: string, kind: JournalKind, system: LedgerParty | null, occurredAt: ScalarText<'DateTime'>, account: { id: string } | null, amount: { formatted: string } }> } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null, webhookEndpoints: { edges: Array<{ node: { id: string, url: string, status: WebhookEndpointStatus, failingSince: ScalarText<'DateTime'> | null, deliveries: { edges: Array<{ cursor: string, node: { id: string, status: WebhookDeliveryStatus, nextAttemptAt: ScalarText<'DateTime'> | null, event: { id: string, type: EventType, occurredAt: ScalarText<'DateTime'>, transaction: { id: string } | null, customer: { id: string } | null }, attempts: Array<{ at: ScalarText<'DateTime'>, responseStatus: number | null, error: string | null }> } }> } } }> } };

type Refused_ConflictError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_CustomerInUseError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_ForbiddenError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_IdempotencyMismatchError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_InsufficientFundsError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_InvalidInputError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_LimitExceededError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_NotFoundError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_OutcomeUnknownError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_QuoteExpiredError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

type Refused_UnavailableError_Fragment = { code: RefusalCode, message: string, path: Array<string | number> | null };

export type RefusedFragment =
  | Refused_ConflictError_Fragment
  | Refused_CustomerInUseError_Fragment
  | Refused_ForbiddenError_Fragment
  | Refused_IdempotencyMismatchError_Fragment
  | Refused_InsufficientFundsError_Fragment
  | Refused_InvalidInputError_Fragment
  | Refused_LimitExceededError_Fragment
  | Refused_NotFoundError_Fragment
  | Refused_OutcomeUnknownError_Fragment
  | Refused_QuoteExpiredError_Fragment
  | Refused_UnavailableError_Fragment
;

export type ResendMutationVariables = Exact<{
  deliveryId: string;
  key: string;
}>;


export type ResendMutation = { resendWebhookDelivery:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { delivery: { id: string, status: WebhookDeliveryStatus } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type ReplayMutationVariables = Exact<{
  endpointId: string;
  eventId: string;
  key: string;
}>;


export type ReplayMutation = { replayWebhookEvents:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { count: number }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type TestEndpointMutationVariables = Exact<{
  endpointId: string;
  key: string;
}>;


export type TestEndpointMutation = { sendTestWebhook:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { delivered: boolean, responseStatus: number | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type FindCustomerQueryVariables = Exact<{
  platformCustomerId: string;
}>;


export type FindCustomerQuery = { customers: { edges: Array<{ node: { id: string } }> } };

export type CreateCustomerMutationVariables = Exact<{
  platformCustomerId: string;
  fullName: string;
  key: string;
}>;


export type CreateCustomerMutation = { createCustomer:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { customer: { id: string, kycStatus: KycStatus } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type NoteOnCustomerMutationVariables = Exact<{
  customerId: string;
  value: string;
  key: string;
}>;


export type NoteOnCustomerMutation = { updateCustomer:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { customer: { id: string } }
   };

export type AccountsOfCustomerQueryVariables = Exact<{
  customerId: string;
}>;


export type AccountsOfCustomerQuery = { internal: { edges: Array<{ node:
        | { id: string }
        | { id: string }
       }> }, dollars: { edges: Array<{ node:
        | { id: string }
        | { id: string }
       }> }, euros: { edges: Array<{ node:
        | { id: string }
        | { id: string }
       }> } };

export type NameAccountMutationVariables = Exact<{
  accountId: string;
  name: string;
  key: string;
}>;


export type NameAccountMutation = { updateExternalAccount:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { account: { id: string } }
   };

export type SetAccountStatusMutationVariables = Exact<{
  accountId: string;
  status: ExternalAccountStatus;
  key: string;
}>;


export type SetAccountStatusMutation = { sandboxSetExternalAccountStatus:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { account: { id: string, status: ExternalAccountStatus } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type FundMutationVariables = Exact<{
  accountId: string;
  amount: string;
  key: string;
}>;


export type FundMutation = { sandboxFundAccount:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { account: { id: string, balance: { formatted: string } } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type SandboxQuoteMutationVariables = Exact<{
  input: CreateQuoteInput;
  scenario?: SandboxScenarioInput | null | undefined;
}>;


export type SandboxQuoteMutation = { createQuote:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { quote: { id: string, status: QuoteStatus, totalSendingAmount: { formatted: string }, transaction: { id: string, status: TransactionStatus } } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | Record<PropertyKey, never>
   };

export type DepositMutationVariables = Exact<{
  quoteId: string;
  scenario?: SandboxScenarioInput | null | undefined;
  key: string;
}>;


export type DepositMutation = { sandboxSend:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type TransferOutMutationVariables = Exact<{
  input: TransferOutInput;
  scenario?: SandboxScenarioInput | null | undefined;
}>;


export type TransferOutMutation = { transferOut:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | Record<PropertyKey, never>
   };

export type TransferInMutationVariables = Exact<{
  input: TransferInInput;
  scenario?: SandboxScenarioInput | null | undefined;
}>;


export type TransferInMutation = { transferIn:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | Record<PropertyKey, never>
   };

export type ReceiveUmaMutationVariables = Exact<{
  input: SandboxReceiveUmaInput;
}>;


export type ReceiveUmaMutation = { sandboxReceiveUma:
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string | number> | null }
   };

export type EventPartsFragment = { id: string, cursor: string, type: EventType, occurredAt: ScalarText<'DateTime'>, subject:
    | { id: string }
    | { id: string }
    | { name: string | null, kycStatus: KycStatus, id: string }
    | { id: string }
    | { displayName: string, id: string, accountStatus: ExternalAccountStatus }
    | { displayName: string, id: string, balance: { formatted: string } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, quoteStatus: QuoteStatus, totalSendingAmount: { formatted: string }, customer: { name: string | null } | null, transaction: { id: string } }
    | { id: string, transactionStatus: TransactionStatus, sentAmount: { formatted: string } | null, customer: { name: string | null } | null }
    | { id: string }
    | { id: string }
   | null };

export type WhoamiQueryVariables = Exact<{ [key: string]: never; }>;


export type WhoamiQuery = { viewer: { kind: ViewerKind, environment: Environment, feedCursor: string } };

export type LatestEventsQueryVariables = Exact<{
  last: number;
  filter?: EventFilter | null | undefined;
}>;


export type LatestEventsQuery = { viewer: { feedCursor: string }, events: { edges: Array<{ node: { id: string, cursor: string, type: EventType, occurredAt: ScalarText<'DateTime'>, subject:
          | { id: string }
          | { id: string }
          | { name: string | null, kycStatus: KycStatus, id: string }
          | { id: string }
          | { displayName: string, id: string, accountStatus: ExternalAccountStatus }
          | { displayName: string, id: string, balance: { formatted: string } }
          | { id: string }
          | { id: string }
          | { id: string }
          | { id: string, quoteStatus: QuoteStatus, totalSendingAmount: { formatted: string }, customer: { name: string | null } | null, transaction: { id: string } }
          | { id: string, transactionStatus: TransactionStatus, sentAmount: { formatted: string } | null, customer: { name: string | null } | null }
          | { id: string }
          | { id: string }
         | null } }> } };

export type TailSubscriptionVariables = Exact<{
  filter?: EventFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type TailSubscription = { events: { id: string, cursor: string, type: EventType, occurredAt: ScalarText<'DateTime'>, subject:
      | { id: string }
      | { id: string }
      | { name: string | null, kycStatus: KycStatus, id: string }
      | { id: string }
      | { displayName: string, id: string, accountStatus: ExternalAccountStatus }
      | { displayName: string, id: string, balance: { formatted: string } }
      | { id: string }
      | { id: string }
      | { id: string }
      | { id: string, quoteStatus: QuoteStatus, totalSendingAmount: { formatted: string }, customer: { name: string | null } | null, transaction: { id: string } }
      | { id: string, transactionStatus: TransactionStatus, sentAmount: { formatted: string } | null, customer: { name: string | null } | null }
      | { id: string }
      | { id: string }
     | null } };

export type WebhookBodiesSubscriptionVariables = Exact<{
  filter?: EventFilter | null | undefined;
}>;


export type WebhookBodiesSubscription = { events: { id: string, type: EventType, cursor: string, webhookBody: string | null } };

export type WebhookBodyQueryVariables = Exact<{
  id: string;
}>;


export type WebhookBodyQuery = { node:
    | { id: string, type: EventType, cursor: string, webhookBody: string | null }
    | Record<PropertyKey, never>
   | null };

export type FollowPaymentSubscriptionVariables = Exact<{
  id: string;
  until: StreamEnd;
}>;


export type FollowPaymentSubscription = { transactionUpdates: { cursor: string, status: TransactionStatus, terminal: boolean, transaction: { id: string, type: TransactionType, final: boolean, failureReason: FailureReason | null, sentAmount: { formatted: string } | null, receivedAmount: { formatted: string } | null, fees: { formatted: string } | null, refund: { settledAt: ScalarText<'DateTime'> | null, amount: { formatted: string } } | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: ScalarText<'DateTime'>, cursor: string }> } } };

export type DeliveriesQueryVariables = Exact<{
  first: number;
  filter?: WebhookDeliveryFilter | null | undefined;
}>;


export type DeliveriesQuery = { webhookEndpoints: { edges: Array<{ node: { id: string, url: string, status: WebhookEndpointStatus, notice: string | null, deliveries: { edges: Array<{ node: { id: string, status: WebhookDeliveryStatus, nextAttemptAt: ScalarText<'DateTime'> | null, event: { id: string, type: EventType, occurredAt: ScalarText<'DateTime'> }, attempts: Array<{ at: ScalarText<'DateTime'>, durationMs: number, responseStatus: number | null, error: string | null }> } }> } } }> } };


export const AddPayee = `mutation AddPayee($input: CreateExternalAccountInput!) {
  createExternalAccount(input: $input) {
    __typename
    ... on CreateExternalAccountSuccess {
      replayed
      warnings {
        path
        message
      }
      accountEdge {
        cursor
        node {
          id
          displayName
          maskedNumber
          currency {
            code
            symbol
            decimals
          }
          ... on ExternalAccount {
            status
            beneficiaryVerificationStatus
            accountInfo {
              accountType
            }
          }
        }
      }
    }
    ... on UserError {
      code
      message
      fields {
        path
        code
        message
      }
    }
    ... on ConflictError {
      existing {
        id
      }
    }
  }
}` as Operation<AddPayeeMutation, AddPayeeMutationVariables>;

export const CancelQuote = `mutation CancelQuote($input: CancelQuoteInput!) {
  cancelQuote(input: $input) {
    __typename
    ... on CancelQuoteSuccess {
      quote {
        id
        status
        version
      }
    }
    ... on UserError {
      code
      message
    }
    ... on QuoteExpiredError {
      expiredAt
    }
    ... on ConflictError {
      existing {
        id
      }
    }
  }
}` as Operation<CancelQuoteMutation, CancelQuoteMutationVariables>;

export const CreateQuote = `mutation CreateQuote($input: CreateQuoteInput!, $locale: String = "en") {
  createQuote(input: $input) {
    __typename
    ... on CreateQuoteSuccess {
      serverTime
      quote {
        id
        status
        version
        createdAt
        expiresAt
        description
        lockedCurrencySide
        exchangeRate
        totalSendingAmount {
          amount
          decimal
          formatted(locale: $locale)
          currency {
            code
          }
        }
        totalReceivingAmount {
          amount
          decimal
          formatted(locale: $locale)
          currency {
            code
          }
        }
        feesIncluded {
          amount
          decimal
          formatted(locale: $locale)
          currency {
            code
          }
        }
        source {
          displayName
          maskedNumber
        }
        destination {
          displayName
          maskedNumber
        }
        paymentInstructions {
          __typename
          accountType
          reference
        }
        transaction {
          id
          status
        }
      }
    }
    ... on UserError {
      code
      message
      fields {
        path
        code
        message
      }
    }
    ... on InsufficientFundsError {
      available {
        formatted(locale: $locale)
      }
      required {
        formatted(locale: $locale)
      }
    }
  }
}` as Operation<CreateQuoteMutation, CreateQuoteMutationVariables>;

export const ExecuteQuote = `mutation ExecuteQuote($input: ExecuteQuoteInput!, $locale: String = "en") {
  executeQuote(input: $input) {
    __typename
    ... on ExecuteQuoteSuccess {
      replayed
      quote {
        id
        status
        version
        transaction {
          id
          status
          version
        }
      }
    }
    ... on UserError {
      code
      message
      fields {
        path
        code
        message
      }
    }
    ... on InsufficientFundsError {
      available {
        formatted(locale: $locale)
      }
      required {
        formatted(locale: $locale)
      }
    }
    ... on QuoteExpiredError {
      expiredAt
    }
    ... on ConflictError {
      existing {
        id
      }
    }
  }
}` as Operation<ExecuteQuoteMutation, ExecuteQuoteMutationVariables>;

export const History = `query History($filter: TransactionFilter = {executed: true}, $orderBy: ListOrder = CREATED, $first: Int = 20, $after: String, $locale: String = "en") {
  viewer {
    feedCursor
  }
  transactions(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    totalCount
    edges {
      cursor
      node {
        id
        type
        status
        terminal
        failureReason
        approvalDueAt
        description
        createdAt
        updatedAt
        version
        sentAmount {
          decimal
          formatted(locale: $locale)
          currency {
            code
          }
        }
        receivedAmount {
          decimal
          formatted(locale: $locale)
          currency {
            code
          }
        }
        source {
          __typename
          displayName
          maskedNumber
        }
        destination {
          __typename
          displayName
          maskedNumber
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}` as Operation<HistoryQuery, HistoryQueryVariables>;

export const Home = `query Home($recent: Int = 10, $locale: String = "en") {
  viewer {
    serverTime
    feedCursor
    expiresAt
    environment
    permissions
    grants
    customer {
      id
      name
      umaAddress
      kycStatus
      version
      accounts(first: 50, filter: {kind: INTERNAL}, sortOrder: ASC) {
        edges {
          cursor
          node {
            id
            displayName
            maskedNumber
            version
            ... on InternalAccount {
              balance {
                amount
                decimal
                formatted(locale: $locale)
                currency {
                  code
                  symbol
                  decimals
                }
              }
            }
          }
        }
      }
      transactions(first: $recent, filter: {executed: true}) {
        edges {
          cursor
          node {
            id
            type
            status
            terminal
            failureReason
            description
            createdAt
            updatedAt
            version
            sentAmount {
              decimal
              formatted(locale: $locale)
              currency {
                code
              }
            }
            receivedAmount {
              decimal
              formatted(locale: $locale)
              currency {
                code
              }
            }
            source {
              displayName
              maskedNumber
            }
            destination {
              displayName
              maskedNumber
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
}` as Operation<HomeQuery, HomeQueryVariables>;

export const LookUpReceiver = `mutation LookUpReceiver($input: LookUpReceiverInput!, $locale: String = "en") {
  lookUpReceiver(input: $input) {
    __typename
    ... on LookUpReceiverSuccess {
      serverTime
      lookup {
        id
        umaAddress
        vaspName
        expiresAt
        supportedCurrencies {
          currency {
            code
            name
            symbol
            decimals
          }
          estimatedExchangeRate
          minAmount {
            amount
            decimal
            formatted(locale: $locale)
          }
          maxAmount {
            amount
            decimal
            formatted(locale: $locale)
          }
        }
        requiredPayerFields {
          name
          mandatory
        }
      }
    }
    ... on UserError {
      code
      message
      fields {
        path
        code
        message
      }
    }
  }
}` as Operation<LookUpReceiverMutation, LookUpReceiverMutationVariables>;

export const PayIn = `query PayIn($quoteId: ID!, $locale: String = "en") {
  viewer {
    serverTime
    feedCursor
  }
  quote(id: $quoteId) {
    id
    status
    expiresAt
    totalSendingAmount {
      amount
      decimal
      formatted(locale: $locale)
      currency {
        code
      }
    }
    paymentInstructions {
      __typename
      accountType
      reference
      ... on BaseWalletInstruction {
        address
        assetType
      }
      ... on CadAccountInstruction {
        accountNumber
        bankCode
        bankName
        branchCode
      }
      ... on ClabeInstruction {
        clabeNumber
      }
      ... on GbpAccountInstruction {
        accountNumber
        bankName
        sortCode
      }
      ... on IbanInstruction {
        iban
        swiftBic
      }
      ... on Layer2WalletInstruction {
        address
        assetType
        invoice
      }
      ... on LightningInstruction {
        invoice
      }
      ... on NgnAccountInstruction {
        accountNumber
        bankName
      }
      ... on PhpAccountInstruction {
        accountNumber
        bankName
      }
      ... on PixInstruction {
        pixKey
        pixKeyType
        taxId
      }
      ... on PolygonWalletInstruction {
        address
        assetType
      }
      ... on SgdAccountInstruction {
        accountNumber
        bankName
        swiftCode
      }
      ... on SolanaWalletInstruction {
        address
        assetType
      }
      ... on TronWalletInstruction {
        address
        assetType
      }
      ... on UpiInstruction {
        vpa
      }
      ... on UsAccountInstruction {
        accountCategory
        accountNumber
        bankName
        routingNumber
      }
    }
  }
}` as Operation<PayInQuery, PayInQueryVariables>;

export const PayeeForm = `query PayeeForm($currency: CurrencyCode) {
  externalAccountForms(currency: $currency) {
    accountType
    description
    inputField
    beneficiaryRequired
    exactlyOneOf
    currencies {
      code
      symbol
      decimals
    }
    fields {
      name
      description
      required
      allowedValues
      format
      pattern
      formatDependsOn
      formatsByValue {
        value
        format
        pattern
      }
    }
  }
}` as Operation<PayeeFormQuery, PayeeFormQueryVariables>;

export const PayeePicker = `query PayeePicker($first: Int = 20, $after: String, $locale: String = "en") {
  viewer {
    permissions
    grants
    policies {
      id
      limits {
        period
        renewsAt
        leftPayments
        leftAmount {
          amount
          formatted(locale: $locale)
          currency {
            code
          }
        }
      }
    }
    customer {
      id
      kycStatus
      sources: accounts(first: 50, filter: {kind: INTERNAL}, sortOrder: ASC) {
        edges {
          cursor
          node {
            id
            displayName
            maskedNumber
            ... on InternalAccount {
              balance {
                amount
                decimal
                formatted(locale: $locale)
                currency {
                  code
                  symbol
                  decimals
                }
              }
            }
          }
        }
      }
      payees: accounts(
        first: $first
        after: $after
        filter: {kind: EXTERNAL, status: [ACTIVE]}
      ) {
        edges {
          cursor
          node {
            id
            displayName
            maskedNumber
            currency {
              code
              symbol
              decimals
            }
            ... on ExternalAccount {
              status
              beneficiaryVerificationStatus
              accountInfo {
                accountType
              }
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
      paidLast: transactions(first: 10, filter: {executed: true, type: [OUTGOING]}) {
        edges {
          cursor
          node {
            id
            createdAt
            destination {
              __typename
              displayName
              maskedNumber
              currency {
                code
              }
              ... on AccountDestination {
                accountId
              }
              ... on UmaDestination {
                umaAddress
              }
            }
          }
        }
      }
    }
  }
}` as Operation<PayeePickerQuery, PayeePickerQueryVariables>;

export const Quote = `query Quote($quoteId: ID!, $locale: String = "en") {
  viewer {
    serverTime
    feedCursor
  }
  quote(id: $quoteId) {
    id
    status
    version
    createdAt
    expiresAt
    description
    lockedCurrencySide
    exchangeRate
    totalSendingAmount {
      amount
      decimal
      formatted(locale: $locale)
      currency {
        code
      }
    }
    totalReceivingAmount {
      amount
      decimal
      formatted(locale: $locale)
      currency {
        code
      }
    }
    feesIncluded {
      amount
      decimal
      formatted(locale: $locale)
      currency {
        code
      }
    }
    source {
      displayName
      maskedNumber
    }
    destination {
      displayName
      maskedNumber
    }
    paymentInstructions {
      __typename
      accountType
      reference
    }
    transaction {
      id
      status
    }
  }
}` as Operation<QuoteQuery, QuoteQueryVariables>;

export const Receipt = `query Receipt($transactionId: ID!, $locale: String = "en") {
  viewer {
    serverTime
    feedCursor
  }
  transaction(id: $transactionId) {
    id
    type
    status
    terminal
    failureReason
    version
    description
    reconciliationReference
    createdAt
    updatedAt
    settledAt
    expectedSettlementAt
    sentAmount {
      amount
      decimal
      formatted(locale: $locale)
      currency {
        code
      }
    }
    receivedAmount {
      amount
      decimal
      formatted(locale: $locale)
      currency {
        code
      }
    }
    fees {
      amount
      decimal
      formatted(locale: $locale)
      currency {
        code
      }
    }
    exchangeRate
    source {
      __typename
      displayName
      maskedNumber
      ... on UmaSource {
        umaAddress
      }
    }
    destination {
      __typename
      displayName
      maskedNumber
      ... on UmaDestination {
        umaAddress
      }
    }
    counterpartyInformation {
      name
      value
    }
    timeline {
      status
      reason
      occurredAt
    }
    refund {
      amount {
        formatted(locale: $locale)
      }
      reference
      initiatedAt
      settledAt
    }
    quote {
      id
      status
    }
  }
}` as Operation<ReceiptQuery, ReceiptQueryVariables>;

export const Statement = `query Statement($accountId: ID!, $from: DateTime!, $to: DateTime!, $first: Int = 50, $after: String, $locale: String = "en") {
  account(id: $accountId) {
    id
    displayName
    maskedNumber
    currency {
      code
      name
    }
    ... on InternalAccount {
      statement(from: $from, to: $to) {
        from
        to
        openingBalance {
          amount
          formatted(locale: $locale)
        }
        closingBalance {
          amount
          formatted(locale: $locale)
        }
        credits {
          count
          amount {
            amount
            formatted(locale: $locale)
          }
        }
        debits {
          count
          amount {
            amount
            formatted(locale: $locale)
          }
        }
      }
      ledgerEntries(from: $from, to: $to, first: $first, after: $after) {
        edges {
          cursor
          node {
            id
            kind
            occurredAt
            amount {
              amount
              formatted(locale: $locale)
            }
            balanceAfter {
              amount
              formatted(locale: $locale)
            }
            transaction {
              id
              type
              description
              reconciliationReference
              source {
                displayName
                maskedNumber
              }
              destination {
                displayName
                maskedNumber
              }
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
}` as Operation<StatementQuery, StatementQueryVariables>;

export const Transactions = `query Transactions($filter: TransactionFilter, $first: Int, $after: String, $locale: String = "en") {
  viewer {
    feedCursor
  }
  transactions(filter: $filter, first: $first, after: $after) {
    edges {
      cursor
      node {
        ...TransactionParts
      }
    }
    pageInfo {
      endCursor
      hasNextPage
    }
  }
}
fragment TransactionParts on Transaction {
  id
  version
  type
  status
  terminal
  createdAt
  updatedAt
  description
  failureReason
  approvalDueAt
  sentAmount {
    ...MoneyParts
  }
  receivedAmount {
    ...MoneyParts
  }
  source {
    displayName
    maskedNumber
  }
  destination {
    displayName
    maskedNumber
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted(locale: $locale)
  currency {
    code
    symbol
    decimals
  }
}` as Operation<TransactionsQuery, TransactionsQueryVariables>;

export const Transaction = `query Transaction($id: ID!, $locale: String = "en") {
  transaction(id: $id) {
    ...TransactionParts
    timeline {
      status
      reason
      occurredAt
    }
  }
}
fragment TransactionParts on Transaction {
  id
  version
  type
  status
  terminal
  createdAt
  updatedAt
  description
  failureReason
  approvalDueAt
  sentAmount {
    ...MoneyParts
  }
  receivedAmount {
    ...MoneyParts
  }
  source {
    displayName
    maskedNumber
  }
  destination {
    displayName
    maskedNumber
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted(locale: $locale)
  currency {
    code
    symbol
    decimals
  }
}` as Operation<TransactionQuery, TransactionQueryVariables>;

export const FollowTransaction = `subscription FollowTransaction($id: ID!, $locale: String = "en") {
  transactionUpdates(of: {transactionId: $id}) {
    cursor
    status
    terminal
    transaction {
      ...TransactionParts
      final
      expectedSettlementAt
      refund {
        settledAt
      }
      timeline {
        status
        reason
        occurredAt
      }
      ledgerEntries {
        id
        kind
        system
        account {
          id
          displayName
        }
        amount {
          ...MoneyParts
        }
      }
    }
  }
}
fragment TransactionParts on Transaction {
  id
  version
  type
  status
  terminal
  createdAt
  updatedAt
  description
  failureReason
  approvalDueAt
  sentAmount {
    ...MoneyParts
  }
  receivedAmount {
    ...MoneyParts
  }
  source {
    displayName
    maskedNumber
  }
  destination {
    displayName
    maskedNumber
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted(locale: $locale)
  currency {
    code
    symbol
    decimals
  }
}` as Operation<FollowTransactionSubscription, FollowTransactionSubscriptionVariables>;

export const FollowTransactions = `subscription FollowTransactions($of: FollowedTransactionsInput, $locale: String = "en") {
  transactionUpdates(of: $of) {
    cursor
    previousStatus
    status
    terminal
    transaction {
      ...TransactionParts
    }
  }
}
fragment TransactionParts on Transaction {
  id
  version
  type
  status
  terminal
  createdAt
  updatedAt
  description
  failureReason
  approvalDueAt
  sentAmount {
    ...MoneyParts
  }
  receivedAmount {
    ...MoneyParts
  }
  source {
    displayName
    maskedNumber
  }
  destination {
    displayName
    maskedNumber
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted(locale: $locale)
  currency {
    code
    symbol
    decimals
  }
}` as Operation<FollowTransactionsSubscription, FollowTransactionsSubscriptionVariables>;

export const TransactionList = `subscription TransactionList($filter: TransactionFilter, $first: Int, $locale: String = "en") {
  transactionChanges(filter: $filter, waitMs: 100) {
    cursor
    snapshot(first: $first) {
      edges {
        cursor
        node {
          ...TransactionParts
        }
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
    changes {
      op
      changed
      node {
        ...TransactionParts
      }
    }
  }
}
fragment TransactionParts on Transaction {
  id
  version
  type
  status
  terminal
  createdAt
  updatedAt
  description
  failureReason
  approvalDueAt
  sentAmount {
    ...MoneyParts
  }
  receivedAmount {
    ...MoneyParts
  }
  source {
    displayName
    maskedNumber
  }
  destination {
    displayName
    maskedNumber
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted(locale: $locale)
  currency {
    code
    symbol
    decimals
  }
}` as Operation<TransactionListSubscription, TransactionListSubscriptionVariables>;

export const FollowAccounts = `subscription FollowAccounts($of: FollowedAccountsInput, $locale: String = "en") {
  accountUpdates(of: $of) {
    cursor
    account {
      ...AccountParts
    }
  }
}
fragment AccountParts on Account {
  id
  version
  displayName
  maskedNumber
  currency {
    code
    symbol
    decimals
  }
  ... on InternalAccount {
    balance {
      ...MoneyParts
    }
  }
  ... on ExternalAccount {
    status
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted(locale: $locale)
  currency {
    code
    symbol
    decimals
  }
}` as Operation<FollowAccountsSubscription, FollowAccountsSubscriptionVariables>;

export const SupportSearch = `query SupportSearch($customer: CustomerFilter!, $payment: TransactionFilter) {
  customers(first: 10, filter: $customer) {
    totalCount
    edges {
      cursor
      node {
        id
        name
        platformCustomerId
        umaAddress
        customerType
        kycStatus
        isDeleted
        createdAt
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  transactions(first: 10, filter: $payment) {
    edges {
      cursor
      node {
        id
        type
        status
        createdAt
        reconciliationReference
        customer {
          id
          name
        }
        sentAmount {
          formatted
        }
        receivedAmount {
          formatted
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}` as Operation<SupportSearchQuery, SupportSearchQueryVariables>;

export const SupportView = `query SupportView($customerId: ID!, $payments: TransactionFilter, $first: Int = 20, $after: String) {
  viewer {
    serverTime
    feedCursor
    environment
  }
  customer(id: $customerId) {
    id
    name
    platformCustomerId
    umaAddress
    customerType
    kycStatus
    isDeleted
    createdAt
    updatedAt
    metadata {
      key
      value
    }
    accounts(first: 50, filter: {isIncludingDeleted: true}) {
      edges {
        cursor
        node {
          __typename
          id
          displayName
          maskedNumber
          currency {
            code
          }
          createdAt
          ... on InternalAccount {
            balance {
              amount
              formatted
            }
          }
          ... on ExternalAccount {
            status
            statusReason
            isDeleted
            platformAccountId
            defaultUmaDepositAccount
            beneficiaryVerificationStatus
            beneficiaryVerifiedData {
              fullName
            }
            accountInfo {
              accountType
            }
            metadata {
              key
              value
            }
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    transactionTotals {
      type
      status
      count
      amount {
        formatted
      }
    }
    transactions(first: $first, after: $after, filter: $payments) {
      totalCount
      edges {
        cursor
        node {
          id
          type
          status
          terminal
          failureReason
          description
          reconciliationReference
          createdAt
          updatedAt
          settledAt
          expectedSettlementAt
          approvalDueAt
          exchangeRate
          sentAmount {
            formatted
          }
          receivedAmount {
            formatted
          }
          fees {
            formatted
          }
          source {
            __typename
            displayName
            maskedNumber
          }
          destination {
            __typename
            displayName
            maskedNumber
          }
          counterpartyInformation {
            name
            value
          }
          requestedReceiverInformation {
            name
            mandatory
          }
          metadata {
            key
            value
          }
          quote {
            id
            status
            expiresAt
          }
          refund {
            amount {
              formatted
            }
            reference
            initiatedAt
            settledAt
          }
          timeline {
            status
            reason
            occurredAt
          }
          ledgerEntries {
            id
            kind
            system
            account {
              id
            }
            amount {
              formatted
            }
            occurredAt
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
  webhookEndpoints(first: 5) {
    edges {
      node {
        id
        url
        status
        failingSince
        deliveries(first: 5, filter: {status: [PENDING, FAILED]}) {
          edges {
            cursor
            node {
              id
              status
              nextAttemptAt
              event {
                id
                type
                occurredAt
                transaction {
                  id
                }
                customer {
                  id
                }
              }
              attempts {
                at
                responseStatus
                error
              }
            }
          }
        }
      }
    }
  }
}` as Operation<SupportViewQuery, SupportViewQueryVariables>;

export const Resend = `mutation Resend($deliveryId: ID!, $key: String!) {
  resendWebhookDelivery(input: {deliveryId: $deliveryId, idempotencyKey: $key}) {
    ... on ResendWebhookDeliverySuccess {
      delivery {
        id
        status
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<ResendMutation, ResendMutationVariables>;

export const Replay = `mutation Replay($endpointId: ID!, $eventId: ID!, $key: String!) {
  replayWebhookEvents(
    input: {endpointId: $endpointId, events: {eventId: $eventId}, idempotencyKey: $key}
  ) {
    ... on ReplayWebhookEventsSuccess {
      count
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<ReplayMutation, ReplayMutationVariables>;

export const TestEndpoint = `mutation TestEndpoint($endpointId: ID!, $key: String!) {
  sendTestWebhook(input: {endpointId: $endpointId, idempotencyKey: $key}) {
    ... on SendTestWebhookSuccess {
      delivered
      responseStatus
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<TestEndpointMutation, TestEndpointMutationVariables>;

export const FindCustomer = `query FindCustomer($platformCustomerId: String!) {
  customers(first: 1, filter: {platformCustomerId: $platformCustomerId}) {
    edges {
      node {
        id
      }
    }
  }
}` as Operation<FindCustomerQuery, FindCustomerQueryVariables>;

export const CreateCustomer = `mutation CreateCustomer($platformCustomerId: String!, $fullName: String!, $key: String!) {
  createCustomer(
    input: {platformCustomerId: $platformCustomerId, details: {individual: {fullName: $fullName, birthDate: "1990-12-10", nationality: "US"}}, idempotencyKey: $key}
  ) {
    ... on CreateCustomerSuccess {
      customer {
        id
        kycStatus
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<CreateCustomerMutation, CreateCustomerMutationVariables>;

export const NoteOnCustomer = `mutation NoteOnCustomer($customerId: ID!, $value: String!, $key: String!) {
  updateCustomer(
    input: {customerId: $customerId, metadata: [{key: "changedAt", value: $value}], idempotencyKey: $key}
  ) {
    ... on UpdateCustomerSuccess {
      customer {
        id
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<NoteOnCustomerMutation, NoteOnCustomerMutationVariables>;

export const AccountsOfCustomer = `query AccountsOfCustomer($customerId: ID!) {
  internal: accounts(
    first: 1
    filter: {kind: INTERNAL, customerId: $customerId, currency: "USD"}
  ) {
    edges {
      node {
        id
      }
    }
  }
  dollars: accounts(
    first: 1
    filter: {kind: EXTERNAL, customerId: $customerId, currency: "USD", status: [ACTIVE]}
  ) {
    edges {
      node {
        id
      }
    }
  }
  euros: accounts(
    first: 1
    filter: {kind: EXTERNAL, customerId: $customerId, currency: "EUR", status: [ACTIVE]}
  ) {
    edges {
      node {
        id
      }
    }
  }
}` as Operation<AccountsOfCustomerQuery, AccountsOfCustomerQueryVariables>;

export const NameAccount = `mutation NameAccount($accountId: ID!, $name: String!, $key: String!) {
  updateExternalAccount(
    input: {accountId: $accountId, platformAccountId: $name, idempotencyKey: $key}
  ) {
    ... on UpdateExternalAccountSuccess {
      account {
        id
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<NameAccountMutation, NameAccountMutationVariables>;

export const SetAccountStatus = `mutation SetAccountStatus($accountId: ID!, $status: ExternalAccountStatus!, $key: String!) {
  sandboxSetExternalAccountStatus(
    input: {accountId: $accountId, status: $status, idempotencyKey: $key}
  ) {
    ... on SandboxSetExternalAccountStatusSuccess {
      account {
        id
        status
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<SetAccountStatusMutation, SetAccountStatusMutationVariables>;

export const Fund = `mutation Fund($accountId: ID!, $amount: Decimal!, $key: String!) {
  sandboxFundAccount(
    input: {accountId: $accountId, amount: {decimal: $amount}, idempotencyKey: $key}
  ) {
    ... on SandboxFundAccountSuccess {
      account {
        id
        balance {
          formatted
        }
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<FundMutation, FundMutationVariables>;

export const SandboxQuote = `mutation SandboxQuote($input: CreateQuoteInput!, $scenario: SandboxScenarioInput) {
  createQuote(input: $input, sandboxScenario: $scenario) {
    ... on CreateQuoteSuccess {
      quote {
        id
        status
        totalSendingAmount {
          formatted
        }
        transaction {
          id
          status
        }
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<SandboxQuoteMutation, SandboxQuoteMutationVariables>;

export const Deposit = `mutation Deposit($quoteId: ID!, $scenario: SandboxScenarioInput, $key: String!) {
  sandboxSend(
    input: {quoteId: $quoteId, currency: "USD", sandboxScenario: $scenario, idempotencyKey: $key}
  ) {
    ... on SandboxSendSuccess {
      transaction {
        id
        status
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<DepositMutation, DepositMutationVariables>;

export const TransferOut = `mutation TransferOut($input: TransferOutInput!, $scenario: SandboxScenarioInput) {
  transferOut(input: $input, sandboxScenario: $scenario) {
    ... on TransferOutSuccess {
      transaction {
        id
        status
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<TransferOutMutation, TransferOutMutationVariables>;

export const TransferIn = `mutation TransferIn($input: TransferInInput!, $scenario: SandboxScenarioInput) {
  transferIn(input: $input, sandboxScenario: $scenario) {
    ... on TransferInSuccess {
      transaction {
        id
        status
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<TransferInMutation, TransferInMutationVariables>;

export const ReceiveUma = `mutation ReceiveUma($input: SandboxReceiveUmaInput!) {
  sandboxReceiveUma(input: $input) {
    ... on SandboxReceiveUmaSuccess {
      transaction {
        id
        status
      }
    }
    ...Refused
  }
}
fragment Refused on UserError {
  code
  message
  path
}` as Operation<ReceiveUmaMutation, ReceiveUmaMutationVariables>;

export const Whoami = `query Whoami {
  viewer {
    kind
    environment
    feedCursor
  }
}` as Operation<WhoamiQuery, WhoamiQueryVariables>;

export const LatestEvents = `query LatestEvents($last: Int!, $filter: EventFilter) {
  viewer {
    feedCursor
  }
  events(last: $last, filter: $filter) {
    edges {
      node {
        ...EventParts
      }
    }
  }
}
fragment EventParts on Event {
  id
  cursor
  type
  occurredAt
  subject {
    id
    ... on Transaction {
      transactionStatus: status
      sentAmount {
        formatted
      }
      customer {
        name
      }
    }
    ... on Quote {
      quoteStatus: status
      totalSendingAmount {
        formatted
      }
      customer {
        name
      }
      transaction {
        id
      }
    }
    ... on InternalAccount {
      displayName
      balance {
        formatted
      }
    }
    ... on ExternalAccount {
      displayName
      accountStatus: status
    }
    ... on Customer {
      name
      kycStatus
    }
  }
}` as Operation<LatestEventsQuery, LatestEventsQueryVariables>;

export const Tail = `subscription Tail($filter: EventFilter, $after: String) {
  events(filter: $filter, after: $after) {
    ...EventParts
  }
}
fragment EventParts on Event {
  id
  cursor
  type
  occurredAt
  subject {
    id
    ... on Transaction {
      transactionStatus: status
      sentAmount {
        formatted
      }
      customer {
        name
      }
    }
    ... on Quote {
      quoteStatus: status
      totalSendingAmount {
        formatted
      }
      customer {
        name
      }
      transaction {
        id
      }
    }
    ... on InternalAccount {
      displayName
      balance {
        formatted
      }
    }
    ... on ExternalAccount {
      displayName
      accountStatus: status
    }
    ... on Customer {
      name
      kycStatus
    }
  }
}` as Operation<TailSubscription, TailSubscriptionVariables>;

export const WebhookBodies = `subscription WebhookBodies($filter: EventFilter) {
  events(filter: $filter) {
    id
    type
    cursor
    webhookBody
  }
}` as Operation<WebhookBodiesSubscription, WebhookBodiesSubscriptionVariables>;

export const WebhookBody = `query WebhookBody($id: ID!) {
  node(id: $id) {
    ... on Event {
      id
      type
      cursor
      webhookBody
    }
  }
}` as Operation<WebhookBodyQuery, WebhookBodyQueryVariables>;

export const FollowPayment = `subscription FollowPayment($id: ID!, $until: StreamEnd!) {
  transactionUpdates(of: {transactionId: $id}, until: $until) {
    cursor
    status
    terminal
    transaction {
      id
      type
      final
      failureReason
      sentAmount {
        formatted
      }
      receivedAmount {
        formatted
      }
      fees {
        formatted
      }
      refund {
        amount {
          formatted
        }
        settledAt
      }
      timeline {
        status
        reason
        occurredAt
        cursor
      }
    }
  }
}` as Operation<FollowPaymentSubscription, FollowPaymentSubscriptionVariables>;

export const Deliveries = `query Deliveries($first: Int!, $filter: WebhookDeliveryFilter) {
  webhookEndpoints(first: 20) {
    edges {
      node {
        id
        url
        status
        notice
        deliveries(first: $first, filter: $filter) {
          edges {
            node {
              id
              status
              nextAttemptAt
              event {
                id
                type
                occurredAt
              }
              attempts {
                at
                durationMs
                responseStatus
                error
              }
            }
          }
        }
      }
    }
  }
}` as Operation<DeliveriesQuery, DeliveriesQueryVariables>;
