import { clabe } from 'clabe-validator';
import { countrySpecs, isSEPACountry, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';
import type { AccountDetails, AccountField } from './account-fields.ts';
import * as field from './account-fields.ts';
import type { CharacterSetName } from './carried-text.ts';
import type { CurrencyCode } from './currencies.ts';
import { foldedText } from './texts.ts';
import * as wallets from './wallet-fields.ts';

export interface AccountType {
  /** The names of the GraphQL type and of the input field. */
  readonly graphql: { readonly type: string; readonly input: string };
  readonly description: string;
  /** The country, if it is the same for all accounts of the type. An IBAN contains its country; a wallet has none. */
  readonly country?: string;
  readonly currencies: readonly [CurrencyCode, ...CurrencyCode[]];
  /** Whether the account has an owner: bank accounts do, wallets do not. */
  readonly beneficiary: boolean;
  readonly characters?: CharacterSetName;
  readonly fields: Readonly<Record<string, AccountField>>;
  /** The fields that can identify the account; exactly one of them is required. */
  readonly identifier: readonly string[];
  /** The fields that identify the bank, if an identifier is unique only within a bank. */
  readonly bank?: readonly string[];
}

export const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Declares a bank account type, whose GraphQL type is named after its input field: UsAccountInfo, PixAccountInfo. */
function bankAccount(
  input: string,
  currency: CurrencyCode,
  more: Omit<AccountType, 'graphql' | 'currencies' | 'beneficiary'>,
): AccountType {
  const type = `${capitalized(input).replace(/(Account)?$/, 'Account')}Info`;
  return { graphql: { type, input }, currencies: [currency], beneficiary: true, ...more };
}

/** Declares a wallet type. Any one of its fields identifies the wallet. */
function wallet(
  input: string,
  description: string,
  currencies: AccountType['currencies'],
  fields: AccountType['fields'],
): AccountType {
  const graphql = { type: `${capitalized(input)}Info`, input };
  return { graphql, description, currencies, beneficiary: false, fields, identifier: Object.keys(fields) };
}

/** All types of external bank accounts and wallets. The APIs' input and output types are built from them. */
export const accountTypes: Readonly<Record<ExternalAccountType, AccountType>> = {
  US_ACCOUNT: bankAccount('usAccount', 'USD', {
    description: 'A bank account in the United States.',
    country: 'US',
    characters: 'ACH',
    fields: {
      accountNumber: field.digits('Account number, 4 to 17 digits.', 4, 17),
      routingNumber: field.digits('ABA routing number, 9 digits.', 9, 9, { check: routingNumberFault }),
      accountCategory: field.choice('The category of the bank account: CHECKING or SAVINGS.', {
        CHECKING: 'A checking account.',
        SAVINGS: 'A savings account.',
      }),
      bankName: field.bankName,
    },
    identifier: ['accountNumber'],
    bank: ['routingNumber'],
  }),
  CLABE: bankAccount('clabe', 'MXN', {
    description: 'A bank account in Mexico.',
    country: 'MX',
    fields: { clabeNumber: field.digits('CLABE, 18 digits.', 18, 18, { check: clabeFault }), bankName: field.bankName },
    identifier: ['clabeNumber'],
  }),
  PIX: bankAccount('pix', 'BRL', {
    description: 'A Pix key in Brazil.',
    country: 'BR',
    fields: {
      // The key type comes before the key, whose format depends on it, because forms show the fields in this order.
      pixKeyType: field.choice('The Pix key type: CPF, CNPJ, EMAIL, PHONE or RANDOM.', {
        CPF: "A Brazilian individual's tax number: 11 digits.",
        CNPJ: "A Brazilian company's tax number: 14 characters.",
        EMAIL: 'An e-mail address.',
        PHONE: 'A telephone number with its country code, such as +5511999998888.',
        RANDOM: 'A random key of 32 letters or digits.',
      }),
      pixKey: field.pixKey,
      taxId: field.pixTaxId,
      bankName: field.bankName,
    },
    identifier: ['pixKey'],
  }),
  IBAN: bankAccount('iban', 'EUR', {
    description: 'A euro bank account with an IBAN.',
    characters: 'SEPA',
    fields: {
      iban: field.ibanField(ibanFault),
      swiftBic: field.bicField("The bank's BIC; required if the IBAN's country is outside SEPA.", 'DEUTDEFF', {
        optional: true,
        requiredBeside: bicNeeded,
      }),
      bankName: field.bankName,
    },
    identifier: ['iban'],
  }),
  UPI: bankAccount('upi', 'INR', {
    description: 'A UPI address in India.',
    country: 'IN',
    fields: {
      vpa: field.atAddress(
        'Virtual payment address, user@bank.',
        'user@bank',
        /^\s*[A-Za-z0-9](?:[A-Za-z0-9._\x2d]{0,62}[A-Za-z0-9])?@[A-Za-z](?:\.?[A-Za-z0-9]){1,63}\s*$/,
      ),
    },
    identifier: ['vpa'],
  }),
  NGN_ACCOUNT: bankAccount('ngnAccount', 'NGN', {
    description: 'A bank account in Nigeria.',
    country: 'NG',
    fields: {
      accountNumber: field.digits('Account number (NUBAN), 10 digits.', 10, 10, { check: nubanFault }),
      bankName: field.identifyingBankName,
      purposeOfPayment: field.purposeOfPayment,
    },
    identifier: ['accountNumber'],
    bank: ['bankName'],
  }),
  CAD_ACCOUNT: bankAccount('cadAccount', 'CAD', {
    description: 'A bank account in Canada.',
    country: 'CA',
    fields: {
      bankCode: field.digits('Institution number, 3 digits.', 3),
      branchCode: field.digits('Transit number, 5 digits.', 5),
      accountNumber: field.digits('Account number, 7 to 12 digits.', 7, 12),
      bankName: field.bankName,
    },
    identifier: ['accountNumber'],
    bank: ['bankCode', 'branchCode'],
  }),
  GBP_ACCOUNT: bankAccount('gbpAccount', 'GBP', {
    description: 'A bank account in the United Kingdom.',
    country: 'GB',
    fields: {
      sortCode: field.sortCode,
      accountNumber: field.digits('Account number, 8 digits.', 8),
      bankName: field.bankName,
    },
    identifier: ['accountNumber'],
    bank: ['sortCode'],
  }),
  PHP_ACCOUNT: bankAccount('phpAccount', 'PHP', {
    description: 'A bank account in the Philippines.',
    country: 'PH',
    fields: { bankName: field.identifyingBankName, accountNumber: field.lettersOrDigits },
    identifier: ['accountNumber'],
    bank: ['bankName'],
  }),
  SGD_ACCOUNT: bankAccount('sgdAccount', 'SGD', {
    description: 'A bank account in Singapore.',
    country: 'SG',
    fields: {
      bankName: field.text('Bank name.'),
      swiftCode: field.bicField("The bank's BIC.", 'DBSSSGSG'),
      accountNumber: field.lettersOrDigits,
    },
    identifier: ['accountNumber'],
    bank: ['swiftCode'],
  }),
  LAYER2_WALLET: wallet('layer2Wallet', 'A wallet on the second-layer Bitcoin network.', ['BTC'], {
    address: wallets.layer2Address,
  }),
  LIGHTNING: wallet(
    'lightning',
    'A Lightning destination, specified by exactly one of an invoice, an offer or an address.',
    ['BTC'],
    {
      invoice: wallets.lightningInvoice,
      bolt12: wallets.lightningOffer,
      lightningAddress: field.atAddress(
        'Lightning address, user@domain.',
        'user@domain',
        /^\s*[A-Za-z0-9._+\x2d]{1,64}@[A-Za-z0-9.\x2d]{3,190}\s*$/,
        { optional: true, check: wallets.domainFault },
      ),
    },
  ),
  SOLANA_WALLET: wallet('solanaWallet', 'A wallet on Solana.', ['USDC', 'USDT'], { address: wallets.solanaAddress }),
  TRON_WALLET: wallet('tronWallet', 'A wallet on Tron.', ['USDT'], { address: wallets.tronAddress }),
  POLYGON_WALLET: wallet('polygonWallet', 'A wallet on Polygon.', ['USDC'], { address: wallets.evmAddress }),
  BASE_WALLET: wallet('baseWallet', 'A wallet on Base.', ['USDC'], { address: wallets.evmAddress }),
};

/** The details that distinguish an account from others of its type, in the form used for comparisons. */
export interface AccountIdentity {
  readonly identifier: string;
  /** The bank's code or name; null if the identifier is unique without it. */
  readonly bank: string | null;
}

/** Returns an account's identity. Details with the same type and identity describe the same account. */
export function identityOf(type: ExternalAccountType, details: AccountDetails): AccountIdentity {
  const { fields, identifier, bank } = accountTypes[type];
  const compared = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = details[name] ?? undefined;
      const rule = fields[name];
      if (value === undefined || !rule) return [];
      const canonical = field.formOf(rule, details).canonical(value);
      return [rule.compared?.(canonical) ?? canonical];
    });
  return { identifier: compared(identifier).join(' '), bank: bank ? compared(bank).join(' ') : null };
}

// Check digits of bank account numbers reveal typing errors, but do not prove that an account exists.

const weighted = (value: string, weights: readonly number[]) =>
  [...value].reduce((sum, digit, place) => sum + Number(digit) * (weights[place % weights.length] ?? 0), 0);

/** Checks an ABA routing number: its district, and its 9th digit, which makes the weighted sum a multiple of 10. */
function routingNumberFault(value: string, details: AccountDetails): string | undefined {
  if (!/^(?:0[0-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(value) || /^0+$/.test(value)) {
    return 'no routing number begins like this';
  }
  return routingChecksum(value, details, value);
}
const routingChecksum = field.checkDigits(
  'its 9th digit, the check digit, does',
  (value) => weighted(value, [3, 7, 1]) % 10 === 0,
);

const isSound = (value: string) => validateIBAN(value).valid;
const ibanChecksum = field.checkDigits('its characters 3 and 4, the check digits, do', isSound);

const nationalDigits = field.checkDigits('the national check digits within the number do', isSound);

/** Checks an IBAN: country, length, letter positions, check digits, and the national check digits. */
function ibanFault(value: string, details: AccountDetails): string | undefined {
  const { valid, errorCodes } = validateIBAN(value);
  if (valid) return /^..\d\d0+$/.test(value) ? 'its account number is all zeros' : undefined;
  const country = value.slice(0, 2);
  const length = countrySpecs[country]?.chars;
  if (errorCodes.includes(ValidationErrorsIBAN.NoIBANCountry)) return `no country with the code ${country} has IBANs`;
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANLength)) {
    return `an IBAN of ${country} has ${length} characters, not ${value.length}`;
  }
  if (!errorCodes.includes(ValidationErrorsIBAN.WrongIBANChecksum)) return nationalDigits(value, details, value);
  const reason = ibanChecksum(value, details, value);
  return errorCodes.includes(ValidationErrorsIBAN.WrongBBANFormat)
    ? reason?.replace(
        /^.*?(; |$)/,
        `it has a letter where an IBAN of ${country} has a digit, or a digit where it has a letter$1`,
      )
    : reason;
}

/** The countries that joined SEPA in 2024 and 2025 (EPC409-09), which ibantools does not know yet. */
const newInSepa: ReadonlySet<string> = new Set(['AL', 'MD', 'ME', 'MK', 'RS']);

/** Returns why an IBAN requires a BIC, or undefined if it does not. Outside SEPA, the BIC identifies the bank. */
function bicNeeded({ iban }: AccountDetails): string | undefined {
  const country = field.ibanForm.canonical(iban ?? '').slice(0, 2);
  // A value that is not an IBAN is refused elsewhere, so no BIC is requested for it.
  if (!countrySpecs[country]?.chars || isSEPACountry(country) || newInSepa.has(country)) return undefined;
  return `an IBAN of ${country}, which is outside SEPA, needs the BIC of its bank`;
}

const clabeChecksum = field.checkDigits(
  'its 18th digit, the check digit, does',
  (value) => clabe.computeChecksum(value) === Number(value.at(-1)),
);

/**
 * Checks a CLABE: its check digit, but neither its bank nor its city. Checking these against lists would refuse valid
 * accounts, because banks are added every year and many accounts have unlisted city codes.
 */
function clabeFault(value: string, details: AccountDetails): string | undefined {
  return value.startsWith('000') ? 'no bank has the code 000' : clabeChecksum(value, details, value);
}

/** Central Bank of Nigeria codes for commercial banks, keyed by name, usually without words such as "bank". */
const nigerianBanks: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '011': ['first'],
    '023': ['citi', 'citibank'],
    '032': ['union'],
    '033': ['uba', 'united bank for africa'],
    '035': ['wema'],
    '044': ['access'],
    '050': ['ecobank'],
    '057': ['zenith'],
    '058': ['guaranty trust', 'gt', 'gtbank'],
    '068': ['standard chartered'],
    '070': ['fidelity'],
    '076': ['polaris'],
    '082': ['keystone'],
    '100': ['suntrust'],
    '101': ['providus'],
    '102': ['titan', 'titan trust'],
    '103': ['globus'],
    '105': ['premiumtrust', 'premium trust'],
    '214': ['first city monument', 'fcmb'],
    '215': ['unity'],
    '221': ['stanbic ibtc'],
    '232': ['sterling'],
    '301': ['jaiz'],
  }).flatMap(([code, names]) => names.map((name) => [name, code])),
);

const nubanChecksum = field.checkDigits('its 10th digit, the check digit, does', (value, { bankName }) => {
  const bank = nigerianBanks.get(nameOfBank(bankName ?? ''));
  if (bank === undefined) return true;
  return nubanCheckDigit(bank, value.slice(0, 9)) === Number(value.at(-1));
});

/** Returns the check digit of a Nigerian account number (NUBAN) from the bank's code and the first nine digits. */
export function nubanCheckDigit(bank: string, serial: string): number {
  return (10 - (weighted(`${bank}${serial}`, [3, 7, 3]) % 10)) % 10;
}

const nameOfBank = (name: string) => {
  const words = foldedText(name)
    .replace(/[^a-z ]/g, '')
    .trim();
  if (nigerianBanks.has(words)) return words;
  return words
    .replace(/\b(?:bank|of|nigeria|plc|ltd|limited|the)\b/g, '')
    .replace(/ +/g, ' ')
    .trim();
};

/** Checks a Nigerian account number (NUBAN). The 10th digit is checked only if the bank's code is known. */
function nubanFault(value: string, details: AccountDetails): string | undefined {
  return /^0+$/.test(value) ? 'it is all zeros' : nubanChecksum(value, details, value);
}
