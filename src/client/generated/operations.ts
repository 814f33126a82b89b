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

/** Which accounts (specification 4.9, 4.10, 4.13). What is given combines with AND. */
export type AccountFilter = {
  /** External accounts of any of these kinds. */
  accountType?: Array<ExternalAccountType> | null | undefined;
  /** External accounts whose owner was verified with any of these results. */
  beneficiaryVerificationStatus?: Array<BeneficiaryVerificationStatus> | null | undefined;
  /** The currency code. */
  currency?: string | null | undefined;
  /** The owner. */
  customerId?: string | null | undefined;
  /** Also deleted external accounts. */
  isIncludingDeleted?: boolean | null | undefined;
  /** Internal or external. */
  kind?: AccountKind | null | undefined;
  /** Only the platform's own, or only its customers'. */
  platformOwned?: boolean | null | undefined;
  /** External accounts with any of these. */
  status?: Array<ExternalAccountStatus> | null | undefined;
};

/** Where an account is. */
export type AccountKind =
  /** A bank account or wallet elsewhere. */
  | 'EXTERNAL'
  /** A balance held here. */
  | 'INTERNAL';

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

/** A range of amounts in one currency. Both ends belong to it. */
export type AmountRange = {
  /** The currency code. */
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

/** A bank account in Mexico. */
export type ClabeAccountInput = {
  /** Name of the bank, for people. */
  bankName?: string | null | undefined;
  /** CLABE, 18 digits. */
  clabeNumber: string;
};

/** The input of createExternalAccount. */
export type CreateExternalAccountInput = {
  /** Its details: exactly one kind. */
  accountInfo: ExternalAccountInfoInput;
  /** Who owns it: required for bank accounts, not for wallets. */
  beneficiary?: BeneficiaryInput | null | undefined;
  /** ISO 4217 code or asset code. */
  currency: string;
  /** Its owner; without one it is the platform’s own, or that of the customer whose app this is. */
  customerId?: string | null | undefined;
  /** Let incoming UMA payments of the customer go here. Replaces an earlier default. */
  defaultUmaDepositAccount?: boolean | null | undefined;
  /** Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent. */
  idempotencyKey?: string | null | undefined;
  /** What the platform notes on it (decision 69). Not for client tokens. */
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
  /** The fixed amount, in its currency's smallest unit: 1 to 9000000000000000. This or lockedCurrencyAmountDecimal. */
  lockedCurrencyAmount?: string | number | null | undefined;
  /** The same in major units, exact: "12.50". Instead of the field of smallest units. */
  lockedCurrencyAmountDecimal?: string | null | undefined;
  /** Which amount is fixed. */
  lockedCurrencySide: LockedCurrencySide;
  /** Lookup:…, of the receiver; required for a UMA destination. */
  lookupId?: string | null | undefined;
  /** What the platform notes on it (decision 69). Not for client tokens. Its transaction has it, too. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** What the sender tells of itself, to a UMA address: all mandatory fields of the lookup's requiredPayerFields, and PURPOSE_OF_PAYMENT, which an external account takes, too (decision 48). */
  senderCustomerInfo?: Array<InformationFieldInput> | null | undefined;
  /** Where the money comes from. */
  source: PaymentSourceInput;
};

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

/** What a ledger entry was posted for (decision 58). */
export type JournalKind =
  /** Money comes in that is passed on. */
  | 'ARRIVAL'
  /** Money is taken from its source. */
  | 'DEBIT'
  /** The money is delivered. */
  | 'DELIVERY'
  /** Money comes in. */
  | 'DEPOSIT'
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

/** What a change does to a followed list. */
export type ListOperation =
  /** The row is in the list now, and was not before: a new one, or one that did not match. */
  | 'ENTER'
  /** The row matches the filter no more. */
  | 'LEAVE'
  /** The row is in the list, as before, and has changed. */
  | 'UPDATE';

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
  /** In which currency, e.g. USDC or BTC. */
  currency: string;
  /** Who pays. */
  customerId: string;
};

/** Why something was refused, for programs: the same codes as in REST. New codes may be added. */
export type RefusalCode =
  /** There is no such account. */
  | 'ACCOUNT_NOT_FOUND'
  /** The amount is too small or too large. */
  | 'AMOUNT_OUT_OF_RANGE'
  /** It collides with what is there, or with what has happened. */
  | 'CONFLICT'
  /** The customer is deleted. */
  | 'CUSTOMER_DELETED'
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
  /** There is no such webhook endpoint. */
  | 'WEBHOOK_ENDPOINT_NOT_FOUND'
  /** The settings name no webhook endpoint. In REST only. */
  | 'WEBHOOK_ENDPOINT_NOT_SET';

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
  /** Any of these. */
  failureReason?: Array<FailureReason> | null | undefined;
  /** The platform's own id of that customer. */
  platformCustomerId?: string | null | undefined;
  /** The destination: an account id or a UMA address. */
  receiverAccountIdentifier?: string | null | undefined;
  /** The reconciliation reference. */
  reference?: string | null | undefined;
  /** The source: an account id or a UMA address. */
  senderAccountIdentifier?: string | null | undefined;
  /** Any of these. */
  status?: Array<TransactionStatus> | null | undefined;
  /** Any of these. */
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

export type HomeQueryVariables = Exact<{ [key: string]: never; }>;


export type HomeQuery = { viewer: { kind: ViewerKind, permissions: Array<Permission>, expiresAt: string | null, serverTime: string, feedCursor: string, customer: { id: string, version: number, name: string | null } | null } };

export type AccountsQueryVariables = Exact<{
  filter?: AccountFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AccountsQuery = { accounts: { edges: Array<{ cursor: string, node:
        | { status: ExternalAccountStatus, id: string, version: number, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } }
        | { id: string, version: number, displayName: string, maskedNumber: string, balance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, currency: { code: string, symbol: string, decimals: number } }
       }>, pageInfo: { endCursor: string | null, hasNextPage: boolean } } };

export type StatementQueryVariables = Exact<{
  accountId: string;
  from: string;
  to: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type StatementQuery = { account:
    | { id: string, version: number }
    | { id: string, version: number, statement: { from: string, to: string, openingBalance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, closingBalance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, credits: { count: number, amount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } }, debits: { count: number, amount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } } }, ledgerEntries: { edges: Array<{ cursor: string, node: { id: string, kind: JournalKind, occurredAt: string, amount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, balanceAfter: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean } } }
   | null };

export type AddExternalAccountMutationVariables = Exact<{
  input: CreateExternalAccountInput;
}>;


export type AddExternalAccountMutation = { createExternalAccount:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'CreateExternalAccountSuccess', replayed: boolean, accountEdge: { cursor: string, node:
          | { status: ExternalAccountStatus, id: string, version: number, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } }
          | { id: string, version: number, displayName: string, maskedNumber: string, balance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, currency: { code: string, symbol: string, decimals: number } }
         } }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
   };

export type AccountUpdatesSubscriptionVariables = Exact<{
  customerId?: string | null | undefined;
}>;


export type AccountUpdatesSubscription = { accountUpdates: { cursor: string, account:
      | { status: ExternalAccountStatus, id: string, version: number, displayName: string, maskedNumber: string, currency: { code: string, symbol: string, decimals: number } }
      | { id: string, version: number, displayName: string, maskedNumber: string, balance: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, currency: { code: string, symbol: string, decimals: number } }
     } };

export type MoneyPartsFragment = { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } };

type ErrorParts_ConflictError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_CustomerInUseError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_ForbiddenError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_IdempotencyMismatchError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_InsufficientFundsError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_InvalidInputError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_NotFoundError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_OutcomeUnknownError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_QuoteExpiredError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

type ErrorParts_UnavailableError_Fragment = { code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> };

export type ErrorPartsFragment =
  | ErrorParts_ConflictError_Fragment
  | ErrorParts_CustomerInUseError_Fragment
  | ErrorParts_ForbiddenError_Fragment
  | ErrorParts_IdempotencyMismatchError_Fragment
  | ErrorParts_InsufficientFundsError_Fragment
  | ErrorParts_InvalidInputError_Fragment
  | ErrorParts_NotFoundError_Fragment
  | ErrorParts_OutcomeUnknownError_Fragment
  | ErrorParts_QuoteExpiredError_Fragment
  | ErrorParts_UnavailableError_Fragment
;

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

export type QuotePartsFragment = { id: string, version: number, status: QuoteStatus, expiresAt: string, exchangeRate: string, totalSendingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, totalReceivingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, feesIncluded: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, destination:
    | { displayName: string, maskedNumber: string | null }
    | { displayName: string, maskedNumber: string | null }
  , transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
     | null, destination:
      | { displayName: string, maskedNumber: string | null }
      | { displayName: string, maskedNumber: string | null }
     } };

export type LockQuoteMutationVariables = Exact<{
  input: CreateQuoteInput;
}>;


export type LockQuoteMutation = { createQuote:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'CreateQuoteSuccess', replayed: boolean, quote: { id: string, version: number, status: QuoteStatus, expiresAt: string, exchangeRate: string, totalSendingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, totalReceivingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, feesIncluded: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
        , transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           | null, destination:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           } } }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InsufficientFundsError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
   };

export type ExecuteQuoteMutationVariables = Exact<{
  input: ExecuteQuoteInput;
}>;


export type ExecuteQuoteMutation = { executeQuote:
    | { __typename: 'ConflictError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'ExecuteQuoteSuccess', replayed: boolean, quote: { id: string, version: number, status: QuoteStatus, expiresAt: string, exchangeRate: string, totalSendingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, totalReceivingAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, feesIncluded: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } }, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
        , transaction: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           | null, destination:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           } } }
    | { __typename: 'ForbiddenError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'IdempotencyMismatchError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InsufficientFundsError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidInputError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'QuoteExpiredError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableError', code: RefusalCode, message: string, path: Array<string> | null, fields: Array<{ path: Array<string>, message: string }> }
   };

export type TransactionsQueryVariables = Exact<{
  filter?: TransactionFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type TransactionsQuery = { viewer: { feedCursor: string }, transactions: { edges: Array<{ cursor: string, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         | null, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean } } };

export type TransactionQueryVariables = Exact<{
  id: string;
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
  customerId?: string | null | undefined;
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
}>;


export type TransactionListSubscription = { transactionChanges: { cursor: string, snapshot: { edges: Array<{ cursor: string, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           | null, destination:
            | { displayName: string, maskedNumber: string | null }
            | { displayName: string, maskedNumber: string | null }
           } }>, pageInfo: { endCursor: string | null, hasNextPage: boolean } } | null, changes: Array<{ op: ListOperation, changed: Array<string>, node: { id: string, version: number, type: TransactionType, status: TransactionStatus, terminal: boolean, createdAt: string, updatedAt: string, description: string | null, failureReason: FailureReason | null, sentAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, receivedAmount: { amount: string, decimal: string, formatted: string, currency: { code: string, symbol: string, decimals: number } } | null, source:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         | null, destination:
          | { displayName: string, maskedNumber: string | null }
          | { displayName: string, maskedNumber: string | null }
         } }> } };


export const Home = /* @__PURE__ */ document<HomeQuery, HomeQueryVariables>(`query Home {
  viewer {
    kind
    permissions
    expiresAt
    serverTime
    feedCursor
    customer {
      id
      version
      name
    }
  }
}`);

export const Accounts = /* @__PURE__ */ document<AccountsQuery, AccountsQueryVariables>(`query Accounts($filter: AccountFilter, $first: Int, $after: String) {
  accounts(filter: $filter, first: $first, after: $after) {
    edges {
      cursor
      node {
        ...AccountParts
      }
    }
    pageInfo {
      endCursor
      hasNextPage
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);

export const Statement = /* @__PURE__ */ document<StatementQuery, StatementQueryVariables>(`query Statement($accountId: ID!, $from: DateTime!, $to: DateTime!, $first: Int, $after: String) {
  account(id: $accountId) {
    id
    version
    ... on InternalAccount {
      statement(from: $from, to: $to) {
        from
        to
        openingBalance {
          ...MoneyParts
        }
        closingBalance {
          ...MoneyParts
        }
        credits {
          count
          amount {
            ...MoneyParts
          }
        }
        debits {
          count
          amount {
            ...MoneyParts
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
              ...MoneyParts
            }
            balanceAfter {
              ...MoneyParts
            }
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);

export const AddExternalAccount = /* @__PURE__ */ document<AddExternalAccountMutation, AddExternalAccountMutationVariables>(`mutation AddExternalAccount($input: CreateExternalAccountInput!) {
  createExternalAccount(input: $input) {
    __typename
    ... on CreateExternalAccountSuccess {
      replayed
      accountEdge {
        cursor
        node {
          ...AccountParts
        }
      }
    }
    ...ErrorParts
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}
fragment ErrorParts on UserError {
  code
  message
  path
  fields {
    path
    message
  }
}`);

export const AccountUpdates = /* @__PURE__ */ document<AccountUpdatesSubscription, AccountUpdatesSubscriptionVariables>(`subscription AccountUpdates($customerId: ID) {
  accountUpdates(customerId: $customerId) {
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);

export const LockQuote = /* @__PURE__ */ document<LockQuoteMutation, LockQuoteMutationVariables>(`mutation LockQuote($input: CreateQuoteInput!) {
  createQuote(input: $input) {
    __typename
    ... on CreateQuoteSuccess {
      replayed
      quote {
        ...QuoteParts
      }
    }
    ...ErrorParts
  }
}
fragment QuoteParts on Quote {
  id
  version
  status
  expiresAt
  exchangeRate
  totalSendingAmount {
    ...MoneyParts
  }
  totalReceivingAmount {
    ...MoneyParts
  }
  feesIncluded {
    ...MoneyParts
  }
  destination {
    displayName
    maskedNumber
  }
  transaction {
    ...TransactionParts
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted
  currency {
    code
    symbol
    decimals
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
fragment ErrorParts on UserError {
  code
  message
  path
  fields {
    path
    message
  }
}`);

export const ExecuteQuote = /* @__PURE__ */ document<ExecuteQuoteMutation, ExecuteQuoteMutationVariables>(`mutation ExecuteQuote($input: ExecuteQuoteInput!) {
  executeQuote(input: $input) {
    __typename
    ... on ExecuteQuoteSuccess {
      replayed
      quote {
        ...QuoteParts
      }
    }
    ...ErrorParts
  }
}
fragment QuoteParts on Quote {
  id
  version
  status
  expiresAt
  exchangeRate
  totalSendingAmount {
    ...MoneyParts
  }
  totalReceivingAmount {
    ...MoneyParts
  }
  feesIncluded {
    ...MoneyParts
  }
  destination {
    displayName
    maskedNumber
  }
  transaction {
    ...TransactionParts
  }
}
fragment MoneyParts on Money {
  amount
  decimal
  formatted
  currency {
    code
    symbol
    decimals
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
fragment ErrorParts on UserError {
  code
  message
  path
  fields {
    path
    message
  }
}`);

export const Transactions = /* @__PURE__ */ document<TransactionsQuery, TransactionsQueryVariables>(`query Transactions($filter: TransactionFilter, $first: Int, $after: String) {
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);

export const Transaction = /* @__PURE__ */ document<TransactionQuery, TransactionQueryVariables>(`query Transaction($id: ID!) {
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);

export const FollowTransaction = /* @__PURE__ */ document<FollowTransactionSubscription, FollowTransactionSubscriptionVariables>(`subscription FollowTransaction($id: ID!) {
  transactionUpdates(transactionId: $id) {
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);

export const FollowTransactions = /* @__PURE__ */ document<FollowTransactionsSubscription, FollowTransactionsSubscriptionVariables>(`subscription FollowTransactions($customerId: ID) {
  transactionUpdates(customerId: $customerId) {
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);

export const TransactionList = /* @__PURE__ */ document<TransactionListSubscription, TransactionListSubscriptionVariables>(`subscription TransactionList($filter: TransactionFilter, $first: Int) {
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
  formatted
  currency {
    code
    symbol
    decimals
  }
}`);
