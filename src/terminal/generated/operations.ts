// Made by `npm run client:generate`. Do not edit.
import { document } from '../../client/document.ts';

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

/** A wallet on Base. */
export type BaseWalletInput = {
  /** Address of the wallet: 0x and 40 hexadecimal digits. */
  address: string;
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

/** A bank account in Mexico. */
export type ClabeAccountInput = {
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** CLABE, 18 digits. */
  clabeNumber: string;
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
  /** The fixed amount, in its currency's smallest unit: 1 to 9000000000000000. This or lockedCurrencyAmountDecimal. */
  lockedCurrencyAmount?: string | number | null | undefined;
  /** The same in major units, exact: "12.50". Instead of the field of smallest units. */
  lockedCurrencyAmountDecimal?: string | null | undefined;
  /** Which amount is fixed. */
  lockedCurrencySide: LockedCurrencySide;
  /** Lookup:…, of the receiver; required for a UMA destination. */
  lookupId?: string | null | undefined;
  /** The metadata that the platform keeps with it (decision 69). Not for client tokens. The transaction has the same. At most 100. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** Information about the sender, for a UMA address: all mandatory fields of the lookup's requiredPayerFields, and PURPOSE_OF_PAYMENT. An external account takes PURPOSE_OF_PAYMENT too (decision 48). At most 100. */
  senderCustomerInfo?: Array<InformationFieldInput> | null | undefined;
  /** Where the money comes from. */
  source: PaymentSourceInput;
};

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

/** A bank account in the United Kingdom. */
export type GbpAccountInput = {
  /** Account number, 8 digits. */
  accountNumber: string;
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** Sort code, 6 digits, with or without dashes. */
  sortCode: string;
};

/** A bank account with an IBAN, in the euro area. */
export type IbanAccountInput = {
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** IBAN, 15 to 34 characters, without spaces. */
  iban: string;
  /** BIC of the bank. */
  swiftBic: string;
};

/** One fact about a party. */
export type InformationFieldInput = {
  /** FULL_NAME, BIRTH_DATE, NATIONALITY, PURPOSE_OF_PAYMENT, … */
  name: string;
  /** The value. Of PURPOSE_OF_PAYMENT: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL or OTHER. */
  value: string;
};

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

/** A Lightning destination: exactly one of an invoice, an offer and an address. */
export type LightningInput = {
  /** BOLT 12 offer. */
  bolt12?: string | null | undefined;
  /** BOLT 11 invoice, paid once. */
  invoice?: string | null | undefined;
  /** Lightning address, user@domain. */
  lightningAddress?: string | null | undefined;
};

/** Which side's amount is fixed; the other is computed from the rate. */
export type LockedCurrencySide =
  /** What arrives. */
  | 'RECEIVING'
  /** What is sent, fees included. */
  | 'SENDING';

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
  /** In which currency, e.g. USDC or BTC. */
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
  /** The receiving customer. This or receiverUmaAddress. */
  customerId?: string | null | undefined;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** The receiving customer's UMA address. This or customerId. */
  receiverUmaAddress?: string | null | undefined;
  /** In its smallest unit: 1 to 9000000000000000. This or receivingCurrencyAmountDecimal. */
  receivingCurrencyAmount?: string | number | null | undefined;
  /** The same in major units, exact: "12.50". Instead of the field of smallest units. */
  receivingCurrencyAmountDecimal?: string | null | undefined;
  /** The currency that arrives. */
  receivingCurrencyCode: string;
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
  /** In the currency's smallest unit, no more than the destination may hold; without one the rail decides (the sandbox: 10000). */
  amount?: string | number | null | undefined;
  /** The same in major units, exact: "12.50". Instead of the field of smallest units. */
  amountDecimal?: string | null | undefined;
  /** Memo. */
  description?: string | null | undefined;
  /** InternalAccount:… */
  destinationAccountId: string;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** The metadata that the platform keeps with it (decision 69). Not for client tokens. At most 100. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** ExternalAccount:… */
  sourceAccountId: string;
};

/** The input of transferOut. */
export type TransferOutInput = {
  /** In the currency's smallest unit: 1 to 9000000000000000. This or amountDecimal. */
  amount?: string | number | null | undefined;
  /** The same in major units, exact: "12.50". Instead of the field of smallest units. */
  amountDecimal?: string | null | undefined;
  /** Memo. */
  description?: string | null | undefined;
  /** ExternalAccount:… */
  destinationAccountId: string;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** The metadata that the platform keeps with it (decision 69). Not for client tokens. At most 100. */
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

type Refused_ConflictError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_CustomerInUseError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_ForbiddenError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_IdempotencyMismatchError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_InsufficientFundsError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_InvalidInputError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_NotFoundError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_OutcomeUnknownError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_QuoteExpiredError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

type Refused_UnavailableError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null };

export type RefusedFragment =
  | Refused_ConflictError_Fragment
  | Refused_CustomerInUseError_Fragment
  | Refused_ForbiddenError_Fragment
  | Refused_IdempotencyMismatchError_Fragment
  | Refused_InsufficientFundsError_Fragment
  | Refused_InvalidInputError_Fragment
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
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { delivery: { id: string, status: WebhookDeliveryStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type ReplayMutationVariables = Exact<{
  endpointId: string;
  eventId: string;
  key: string;
}>;


export type ReplayMutation = { replayWebhookEvents:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { count: number }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type EndpointsQueryVariables = Exact<{ [key: string]: never; }>;


export type EndpointsQuery = { webhookEndpoints: { edges: Array<{ node: { id: string, url: string, status: WebhookEndpointStatus } }> } };

export type TestEndpointMutationVariables = Exact<{
  endpointId: string;
  key: string;
}>;


export type TestEndpointMutation = { sendTestWebhook:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { delivered: boolean, responseStatus: number | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
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
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { customer: { id: string, kycStatus: KycStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type NoteOnCustomerMutationVariables = Exact<{
  customerId: string;
  value: string;
  key: string;
}>;


export type NoteOnCustomerMutation = { updateCustomer:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { customer: { id: string } }
   };

export type SetKycStatusMutationVariables = Exact<{
  customerId: string;
  status: KycStatus;
  key: string;
}>;


export type SetKycStatusMutation = { sandboxSetKycStatus:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { customer: { id: string, kycStatus: KycStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
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

export type AddAccountMutationVariables = Exact<{
  customerId: string;
  currency: string;
  info: ExternalAccountInfoInput;
  key: string;
}>;


export type AddAccountMutation = { createExternalAccount:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { account: { id: string } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type NameAccountMutationVariables = Exact<{
  accountId: string;
  name: string;
  key: string;
}>;


export type NameAccountMutation = { updateExternalAccount:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { account: { id: string } }
   };

export type SetAccountStatusMutationVariables = Exact<{
  accountId: string;
  status: ExternalAccountStatus;
  key: string;
}>;


export type SetAccountStatusMutation = { sandboxSetExternalAccountStatus:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { account: { id: string, status: ExternalAccountStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type FundMutationVariables = Exact<{
  accountId: string;
  amount: string;
  key: string;
}>;


export type FundMutation = { sandboxFundAccount:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { account: { id: string, balance: { formatted: string } } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type QuoteMutationVariables = Exact<{
  input: CreateQuoteInput;
  scenario?: SandboxScenarioInput | null | undefined;
}>;


export type QuoteMutation = { createQuote:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { quote: { id: string, status: QuoteStatus, totalSendingAmount: { formatted: string }, transaction: { id: string, status: TransactionStatus } } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type DepositMutationVariables = Exact<{
  quoteId: string;
  scenario?: SandboxScenarioInput | null | undefined;
  key: string;
}>;


export type DepositMutation = { sandboxSend:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type TransferOutMutationVariables = Exact<{
  input: TransferOutInput;
  scenario?: SandboxScenarioInput | null | undefined;
}>;


export type TransferOutMutation = { transferOut:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type TransferInMutationVariables = Exact<{
  input: TransferInInput;
  scenario?: SandboxScenarioInput | null | undefined;
}>;


export type TransferInMutation = { transferIn:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type ReceiveUmaMutationVariables = Exact<{
  input: SandboxReceiveUmaInput;
}>;


export type ReceiveUmaMutation = { sandboxReceiveUma:
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { code: RefusalCode, message: string, path: Array<string> | null }
    | { transaction: { id: string, status: TransactionStatus } }
    | { code: RefusalCode, message: string, path: Array<string> | null }
   };

export type EventPartsFragment = { id: string, cursor: string, type: EventType, occurredAt: string, subject:
    | { id: string }
    | { id: string }
    | { kycStatus: KycStatus, id: string }
    | { id: string }
    | { id: string, accountStatus: ExternalAccountStatus }
    | { id: string, balance: { formatted: string } }
    | { id: string }
    | { id: string }
    | { id: string, quoteStatus: QuoteStatus }
    | { id: string, transactionStatus: TransactionStatus, sentAmount: { formatted: string } | null }
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
          | { kycStatus: KycStatus, id: string }
          | { id: string }
          | { id: string, accountStatus: ExternalAccountStatus }
          | { id: string, balance: { formatted: string } }
          | { id: string }
          | { id: string }
          | { id: string, quoteStatus: QuoteStatus }
          | { id: string, transactionStatus: TransactionStatus, sentAmount: { formatted: string } | null }
          | { id: string }
          | { id: string }
         | null } }> } };

export type TailSubscriptionVariables = Exact<{
  filter?: EventFilter | null | undefined;
}>;


export type TailSubscription = { events: { id: string, cursor: string, type: EventType, occurredAt: string, subject:
      | { id: string }
      | { id: string }
      | { kycStatus: KycStatus, id: string }
      | { id: string }
      | { id: string, accountStatus: ExternalAccountStatus }
      | { id: string, balance: { formatted: string } }
      | { id: string }
      | { id: string }
      | { id: string, quoteStatus: QuoteStatus }
      | { id: string, transactionStatus: TransactionStatus, sentAmount: { formatted: string } | null }
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

export type PaymentOfQuoteQueryVariables = Exact<{
  id: string;
}>;


export type PaymentOfQuoteQuery = { quote: { transaction: { id: string } } | null };

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
    input: {endpointId: $endpointId, eventId: $eventId, idempotencyKey: $key}
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

export const Endpoints = /* @__PURE__ */ document<EndpointsQuery, EndpointsQueryVariables>(`query Endpoints {
  webhookEndpoints(first: 20) {
    edges {
      node {
        id
        url
        status
      }
    }
  }
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

export const SetKycStatus = /* @__PURE__ */ document<SetKycStatusMutation, SetKycStatusMutationVariables>(`mutation SetKycStatus($customerId: ID!, $status: KycStatus!, $key: String!) {
  sandboxSetKycStatus(
    input: {customerId: $customerId, kycStatus: $status, idempotencyKey: $key}
  ) {
    ... on SandboxSetKycStatusSuccess {
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

export const AddAccount = /* @__PURE__ */ document<AddAccountMutation, AddAccountMutationVariables>(`mutation AddAccount($customerId: ID!, $currency: String!, $info: ExternalAccountInfoInput!, $key: String!) {
  createExternalAccount(
    input: {customerId: $customerId, currency: $currency, accountInfo: $info, beneficiary: {individual: {fullName: "Payee Of The Command Line"}}, idempotencyKey: $key}
  ) {
    ... on CreateExternalAccountSuccess {
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
    input: {accountId: $accountId, amountDecimal: $amount, idempotencyKey: $key}
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

export const Quote = /* @__PURE__ */ document<QuoteMutation, QuoteMutationVariables>(`mutation Quote($input: CreateQuoteInput!, $scenario: SandboxScenarioInput) {
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
    input: {quoteId: $quoteId, currencyCode: "USD", sandboxScenario: $scenario, idempotencyKey: $key}
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
    }
    ... on Quote {
      quoteStatus: status
    }
    ... on InternalAccount {
      balance {
        formatted
      }
    }
    ... on ExternalAccount {
      accountStatus: status
    }
    ... on Customer {
      kycStatus
    }
  }
}`);

export const Tail = /* @__PURE__ */ document<TailSubscription, TailSubscriptionVariables>(`subscription Tail($filter: EventFilter) {
  events(filter: $filter) {
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
    }
    ... on Quote {
      quoteStatus: status
    }
    ... on InternalAccount {
      balance {
        formatted
      }
    }
    ... on ExternalAccount {
      accountStatus: status
    }
    ... on Customer {
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

export const PaymentOfQuote = /* @__PURE__ */ document<PaymentOfQuoteQuery, PaymentOfQuoteQueryVariables>(`query PaymentOfQuote($id: ID!) {
  quote(id: $id) {
    transaction {
      id
    }
  }
}`);

export const FollowPayment = /* @__PURE__ */ document<FollowPaymentSubscription, FollowPaymentSubscriptionVariables>(`subscription FollowPayment($id: ID!, $until: StreamEnd!) {
  transactionUpdates(transactionId: $id, until: $until) {
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
