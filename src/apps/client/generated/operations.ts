// Made by `npm run client:generate`. Do not edit.
import { document } from '../document.ts';

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** CHECKING or SAVINGS. */
export type AccountCategory =
  /** checking. */
  | 'CHECKING'
  /** savings. */
  | 'SAVINGS';

/** Pay to an account. */
export type AccountDestinationInput = {
  /** InternalAccount:… or ExternalAccount:… */
  accountId: string;
};

/** Pay from an account. */
export type AccountSourceInput = {
  /** InternalAccount:…, or ExternalAccount:… of a bank, which the money is pulled from. */
  accountId: string;
};

/** A postal address. */
export type AddressInput = {
  /** City. */
  city?: string | null | undefined;
  /** ISO 3166-1 alpha-2. */
  country: string;
  /** Street and number. */
  line1: string;
  /** Second line. */
  line2?: string | null | undefined;
  /** Postal code. */
  postalCode: string;
  /** State or province. */
  state?: string | null | undefined;
};

/** An amount of money: exactly one field. The same amount in either form is the same input for an idempotency key. */
export type AmountInput =
  {   /** In major units, exact: "12.50". */
  decimal: string; units?: never; }
  |  { decimal?: never;   /** In the currency's smallest unit: 1250 is 12.50 where there are 2 decimals. */
  units: string | number; };

/** A range of amounts in one currency. Both ends belong to it. */
export type AmountRange = {
  /** The currency of both. */
  currency: string;
  /** At most this, in the currency's smallest unit. */
  max?: string | number | null | undefined;
  /** At least this, in the currency's smallest unit. */
  min?: string | number | null | undefined;
};

/** A wallet on Base. */
export type BaseWalletInput = {
  /** Address of the wallet: 0x and 40 hexadecimal digits. */
  address: string;
};

/** Who owns a bank account: exactly one field. */
export type BeneficiaryInput =
  {   /** A company. */
  business: BusinessBeneficiaryInput; individual?: never; }
  |  { business?: never;   /** A person. */
  individual: IndividualBeneficiaryInput; };

/** Whether the account's owner is who the platform says. */
export type BeneficiaryVerificationStatus =
  /** The receiving institution checks. */
  | 'CHECKED_BY_RECEIVING_FI'
  /** The names agree. */
  | 'MATCHED'
  /** The names differ. */
  | 'NOT_MATCHED'
  /** The names nearly agree. */
  | 'PARTIAL_MATCH'
  /** Being checked. */
  | 'PENDING'
  /** The rail cannot tell. */
  | 'UNSUPPORTED';

/** A company that owns an account. */
export type BusinessBeneficiaryInput = {
  /** Postal address. */
  address?: AddressInput | null | undefined;
  /** Legal name. */
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
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** Transit number, 5 digits. */
  branchCode: string;
};

/** The input of cancelQuote. */
export type CancelQuoteInput = {
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** Quote:… */
  quoteId: string;
};

/** A bank account in Mexico. */
export type ClabeAccountInput = {
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** CLABE, 18 digits. */
  clabeNumber: string;
};

/** What a platform lets the app of a customer do besides its permissions, for that customer. */
export type ClientGrant =
  /** Register the customer's own external accounts (createExternalAccount). */
  | 'ADD_BENEFICIARIES'
  /** Look receivers at UMA addresses up (lookUpReceiver), and quote with these lookups. */
  | 'LOOK_UP_RECEIVERS';

/** The input of createExternalAccount. */
export type CreateExternalAccountInput = {
  /** Its details: exactly one kind. */
  accountInfo: ExternalAccountInfoInput;
  /** Who owns it: required for bank accounts, not for wallets. */
  beneficiary?: BeneficiaryInput | null | undefined;
  /** Its currency. */
  currency: string;
  /** Its owner; without one it is the platform’s own, or that of the customer whose app this is. */
  customerId?: string | null | undefined;
  /** Let incoming UMA payments of the customer go here. Replaces an earlier default. */
  defaultUmaDepositAccount?: boolean | null | undefined;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** Key-value pairs that the platform stores with it. Client tokens cannot set them. At most 100. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** The platform's own id of it. */
  platformAccountId?: string | null | undefined;
};

/** The input of createQuote. */
export type CreateQuoteInput = {
  /** Memo. */
  description?: string | null | undefined;
  /** Where it goes. */
  destination: PaymentDestinationInput;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** Execute at once, at the current rate. */
  immediatelyExecute?: boolean | null | undefined;
  /** The fixed amount: 1 to 9000000000000000 smallest units of its currency. */
  lockedCurrencyAmount: AmountInput;
  /** Which amount is fixed. */
  lockedCurrencySide: LockedCurrencySide;
  /** Lookup:…, of the receiver; required for a UMA destination. */
  lookupId?: string | null | undefined;
  /** Key-value pairs that the platform stores with it. Client tokens cannot set them. The transaction has the same. At most 100. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** Information about the sender, for a UMA address: all mandatory fields of the lookup's requiredPayerFields, and PURPOSE_OF_PAYMENT. An external account takes PURPOSE_OF_PAYMENT too. At most 100. */
  senderCustomerInfo?: Array<InformationFieldInput> | null | undefined;
  /** Where the money comes from. */
  source: PaymentSourceInput;
};

/** Which customers (specification 4.11). What is given combines with AND. */
export type CustomerFilter = {
  /** Created then or later. */
  createdAfter?: string | null | undefined;
  /** Created then or earlier. */
  createdBefore?: string | null | undefined;
  /** Individuals or businesses. */
  customerType?: CustomerType | null | undefined;
  /** Also deleted ones. */
  isIncludingDeleted?: boolean | null | undefined;
  /** Any of these. At most 100. */
  kycStatus?: Array<KycStatus> | null | undefined;
  /** How the full or legal name begins, in any case. */
  name?: string | null | undefined;
  /** The platform's own id. */
  platformCustomerId?: string | null | undefined;
  /** The UMA address, in any case. */
  umaAddress?: string | null | undefined;
  /** Last changed then or later. */
  updatedAfter?: string | null | undefined;
  /** Last changed then or earlier. */
  updatedBefore?: string | null | undefined;
};

/** A customer of the platform: exactly one field. */
export type CustomerReferenceInput =
  {   /** Customer:… */
  customerId: string; umaAddress?: never; }
  |  { customerId?: never;   /** The customer's UMA address, $name@domain. */
  umaAddress: string; };

/** What kind of customer. */
export type CustomerType =
  /** A company. */
  | 'BUSINESS'
  /** A person. */
  | 'INDIVIDUAL';

/** Whether the world outside is simulated. */
export type Environment =
  /** Real. */
  | 'PRODUCTION'
  /** Simulated. */
  | 'SANDBOX';

/** Which events. What is given combines with AND. */
export type EventFilter = {
  /** Of this customer. */
  customerId?: string | null | undefined;
  /** Of this transaction and its quote. */
  transactionId?: string | null | undefined;
  /** Any of these. At most 100. */
  types?: Array<EventType> | null | undefined;
};

/** What kind of change an event reports. */
export type EventType =
  /** An internal account was made, or an account changed in any other way. In the feed only. */
  | 'ACCOUNT_CHANGE'
  /** An internal account's balance changed. */
  | 'ACCOUNT_STATUS'
  /** A customer changed in any other way: its details, its deletion, a check that is pending. In the feed only. */
  | 'CUSTOMER_CHANGE'
  /** An external account was made or changed its status. In the feed only. */
  | 'EXTERNAL_ACCOUNT_STATUS'
  /** An incoming transaction was made or changed its status. */
  | 'INCOMING_PAYMENT'
  /** A customer's identity check was decided. */
  | 'KYC_STATUS'
  /** An outgoing transaction was made or changed its status. */
  | 'OUTGOING_PAYMENT'
  /** A quote was made or changed its status. In the feed only. */
  | 'QUOTE_STATUS'
  /** A test of a webhook endpoint. */
  | 'TEST'
  /** A webhook delivery ended. In the feed only. */
  | 'WEBHOOK_DELIVERY';

/** The input of executeQuote. */
export type ExecuteQuoteInput = {
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** Quote:… */
  quoteId: string;
};

/** The details of an external account: exactly one field, its kind. */
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
  |  { baseWallet?: never; cadAccount?: never; clabe?: never; gbpAccount?: never; iban?: never;   /** A wallet on the second-layer bitcoin network. */
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

/** Whether an external account can take part in payments: only an ACTIVE one can. */
export type ExternalAccountStatus =
  /** Usable. */
  | 'ACTIVE'
  /** Disabled. */
  | 'INACTIVE'
  /** Being verified. */
  | 'PENDING'
  /** Being looked at again. */
  | 'UNDER_REVIEW';

/** What kind of bank account or wallet. */
export type ExternalAccountType =
  /** Wallet on Base. */
  | 'BASE_WALLET'
  /** Canadian bank account. */
  | 'CAD_ACCOUNT'
  /** Mexican bank account. */
  | 'CLABE'
  /** British bank account. */
  | 'GBP_ACCOUNT'
  /** Bank account with an IBAN. */
  | 'IBAN'
  /** Wallet on the second-layer bitcoin network. */
  | 'LAYER2_WALLET'
  /** Lightning destination. */
  | 'LIGHTNING'
  /** Nigerian bank account. */
  | 'NGN_ACCOUNT'
  /** Philippine bank account. */
  | 'PHP_ACCOUNT'
  /** Brazilian Pix key. */
  | 'PIX'
  /** Wallet on Polygon. */
  | 'POLYGON_WALLET'
  /** Singapore bank account. */
  | 'SGD_ACCOUNT'
  /** Wallet on Solana. */
  | 'SOLANA_WALLET'
  /** Wallet on Tron. */
  | 'TRON_WALLET'
  /** Indian UPI address. */
  | 'UPI'
  /** US bank account. */
  | 'US_ACCOUNT';

/** Why a transaction failed (specification 2.6). Open to growth. */
export type FailureReason =
  /** The receiver's address could not be resolved. */
  | 'LNURLP_FAILED'
  /** Required data about the receiver is missing. */
  | 'MISSING_MANDATORY_PAYEE_DATA'
  /** Conversion or delivery to the destination failed. */
  | 'OFFRAMP_FAILED'
  /** The platform did not answer the approval question in time. */
  | 'PAYMENT_APPROVAL_TIMED_OUT'
  /** The platform's answer to the approval question was an error. */
  | 'PAYMENT_APPROVAL_WEBHOOK_ERROR'
  /** The receiving side did not answer the pay request. */
  | 'PAY_REQUEST_FAILED'
  /** Something failed on the way to settlement; the timeline tells what. */
  | 'QUOTE_EXECUTION_FAILED'
  /** The money came after the quote had expired. */
  | 'QUOTE_EXPIRED';

/** Which accounts a stream follows: exactly one field. */
export type FollowedAccountsInput =
  {   /** Only this one: InternalAccount:… or ExternalAccount:… */
  accountId: string; customerId?: never; }
  |  { accountId?: never;   /** Only this customer's. */
  customerId: string; };

/** Which transactions a stream follows: exactly one field. */
export type FollowedTransactionsInput =
  {   /** Only this customer's. */
  customerId: string; transactionId?: never; transactionIds?: never; }
  |  { customerId?: never;   /** Only this one. */
  transactionId: string; transactionIds?: never; }
  |  { customerId?: never; transactionId?: never;   /** Only these: at least one. At most 100. */
  transactionIds: Array<string>; };

/** A bank account in the United Kingdom. */
export type GbpAccountInput = {
  /** Account number, 8 digits. */
  accountNumber: string;
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** Sort code, 6 digits. */
  sortCode: string;
};

/** A bank account with an IBAN, in the euro area. */
export type IbanAccountInput = {
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** IBAN, 15 to 34 characters. */
  iban: string;
  /** BIC of the bank; needed where the country of the IBAN is outside SEPA. */
  swiftBic?: string | null | undefined;
};

/** A person who owns an account. */
export type IndividualBeneficiaryInput = {
  /** Postal address. */
  address?: AddressInput | null | undefined;
  /** Day of birth. */
  birthDate?: string | null | undefined;
  /** Full name. */
  fullName: string;
  /** ISO 3166-1 alpha-2. */
  nationality?: string | null | undefined;
};

/** One fact about a party. */
export type InformationFieldInput = {
  /** FULL_NAME, BIRTH_DATE, NATIONALITY, PURPOSE_OF_PAYMENT, … */
  name: string;
  /** The value. Of PURPOSE_OF_PAYMENT: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL or OTHER. */
  value: string;
};

/** What a ledger entry was posted for. */
export type JournalKind =
  /** The operator of the service corrects the balance of an account. */
  | 'ADJUSTMENT'
  /** Money comes in that is passed on. */
  | 'ARRIVAL'
  /** Money is taken from its source. */
  | 'DEBIT'
  /** The money is delivered. */
  | 'DELIVERY'
  /** Money comes in. */
  | 'DEPOSIT'
  /** A provider has moved another amount than was promised. */
  | 'DIFFERENCE'
  /** The money goes back to its source. */
  | 'REFUND'
  /** The rail gives back after all. */
  | 'RESUMPTION'
  /** A bank returns what was delivered. */
  | 'RETURN'
  /** The rail neither delivers nor gives back. */
  | 'SUSPENSION'
  /** Money goes to an account here without a quote. */
  | 'TRANSFER';

/** Where a customer's identity check stands. Only APPROVED and MANUALLY_APPROVED may move money. */
export type KycStatus =
  /** Passed. */
  | 'APPROVED'
  /** Given up. */
  | 'CANCELED'
  /** Must be done again. */
  | 'EXPIRED'
  /** Passed, by a person. */
  | 'MANUALLY_APPROVED'
  /** Not passed, by a person. */
  | 'MANUALLY_REJECTED'
  /** Under way. */
  | 'PENDING_REVIEW'
  /** Not passed. */
  | 'REJECTED';

/** A wallet on the second-layer bitcoin network. */
export type Layer2WalletInput = {
  /** Address of the wallet. */
  address: string;
};

/** A party of a ledger entry that is no account of the caller's. */
export type LedgerParty =
  /** The other side of corrections by the operator of the service. */
  | 'ADJUSTMENTS'
  /** Money that is under way. */
  | 'CLEARING'
  /** What a provider has moved beyond what was promised, or less. The operator of the service bears it. */
  | 'DIFFERENCES'
  /** The service's fees. */
  | 'FEES'
  /** The other side of a conversion. */
  | 'LIQUIDITY'
  /** An account that the caller may not see. */
  | 'OTHER_ACCOUNT'
  /** What is beyond the rails. */
  | 'OUTSIDE'
  /** Money that has neither arrived nor come back. */
  | 'SUSPENSE';

/** A Lightning destination: exactly one of an invoice, an offer and an address. */
export type LightningInput =
  {   /** BOLT 12 offer. */
  bolt12: string; invoice?: never; lightningAddress?: never; }
  |  { bolt12?: never;   /** BOLT 11 invoice, paid once. */
  invoice: string; lightningAddress?: never; }
  |  { bolt12?: never; invoice?: never;   /** Lightning address, user@domain. */
  lightningAddress: string; };

/** What a change does to a followed list. */
export type ListOperation =
  /** The row is in the list now, and was not before: a new one, or one that did not match. */
  | 'ENTER'
  /** The row matches the filter no more. */
  | 'LEAVE'
  /** The row is in the list, as before, and has changed. */
  | 'UPDATE';

/** What the order of a list goes by. */
export type ListOrder =
  /** When its rows were created. */
  | 'CREATED'
  /** When its rows last changed. */
  | 'UPDATED';

/** Which side's amount is fixed; the other is computed from the rate. */
export type LockedCurrencySide =
  /** What arrives. */
  | 'RECEIVING'
  /** What is sent, fees included. */
  | 'SENDING';

/** The input of lookUpReceiver. */
export type LookUpReceiverInput = {
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** The customer who would send. The app of a customer may leave it out: then it is that customer. */
  sender?: CustomerReferenceInput | null | undefined;
  /** $name@domain. */
  umaAddress: string;
};

/** Something to note on a record: at most 20 entries, each key once. */
export type MetadataInput = {
  /** 1 to 40 letters, digits, dots, hyphens and underscores, beginning with a letter or digit. */
  key: string;
  /** At most 500 characters. */
  value: string;
};

/** A bank account in Nigeria. */
export type NgnAccountInput = {
  /** Account number (NUBAN), 10 digits. */
  accountNumber: string;
  /** Name of the bank. */
  bankName: string;
  /** What the account is paid for: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL, OTHER. */
  purposeOfPayment: PurposeOfPayment;
};

/** Where the money goes: exactly one field. */
export type PaymentDestinationInput =
  {   /** To an account. */
  account: AccountDestinationInput; uma?: never; }
  |  { account?: never;   /** To a UMA address. */
  uma: UmaDestinationInput; };

/** Where the money comes from: exactly one field. */
export type PaymentSourceInput =
  {   /** From an account. */
  account: AccountSourceInput; realtimeFunding?: never; }
  |  { account?: never;   /** From outside, for this payment alone. */
  realtimeFunding: RealtimeFundingSourceInput; };

/** What a token may do. */
export type Permission =
  /** Manage customers, accounts, tokens and settings. */
  | 'MANAGE'
  /** Move money. */
  | 'TRANSACT'
  /** Read everything. */
  | 'VIEW';

/** A bank account in the Philippines. */
export type PhpAccountInput = {
  /** Account number. */
  accountNumber: string;
  /** Name of the bank. */
  bankName: string;
};

/** A Pix key in Brazil. */
export type PixAccountInput = {
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** The key, in the form of its type. */
  pixKey: string;
  /** CPF, CNPJ, EMAIL, PHONE or RANDOM. */
  pixKeyType: PixKeyType;
  /** Tax number (CPF or CNPJ) of the owner. */
  taxId: string;
};

/** CPF, CNPJ, EMAIL, PHONE or RANDOM. */
export type PixKeyType =
  /** cnpj. */
  | 'CNPJ'
  /** cpf. */
  | 'CPF'
  /** email. */
  | 'EMAIL'
  /** phone. */
  | 'PHONE'
  /** random. */
  | 'RANDOM';

/** A wallet on Polygon. */
export type PolygonWalletInput = {
  /** Address of the wallet: 0x and 40 hexadecimal digits. */
  address: string;
};

/** What the account is paid for: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL, OTHER. */
export type PurposeOfPayment =
  /** donation. */
  | 'DONATION'
  /** education. */
  | 'EDUCATION'
  /** gift. */
  | 'GIFT'
  /** goods or services. */
  | 'GOODS_OR_SERVICES'
  /** health or medical. */
  | 'HEALTH_OR_MEDICAL'
  /** loan payment. */
  | 'LOAN_PAYMENT'
  /** other. */
  | 'OTHER'
  /** real estate purchase. */
  | 'REAL_ESTATE_PURCHASE'
  /** self. */
  | 'SELF'
  /** tax payment. */
  | 'TAX_PAYMENT'
  /** travel. */
  | 'TRAVEL'
  /** utility bill. */
  | 'UTILITY_BILL';

/** Where a quote stands (specification 3.1). */
export type QuoteStatus =
  /** Delivered. */
  | 'COMPLETED'
  /** Neither executed nor funded in time. */
  | 'EXPIRED'
  /** Not delivered; its transaction tells why. */
  | 'FAILED'
  /** Its rate is locked; it waits for execution or funding until it expires. */
  | 'PENDING'
  /** It is paid and under way. */
  | 'PROCESSING';

/** Pay in from outside, for this payment alone. */
export type RealtimeFundingSourceInput = {
  /** In which currency. */
  currency: string;
  /** Who pays. */
  customerId: string;
};

/** Why something was refused, for programs: the same codes as in REST. New codes may be added. */
export type RefusalCode =
  /** The operator of the service has frozen the account. */
  | 'ACCOUNT_FROZEN'
  /** There is no such account. */
  | 'ACCOUNT_NOT_FOUND'
  /** The amount is too small or too large. */
  | 'AMOUNT_OUT_OF_RANGE'
  /** It collides with what is there, or with what has happened. */
  | 'CONFLICT'
  /** The customer is deleted. */
  | 'CUSTOMER_DELETED'
  /** The operator of the service has frozen the customer. */
  | 'CUSTOMER_FROZEN'
  /** The customer holds money here, or has payments under way. */
  | 'CUSTOMER_IN_USE'
  /** There is no such event. */
  | 'EVENT_NOT_FOUND'
  /** The token may not do this. */
  | 'FORBIDDEN'
  /** The idempotency key was used before with another input. */
  | 'IDEMPOTENCY_MISMATCH'
  /** The source does not hold enough. */
  | 'INSUFFICIENT_BALANCE'
  /** The amount is not positive, or has more decimal places than its currency. */
  | 'INVALID_AMOUNT'
  /** The details of an external account are wrong, or it is not ACTIVE. */
  | 'INVALID_BANK_ACCOUNT'
  /** The currency is unknown, or not possible here. */
  | 'INVALID_CURRENCY'
  /** A field is malformed, or asks for what cannot be; or several fields are, each with a code of its own. */
  | 'INVALID_INPUT'
  /** The receiver cannot be paid. */
  | 'INVALID_RECEIVER'
  /** The UMA address is malformed, or not in a domain of the platform. */
  | 'INVALID_UMA_ADDRESS'
  /** A policy does not allow the payment, or not now. */
  | 'LIMIT_EXCEEDED'
  /** There is no such lookup, or it has expired. */
  | 'LOOKUP_REQUEST_NOT_FOUND'
  /** A fact about the sender that the receiver demands is missing. */
  | 'MISSING_MANDATORY_USER_INFO'
  /** It may have happened or not. */
  | 'OUTCOME_UNKNOWN'
  /** The quote is past its expiry. */
  | 'QUOTE_EXPIRED'
  /** There is no such quote. */
  | 'QUOTE_NOT_FOUND'
  /** The receiving side gave no quote. */
  | 'QUOTE_REQUEST_FAILED'
  /** The token or its platform does too much at once. Nothing has happened. */
  | 'RATE_LIMITED'
  /** Source and destination are the same. */
  | 'SELF_PAYMENT'
  /** Not possible at the moment. Nothing has happened. */
  | 'SERVICE_UNAVAILABLE'
  /** There is no such token. */
  | 'TOKEN_NOT_FOUND'
  /** There is no such transaction. */
  | 'TRANSACTION_NOT_FOUND'
  /** The payment does not wait for approval. */
  | 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL'
  /** The UMA address is taken. */
  | 'UMA_ADDRESS_EXISTS'
  /** Nobody has this UMA address. */
  | 'UMA_NOT_FOUND'
  /** There is no such customer. */
  | 'USER_NOT_FOUND'
  /** A customer who takes part may not move money. */
  | 'USER_NOT_READY'
  /** A test event could not be delivered. In REST only. */
  | 'WEBHOOK_DELIVERY_ERROR'
  /** There is no such webhook delivery. */
  | 'WEBHOOK_DELIVERY_NOT_FOUND'
  /** There is no such webhook endpoint. */
  | 'WEBHOOK_ENDPOINT_NOT_FOUND'
  /** The settings name no webhook endpoint. In REST only. */
  | 'WEBHOOK_ENDPOINT_NOT_SET';

/** How the receiving platform decides on a simulated incoming payment. */
export type SandboxApproval =
  /** It approves at once, with what it knows of its customer. */
  | 'APPROVE'
  /** It rejects at once: the payment ends REJECTED. */
  | 'REJECT';

/** How a simulated deposit for a real-time funded quote arrives. */
export type SandboxDeposit =
  /** After the quote's expiry: it fails with QUOTE_EXPIRED, the money is in the customer's account. */
  | 'LATE'
  /** Half of it: the payment fails, the money is in the customer's account of that currency. */
  | 'SHORT'
  /** Two of it: the first funds the quote, the second is in the customer's account. */
  | 'TWICE';

/** The input of sandboxReceiveUma. */
export type SandboxReceiveUmaInput = {
  /** What arrives: 1 to 9000000000000000 smallest units of the currency. */
  amount: AmountInput;
  /** The currency that arrives. */
  currency: string;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** The receiving customer. */
  receiver: CustomerReferenceInput;
  /** More facts about the receiver that the sender requires: TAX_ID, … At most 100. */
  requestedReceiverFields?: Array<string> | null | undefined;
  /** What shall happen to it once approved. */
  sandboxScenario?: SandboxScenarioInput | null | undefined;
  /** Any; of sandbox.uma.money, $pending.long.usd takes long, $fail.compliance.usd and $fail.timeout.usd fail after approval. */
  senderUmaAddress: string;
};

/** Sandbox only: what shall happen to a payment, for what the magic suffixes cannot say. Without it, the suffix decides. */
export type SandboxScenarioInput = {
  /** The decision of the platform, for sandboxReceiveUma: nobody need answer the approval question. A decision that comes before stands. */
  approval?: SandboxApproval | null | undefined;
  /** How long the step takes, in milliseconds, instead of the usual pace: 0 to 3600000. */
  delayMs?: number | null | undefined;
  /** How the deposit arrives. For sandboxSend, and for createQuote of a real-time funded quote. */
  deposit?: SandboxDeposit | null | undefined;
  /** After the delay it ends FAILED, for this reason. Where a deposit funds it: QUOTE_EXPIRED or QUOTE_EXECUTION_FAILED. */
  failureReason?: FailureReason | null | undefined;
  /** With failureReason: the money does not come back either. It waits in SUSPENSE, visible in the ledger. */
  refundFails?: boolean | null | undefined;
  /** After the delay the receiving side refuses it: it ends REJECTED. */
  reject?: boolean | null | undefined;
  /** A payment that leaves the installation completes, and so many milliseconds later the bank returns it: COMPLETED becomes REFUNDED. */
  returnAfterMs?: number | null | undefined;
  /** The step that `delayMs` and `failureReason` are about: SETTLEMENT when left out. The other fields are of the settlement. */
  step?: SandboxStep | null | undefined;
};

/** A step of a simulated payment. */
export type SandboxStep =
  /** Of sandboxReceiveUma: the sender has looked the receiver up, the payment is CREATED, and the pay request comes, fails, or does not come before the life of a quote is over (EXPIRED). */
  | 'PAY_REQUEST'
  /** Of a quote that is paid from an external account: the collection from it, before anything is debited or converted. */
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

/** What a stream of named transactions lasts until. */
export type StreamEnd =
  /** The point after which nothing can follow: no bank return, and no refund that waits. */
  | 'FINAL'
  /** Their first terminal statuses. */
  | 'TERMINAL';

/** Which transactions (specification 4.4). What is given combines with AND. */
export type TransactionFilter = {
  /** The account on either side, source or destination. */
  accountId?: string | null | undefined;
  /** What is sent or what is received lies in this range. */
  amount?: AmountRange | null | undefined;
  /** Created then or later. */
  createdAfter?: string | null | undefined;
  /** Created then or earlier. */
  createdBefore?: string | null | undefined;
  /** The currency of what is sent or of what is received. */
  currency?: string | null | undefined;
  /** The customer whose transaction it is. */
  customerId?: string | null | undefined;
  /** True: without the payments of quotes that nobody has executed or funded (they are PENDING, then EXPIRED). False: only those. */
  executed?: boolean | null | undefined;
  /** Any of these. At most 100. */
  failureReason?: Array<FailureReason> | null | undefined;
  /** The platform's own id of that customer. */
  platformCustomerId?: string | null | undefined;
  /** The destination: an account id or a UMA address. */
  receiverAccountIdentifier?: string | null | undefined;
  /** The reconciliation reference. */
  reference?: string | null | undefined;
  /** The source: an account id or a UMA address. */
  senderAccountIdentifier?: string | null | undefined;
  /** Any of these. At most 100. */
  status?: Array<TransactionStatus> | null | undefined;
  /** Any of these. At most 100. */
  type?: Array<TransactionType> | null | undefined;
  /** Last changed then or later. */
  updatedAfter?: string | null | undefined;
  /** Last changed then or earlier. */
  updatedBefore?: string | null | undefined;
};

/** Where a transaction stands (specification 3.2). */
export type TransactionStatus =
  /** Delivered. */
  | 'COMPLETED'
  /** Announced, not yet acted on. */
  | 'CREATED'
  /** Its quote expired. */
  | 'EXPIRED'
  /** Not delivered: failureReason tells why, refund where the money went. */
  | 'FAILED'
  /** Waits: for execution, funds, approval or the bank. */
  | 'PENDING'
  /** The money is under way. */
  | 'PROCESSING'
  /** Delivered, then returned. */
  | 'REFUNDED'
  /** The receiving side or the platform refused it; the money is back. */
  | 'REJECTED';

/** Which way the money goes, seen from the customer. */
export type TransactionType =
  /** Towards the customer. */
  | 'INCOMING'
  /** From the customer. */
  | 'OUTGOING';

/** The input of transferIn. */
export type TransferInInput = {
  /** What is pulled, no more than the destination may hold. Without it the provider pulls what the account offers; the sandbox pulls 10000 smallest units. */
  amount?: AmountInput | null | undefined;
  /** Memo. */
  description?: string | null | undefined;
  /** InternalAccount:… */
  destinationAccountId: string;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey: string;
  /** Key-value pairs that the platform stores with it. Client tokens cannot set them. At most 100. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** ExternalAccount:… */
  sourceAccountId: string;
};

/** The input of transferOut. */
export type TransferOutInput = {
  /** What is sent: 1 to 9000000000000000 smallest units of the accounts' currency. */
  amount: AmountInput;
  /** Memo. */
  description?: string | null | undefined;
  /** ExternalAccount:… */
  destinationAccountId: string;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey: string;
  /** Key-value pairs that the platform stores with it. Client tokens cannot set them. At most 100. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** InternalAccount:… */
  sourceAccountId: string;
};

/** A wallet on Tron. */
export type TronWalletInput = {
  /** Address of the wallet: T and 33 characters. */
  address: string;
};

/** Pay to a UMA address, with the lookupId of a receiver lookup. */
export type UmaDestinationInput = {
  /** What shall arrive; the receiver's first currency when left out. */
  currency?: string | null | undefined;
  /** $name@domain. */
  umaAddress: string;
};

/** A UPI address in India. */
export type UpiAccountInput = {
  /** Virtual payment address, user@bank. */
  vpa: string;
};

/** A bank account in the United States. */
export type UsAccountInput = {
  /** CHECKING or SAVINGS. */
  accountCategory: AccountCategory;
  /** Account number, 4 to 17 digits. */
  accountNumber: string;
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** ABA routing number, 9 digits. */
  routingNumber: string;
};

/** What kind of caller. */
export type ViewerKind =
  /** An app, with a client token. */
  | 'CLIENT'
  /** A platform's server, with an API token. */
  | 'PLATFORM';

/** Which deliveries. */
export type WebhookDeliveryFilter = {
  /** Any of these. At most 100. */
  status?: Array<WebhookDeliveryStatus> | null | undefined;
};

/** Where the delivery of an event to an endpoint stands. */
export type WebhookDeliveryStatus =
  /** The receiver has it: it answered 2xx or 409. */
  | 'DELIVERED'
  /** No further attempt will be made, unless it is replayed. */
  | 'FAILED'
  /** Under way, or waiting for its next attempt. */
  | 'PENDING';

/** How a webhook endpoint fares. */
export type WebhookEndpointStatus =
  /** It gets nothing until it is enabled again; its notice says why. */
  | 'DISABLED'
  /** It gets events. */
  | 'ENABLED'
  /** Its last attempts failed; they go on by the schedule until one succeeds or it is disabled. */
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
    | { __typename: 'QuoteExpiredError', code: RefusalCode, message: string, expiredAt: string }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string }
   };

export type CreateQuoteMutationVariables = Exact<{
  input: CreateQuoteInput;
  locale?: string;
}>;


export type CreateQuoteMutation = { createQuote:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'CreateQuoteSuccess', serverTime: string, quote: { id: string, status: QuoteStatus, version: number, createdAt: string, expiresAt: string, description: string | null, lockedCurrencySide: LockedCurrencySide, exchangeRate: string, totalSendingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string } }, totalReceivingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string } }, feesIncluded: { amount: string, decimal: string, formatted: string, currency: { code: string } }, source:
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
   };

export type ExecuteQuoteMutationVariables = Exact<{
  input: ExecuteQuoteInput;
  locale?: string;
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
    | { __typename: 'QuoteExpiredError', code: RefusalCode, message: string, expiredAt: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
   };

export type HistoryQueryVariables = Exact<{
  filter?: TransactionFilter | null | undefined;
  orderBy?: ListOrder;
  first?: number;
  after?: string | null | undefined;
  locale?: string;
}>;


export type HistoryQuery = { viewer: { feedCursor: string }, transactions: { totalCount: number, edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, description: string | null, createdAt: string, updatedAt: string, version: number, sentAmount: { decimal: string, formatted: string, currency: { code: string } } | null, receivedAmount: { decimal: string, formatted: string, currency: { code: string } } | null, source:
          | { __typename: 'AccountSource', displayName: string, maskedNumber: string | null }
          | { __typename: 'RealtimeFundingSource', displayName: string, maskedNumber: string | null }
          | { __typename: 'UmaSource', displayName: string, maskedNumber: string | null }
         | null, destination:
          | { __typename: 'AccountDestination', displayName: string, maskedNumber: string | null }
          | { __typename: 'UmaDestination', displayName: string, maskedNumber: string | null }
         } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type HomeQueryVariables = Exact<{
  recent?: number;
  locale?: string;
}>;


export type HomeQuery = { viewer: { serverTime: string, feedCursor: string, expiresAt: string | null, environment: Environment, permissions: Array<Permission>, grants: Array<ClientGrant>, customer: { id: string, name: string | null, umaAddress: string, kycStatus: KycStatus, version: number, accounts: { edges: Array<{ cursor: string, node:
            | { id: string, displayName: string, maskedNumber: string, version: number }
            | { id: string, displayName: string, maskedNumber: string, version: number, balance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } }
           }> }, transactions: { edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, description: string | null, createdAt: string, updatedAt: string, version: number, sentAmount: { decimal: string, formatted: string, currency: { code: string } } | null, receivedAmount: { decimal: string, formatted: string, currency: { code: string } } | null, source:
              | { displayName: string, maskedNumber: string | null }
              | { displayName: string, maskedNumber: string | null }
              | { displayName: string, maskedNumber: string | null }
             | null, destination:
              | { displayName: string, maskedNumber: string | null }
              | { displayName: string, maskedNumber: string | null }
             } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } };

export type LookUpReceiverMutationVariables = Exact<{
  input: LookUpReceiverInput;
  locale?: string;
}>;


export type LookUpReceiverMutation = { lookUpReceiver:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'LookUpReceiverSuccess', serverTime: string, lookup: { id: string, umaAddress: string, vaspName: string | null, expiresAt: string, supportedCurrencies: Array<{ estimatedExchangeRate: string | null, currency: { code: string, name: string, symbol: string, decimals: number }, minAmount: { amount: string, decimal: string, formatted: string }, maxAmount: { amount: string, decimal: string, formatted: string } }>, requiredPayerFields: Array<{ name: string, mandatory: boolean }> } }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, fields: Array<{ path: Array<string | number>, code: RefusalCode, message: string }> }
   };

export type PayInQueryVariables = Exact<{
  quoteId: string;
  locale?: string;
}>;


export type PayInQuery = { viewer: { serverTime: string, feedCursor: string }, quote: { id: string, status: QuoteStatus, expiresAt: string, totalSendingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string } }, paymentInstructions: Array<
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


export type PayeeFormQuery = { externalAccountForms: Array<{ accountType: ExternalAccountType, description: string, inputField: string, isBeneficiaryRequired: boolean, exactlyOneOf: Array<string>, currencies: Array<{ code: string, symbol: string, decimals: number }>, fields: Array<{ name: string, description: string, isRequired: boolean, allowedValues: Array<string> | null, format: string | null, pattern: string | null, formatDependsOn: string | null, formatsByValue: Array<{ value: string, format: string, pattern: string }> }> }> };

export type PayeePickerQueryVariables = Exact<{
  first?: number;
  after?: string | null | undefined;
  locale?: string;
}>;


export type PayeePickerQuery = { viewer: { permissions: Array<Permission>, grants: Array<ClientGrant>, customer: { id: string, kycStatus: KycStatus, sources: { edges: Array<{ cursor: string, node:
            | { id: string, displayName: string, maskedNumber: string }
            | { id: string, displayName: string, maskedNumber: string, balance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } }
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
           }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, paidLast: { edges: Array<{ cursor: string, node: { id: string, createdAt: string, destination:
              | { __typename: 'AccountDestination', accountId: string, displayName: string, maskedNumber: string | null, currency: { code: string } }
              | { __typename: 'UmaDestination', umaAddress: string, displayName: string, maskedNumber: string | null, currency: { code: string } }
             } }> } } | null } };

export type QuoteQueryVariables = Exact<{
  quoteId: string;
  locale?: string;
}>;


export type QuoteQuery = { viewer: { serverTime: string, feedCursor: string }, quote: { id: string, status: QuoteStatus, version: number, createdAt: string, expiresAt: string, description: string | null, lockedCurrencySide: LockedCurrencySide, exchangeRate: string, totalSendingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string } }, totalReceivingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string } }, feesIncluded: { amount: string, decimal: string, formatted: string, currency: { code: string } }, source:
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
  locale?: string;
}>;


export type ReceiptQuery = { viewer: { serverTime: string, feedCursor: string }, transaction: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, version: number, description: string | null, reconciliationReference: string | null, createdAt: string, updatedAt: string, settledAt: string | null, expectedSettlementAt: string | null, exchangeRate: string | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string } } | null, fees: { amount: string, decimal: string, formatted: string, currency: { code: string } } | null, source:
      | { __typename: 'AccountSource', displayName: string, maskedNumber: string | null }
      | { __typename: 'RealtimeFundingSource', displayName: string, maskedNumber: string | null }
      | { __typename: 'UmaSource', umaAddress: string, displayName: string, maskedNumber: string | null }
     | null, destination:
      | { __typename: 'AccountDestination', displayName: string, maskedNumber: string | null }
      | { __typename: 'UmaDestination', umaAddress: string, displayName: string, maskedNumber: string | null }
    , counterpartyInformation: Array<{ name: string, value: string }>, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: string }>, refund: { reference: string, initiatedAt: string, settledAt: string | null, amount: { formatted: string } } | null, quote: { id: string, status: QuoteStatus } | null } | null };

export type StatementQueryVariables = Exact<{
  accountId: string;
  from: string;
  to: string;
  first?: number;
  after?: string | null | undefined;
  locale?: string;
}>;


export type StatementQuery = { account:
    | { id: string, displayName: string, maskedNumber: string, currency: { code: string, name: string } }
    | { id: string, displayName: string, maskedNumber: string, statement: { from: string, to: string, openingBalance: { amount: string, formatted: string }, closingBalance: { amount: string, formatted: string }, credits: { count: number, amount: { amount: string, formatted: string } }, debits: { count: number, amount: { amount: string, formatted: string } } }, ledgerEntries: { edges: Array<{ cursor: string, node: { id: string, kind: JournalKind, occurredAt: string, amount: { amount: string, formatted: string }, balanceAfter: { amount: string, formatted: string } | null, transaction: { id: string, type: TransactionType, description: string | null, reconciliationReference: string | null, source:
                | { displayName: string, maskedNumber: string | null }
                | { displayName: string, maskedNumber: string | null }
                | { displayName: string, maskedNumber: string | null }
               | null, destination:
                | { displayName: string, maskedNumber: string | null }
                | { displayName: string, maskedNumber: string | null }
               } | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, currency: { code: string, name: string } }
   | null };

export type MoneyPartsFragment = { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } };

type AccountParts_ExternalAccount_Fragment = { status: ExternalAccountStatus, id: string, version: number, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } };

type AccountParts_InternalAccount_Fragment = { id: string, version: number, displayName: string, maskedNumber: string, balance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, currency: { code: string, symbol: string, decimals: number } };

export type AccountPartsFragment =
  | AccountParts_ExternalAccount_Fragment
  | AccountParts_InternalAccount_Fragment
;

export type TransactionPartsFragment = { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
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
  locale?: string;
}>;


export type TransactionsQuery = { viewer: { feedCursor: string }, transactions: { edges: Array<{ cursor: string, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         | null, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TransactionQueryVariables = Exact<{
  id: string;
  locale?: string;
}>;


export type TransactionQuery = { transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: string }>, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
     | null, destination:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
     } | null };

export type FollowTransactionSubscriptionVariables = Exact<{
  id: string;
  locale?: string;
}>;


export type FollowTransactionSubscription = { transactionUpdates: { cursor: string, status: TransactionStatus, terminal: boolean, transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: string }>, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
       | null, destination:
        | { displayName: string, maskedNumber: string | null }
        | { displayName: string, maskedNumber: string | null }
       } } };

export type FollowTransactionsSubscriptionVariables = Exact<{
  of?: FollowedTransactionsInput | null | undefined;
  locale?: string;
}>;


export type FollowTransactionsSubscription = { transactionUpdates: { cursor: string, previousStatus: TransactionStatus | null, status: TransactionStatus, terminal: boolean, transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
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
  locale?: string;
}>;


export type TransactionListSubscription = { transactionChanges: { cursor: string, snapshot: { edges: Array<{ cursor: string, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           | null, destination:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null, changes: Array<{ op: ListOperation, changed: Array<string>, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         | null, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         } }> } };

export type FollowAccountsSubscriptionVariables = Exact<{
  of?: FollowedAccountsInput | null | undefined;
  locale?: string;
}>;


export type FollowAccountsSubscription = { accountUpdates: { cursor: string, account:
      | { status: ExternalAccountStatus, id: string, version: number, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } }
      | { id: string, version: number, displayName: string, maskedNumber: string, balance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, currency: { code: string, symbol: string, decimals: number } }
     } };

export type SupportSearchQueryVariables = Exact<{
  customer: CustomerFilter;
  payment?: TransactionFilter | null | undefined;
}>;


export type SupportSearchQuery = { customers: { totalCount: number, edges: Array<{ cursor: string, node: { id: string, name: string | null, platformCustomerId: string, umaAddress: string, customerType: CustomerType, kycStatus: KycStatus, isDeleted: boolean, createdAt: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, transactions: { edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, createdAt: string, reconciliationReference: string | null, customer: { id: string, name: string | null } | null, sentAmount: { formatted: string } | null, receivedAmount: { formatted: string } | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type SupportViewQueryVariables = Exact<{
  customerId: string;
  payments?: TransactionFilter | null | undefined;
  first?: number;
  after?: string | null | undefined;
}>;


export type SupportViewQuery = { viewer: { serverTime: string, feedCursor: string, environment: Environment }, customer: { id: string, name: string | null, platformCustomerId: string, umaAddress: string, customerType: CustomerType, kycStatus: KycStatus, isDeleted: boolean, createdAt: string, updatedAt: string, metadata: Array<{ key: string, value: string }>, accounts: { edges: Array<{ cursor: string, node:
          | { __typename: 'ExternalAccount', status: ExternalAccountStatus, statusReason: string | null, isDeleted: boolean, platformAccountId: string | null, defaultUmaDepositAccount: boolean, beneficiaryVerificationStatus: BeneficiaryVerificationStatus | null, id: string, displayName: string, maskedNumber: string, createdAt: string, beneficiaryVerifiedData: { fullName: string | null } | null, accountInfo:
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
          | { __typename: 'InternalAccount', id: string, displayName: string, maskedNumber: string, createdAt: string, balance: { amount: string, formatted: string }, currency: { code: string } }
         }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, transactionTotals: Array<{ type: TransactionType, status: TransactionStatus, count: number, amount: { formatted: string } }>, transactions: { totalCount: number, edges: Array<{ cursor: string, node: { id: string, type: TransactionType, status: TransactionStatus, terminal: boolean, failureReason: FailureReason | null, description: string | null, reconciliationReference: string | null, createdAt: string, updatedAt: string, settledAt: string | null, expectedSettlementAt: string | null, approvalDueAt: string | null, exchangeRate: string | null, sentAmount: { formatted: string } | null, receivedAmount: { formatted: string } | null, fees: { formatted: string } | null, source:
            | { __typename: 'AccountSource', displayName: string, maskedNumber: string | null }
            | { __typename: 'RealtimeFundingSource', displayName: string, maskedNumber: string | null }
            | { __typename: 'UmaSource', displayName: string, maskedNumber: string | null }
           | null, destination:
            | { __typename: 'AccountDestination', displayName: string, maskedNumber: string | null }
            | { __typename: 'UmaDestination', displayName: string, maskedNumber: string | null }
          , counterpartyInformation: Array<{ name: string, value: string }>, requestedReceiverInformation: Array<{ name: string, mandatory: boolean }>, metadata: Array<{ key: string, value: string }>, quote: { id: string, status: QuoteStatus, expiresAt: string } | null, refund: { reference: string, initiatedAt: string, settledAt: string | null, amount: { formatted: string } } | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: string }>, ledgerEntries: Array<{ kind: JournalKind, system: LedgerParty | null, occurredAt: string, account: { id: string } | null, amount: { formatted: string } }> } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null, webhookEndpoints: { edges: Array<{ node: { id: string, url: string, status: WebhookEndpointStatus, failingSince: string | null, deliveries: { edges: Array<{ cursor: string, node: { id: string, status: WebhookDeliveryStatus, nextAttemptAt: string | null, event: { id: string, type: EventType, occurredAt: string, transaction: { id: string } | null, customer: { id: string } | null }, attempts: Array<{ at: string, responseStatus: number | null, error: string | null }> } }> } } }> } };

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

export type EventPartsFragment = { id: string, cursor: string, type: EventType, occurredAt: string, subject:
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


export type LatestEventsQuery = { viewer: { feedCursor: string }, events: { edges: Array<{ node: { id: string, cursor: string, type: EventType, occurredAt: string, subject:
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


export type TailSubscription = { events: { id: string, cursor: string, type: EventType, occurredAt: string, subject:
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


export type FollowPaymentSubscription = { transactionUpdates: { cursor: string, status: TransactionStatus, terminal: boolean, final: boolean, transaction: { id: string, type: TransactionType, failureReason: FailureReason | null, sentAmount: { formatted: string } | null, receivedAmount: { formatted: string } | null, fees: { formatted: string } | null, refund: { settledAt: string | null, amount: { formatted: string } } | null, timeline: Array<{ status: TransactionStatus, reason: string | null, occurredAt: string, cursor: string }> } } };

export type DeliveriesQueryVariables = Exact<{
  first: number;
  filter?: WebhookDeliveryFilter | null | undefined;
}>;


export type DeliveriesQuery = { webhookEndpoints: { edges: Array<{ node: { id: string, url: string, status: WebhookEndpointStatus, notice: string | null, deliveries: { edges: Array<{ node: { id: string, status: WebhookDeliveryStatus, nextAttemptAt: string | null, event: { id: string, type: EventType, occurredAt: string }, attempts: Array<{ at: string, durationMs: number, responseStatus: number | null, error: string | null }> } }> } } }> } };


export const AddPayee = /* @__PURE__ */ document<AddPayeeMutation, AddPayeeMutationVariables>(`mutation AddPayee($input: CreateExternalAccountInput!) {
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
}`);

export const CancelQuote = /* @__PURE__ */ document<CancelQuoteMutation, CancelQuoteMutationVariables>(`mutation CancelQuote($input: CancelQuoteInput!) {
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
}`);

export const CreateQuote = /* @__PURE__ */ document<CreateQuoteMutation, CreateQuoteMutationVariables>(`mutation CreateQuote($input: CreateQuoteInput!, $locale: String! = "en") {
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
}`);

export const ExecuteQuote = /* @__PURE__ */ document<ExecuteQuoteMutation, ExecuteQuoteMutationVariables>(`mutation ExecuteQuote($input: ExecuteQuoteInput!, $locale: String! = "en") {
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
}`);

export const History = /* @__PURE__ */ document<HistoryQuery, HistoryQueryVariables>(`query History($filter: TransactionFilter = {executed: true}, $orderBy: ListOrder! = CREATED, $first: Int! = 20, $after: String, $locale: String! = "en") {
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
}`);

export const Home = /* @__PURE__ */ document<HomeQuery, HomeQueryVariables>(`query Home($recent: Int! = 10, $locale: String! = "en") {
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
}`);

export const LookUpReceiver = /* @__PURE__ */ document<LookUpReceiverMutation, LookUpReceiverMutationVariables>(`mutation LookUpReceiver($input: LookUpReceiverInput!, $locale: String! = "en") {
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
}`);

export const PayIn = /* @__PURE__ */ document<PayInQuery, PayInQueryVariables>(`query PayIn($quoteId: ID!, $locale: String! = "en") {
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
}`);

export const PayeeForm = /* @__PURE__ */ document<PayeeFormQuery, PayeeFormQueryVariables>(`query PayeeForm($currency: CurrencyCode) {
  externalAccountForms(currency: $currency) {
    accountType
    description
    inputField
    isBeneficiaryRequired
    exactlyOneOf
    currencies {
      code
      symbol
      decimals
    }
    fields {
      name
      description
      isRequired
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
}`);

export const PayeePicker = /* @__PURE__ */ document<PayeePickerQuery, PayeePickerQueryVariables>(`query PayeePicker($first: Int! = 20, $after: String, $locale: String! = "en") {
  viewer {
    permissions
    grants
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
}`);

export const Quote = /* @__PURE__ */ document<QuoteQuery, QuoteQueryVariables>(`query Quote($quoteId: ID!, $locale: String! = "en") {
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
}`);

export const Receipt = /* @__PURE__ */ document<ReceiptQuery, ReceiptQueryVariables>(`query Receipt($transactionId: ID!, $locale: String! = "en") {
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
}`);

export const Statement = /* @__PURE__ */ document<StatementQuery, StatementQueryVariables>(`query Statement($accountId: ID!, $from: DateTime!, $to: DateTime!, $first: Int! = 50, $after: String, $locale: String! = "en") {
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
      ledgerEntries(
        from: $from
        to: $to
        first: $first
        after: $after
        sortOrder: ASC
      ) {
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
}`);

export const Transactions = /* @__PURE__ */ document<TransactionsQuery, TransactionsQueryVariables>(`query Transactions($filter: TransactionFilter, $first: Int, $after: String, $locale: String! = "en") {
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
}`);

export const Transaction = /* @__PURE__ */ document<TransactionQuery, TransactionQueryVariables>(`query Transaction($id: ID!, $locale: String! = "en") {
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
}`);

export const FollowTransaction = /* @__PURE__ */ document<FollowTransactionSubscription, FollowTransactionSubscriptionVariables>(`subscription FollowTransaction($id: ID!, $locale: String! = "en") {
  transactionUpdates(of: {transactionId: $id}) {
    cursor
    status
    terminal
    transaction {
      ...TransactionParts
      timeline {
        status
        reason
        occurredAt
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
}`);

export const FollowTransactions = /* @__PURE__ */ document<FollowTransactionsSubscription, FollowTransactionsSubscriptionVariables>(`subscription FollowTransactions($of: FollowedTransactionsInput, $locale: String! = "en") {
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
}`);

export const TransactionList = /* @__PURE__ */ document<TransactionListSubscription, TransactionListSubscriptionVariables>(`subscription TransactionList($filter: TransactionFilter, $first: Int, $locale: String! = "en") {
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
}`);

export const FollowAccounts = /* @__PURE__ */ document<FollowAccountsSubscription, FollowAccountsSubscriptionVariables>(`subscription FollowAccounts($of: FollowedAccountsInput, $locale: String! = "en") {
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
}`);

export const SupportSearch = /* @__PURE__ */ document<SupportSearchQuery, SupportSearchQueryVariables>(`query SupportSearch($customer: CustomerFilter!, $payment: TransactionFilter) {
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
}`);

export const SupportView = /* @__PURE__ */ document<SupportViewQuery, SupportViewQueryVariables>(`query SupportView($customerId: ID!, $payments: TransactionFilter, $first: Int! = 20, $after: String) {
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
}`);

export const Resend = /* @__PURE__ */ document<ResendMutation, ResendMutationVariables>(`mutation Resend($deliveryId: ID!, $key: String!) {
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
}`);

export const Replay = /* @__PURE__ */ document<ReplayMutation, ReplayMutationVariables>(`mutation Replay($endpointId: ID!, $eventId: ID!, $key: String!) {
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
}`);

export const TestEndpoint = /* @__PURE__ */ document<TestEndpointMutation, TestEndpointMutationVariables>(`mutation TestEndpoint($endpointId: ID!, $key: String!) {
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
}`);

export const FindCustomer = /* @__PURE__ */ document<FindCustomerQuery, FindCustomerQueryVariables>(`query FindCustomer($platformCustomerId: String!) {
  customers(first: 1, filter: {platformCustomerId: $platformCustomerId}) {
    edges {
      node {
        id
      }
    }
  }
}`);

export const CreateCustomer = /* @__PURE__ */ document<CreateCustomerMutation, CreateCustomerMutationVariables>(`mutation CreateCustomer($platformCustomerId: String!, $fullName: String!, $key: String!) {
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
}`);

export const NoteOnCustomer = /* @__PURE__ */ document<NoteOnCustomerMutation, NoteOnCustomerMutationVariables>(`mutation NoteOnCustomer($customerId: ID!, $value: String!, $key: String!) {
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
}`);

export const AccountsOfCustomer = /* @__PURE__ */ document<AccountsOfCustomerQuery, AccountsOfCustomerQueryVariables>(`query AccountsOfCustomer($customerId: ID!) {
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
}`);

export const NameAccount = /* @__PURE__ */ document<NameAccountMutation, NameAccountMutationVariables>(`mutation NameAccount($accountId: ID!, $name: String!, $key: String!) {
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
}`);

export const SetAccountStatus = /* @__PURE__ */ document<SetAccountStatusMutation, SetAccountStatusMutationVariables>(`mutation SetAccountStatus($accountId: ID!, $status: ExternalAccountStatus!, $key: String!) {
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
}`);

export const Fund = /* @__PURE__ */ document<FundMutation, FundMutationVariables>(`mutation Fund($accountId: ID!, $amount: Decimal!, $key: String!) {
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
}`);

export const SandboxQuote = /* @__PURE__ */ document<SandboxQuoteMutation, SandboxQuoteMutationVariables>(`mutation SandboxQuote($input: CreateQuoteInput!, $scenario: SandboxScenarioInput) {
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
}`);

export const Deposit = /* @__PURE__ */ document<DepositMutation, DepositMutationVariables>(`mutation Deposit($quoteId: ID!, $scenario: SandboxScenarioInput, $key: String!) {
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
}`);

export const TransferOut = /* @__PURE__ */ document<TransferOutMutation, TransferOutMutationVariables>(`mutation TransferOut($input: TransferOutInput!, $scenario: SandboxScenarioInput) {
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
}`);

export const TransferIn = /* @__PURE__ */ document<TransferInMutation, TransferInMutationVariables>(`mutation TransferIn($input: TransferInInput!, $scenario: SandboxScenarioInput) {
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
}`);

export const ReceiveUma = /* @__PURE__ */ document<ReceiveUmaMutation, ReceiveUmaMutationVariables>(`mutation ReceiveUma($input: SandboxReceiveUmaInput!) {
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
}`);

export const Whoami = /* @__PURE__ */ document<WhoamiQuery, WhoamiQueryVariables>(`query Whoami {
  viewer {
    kind
    environment
    feedCursor
  }
}`);

export const LatestEvents = /* @__PURE__ */ document<LatestEventsQuery, LatestEventsQueryVariables>(`query LatestEvents($last: Int!, $filter: EventFilter) {
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
}`);

export const Tail = /* @__PURE__ */ document<TailSubscription, TailSubscriptionVariables>(`subscription Tail($filter: EventFilter, $after: String) {
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
}`);

export const WebhookBodies = /* @__PURE__ */ document<WebhookBodiesSubscription, WebhookBodiesSubscriptionVariables>(`subscription WebhookBodies($filter: EventFilter) {
  events(filter: $filter) {
    id
    type
    cursor
    webhookBody
  }
}`);

export const WebhookBody = /* @__PURE__ */ document<WebhookBodyQuery, WebhookBodyQueryVariables>(`query WebhookBody($id: ID!) {
  node(id: $id) {
    ... on Event {
      id
      type
      cursor
      webhookBody
    }
  }
}`);

export const FollowPayment = /* @__PURE__ */ document<FollowPaymentSubscription, FollowPaymentSubscriptionVariables>(`subscription FollowPayment($id: ID!, $until: StreamEnd!) {
  transactionUpdates(of: {transactionId: $id}, until: $until) {
    cursor
    status
    terminal
    final
    transaction {
      id
      type
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
}`);

export const Deliveries = /* @__PURE__ */ document<DeliveriesQuery, DeliveriesQueryVariables>(`query Deliveries($first: Int!, $filter: WebhookDeliveryFilter) {
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
}`);
