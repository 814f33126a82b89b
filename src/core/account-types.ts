import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';
import {
  type AccountDetails,
  type AccountField,
  atAddress,
  bankName,
  bicField,
  choice,
  digits,
  formOf,
  ibanField,
  identifyingBankName,
  lettersOrDigits,
  pixKey,
  pixTaxId,
  purposesOfPayment,
  sortCode,
  text,
} from './account-fields.ts';
import type { CharacterSetName } from './carried-text.ts';
import { bicNeeded, clabeFault, ibanFault, nubanFault, routingNumberFault } from './check-digits.ts';
import type { CurrencyCode } from './currencies.ts';
import {
  domainFault,
  evmAddress,
  layer2Address,
  lightningInvoice,
  lightningOffer,
  solanaAddress,
  tronAddress,
} from './wallet-fields.ts';

export interface AccountType {
  /** The name of its GraphQL type, and of its input field (decision 16). */
  readonly graphql: { readonly type: string; readonly input: string };
  readonly description: string;
  /** The only country of its accounts. An IBAN begins with its country; a wallet has none. */
  readonly country?: string;
  readonly currencies: readonly CurrencyCode[];
  /** Whether it has an owner: bank accounts do, wallets do not. */
  readonly beneficiary: boolean;
  readonly characters?: CharacterSetName;
  readonly fields: Readonly<Record<string, AccountField>>;
  /** The fields that can identify the account; exactly one of them is required. */
  readonly identifier: readonly string[];
  /** The fields that name its bank, if an identifier is unique only within a bank (decision 37). */
  readonly bank?: readonly string[];
}

function wallet(
  type: string,
  input: string,
  description: string,
  currencies: readonly CurrencyCode[],
  address: AccountField,
) {
  const graphql = { type, input };
  return {
    graphql,
    description,
    currencies,
    beneficiary: false,
    fields: { address },
    identifier: ['address'],
  } as const;
}

/** All types of external bank accounts and wallets (specification 2.9, decision 16), also used by the APIs. */
export const accountTypes = {
  US_ACCOUNT: {
    graphql: { type: 'UsAccountInfo', input: 'usAccount' },
    description: 'A bank account in the United States.',
    country: 'US',
    currencies: ['USD'],
    beneficiary: true,
    characters: 'ACH',
    fields: {
      accountNumber: digits('Account number, 4 to 17 digits.', 4, 17),
      routingNumber: digits('ABA routing number, 9 digits.', 9, 9, { check: routingNumberFault }),
      accountCategory: choice(
        'The category of the bank account: CHECKING or SAVINGS.',
        ['CHECKING', 'SAVINGS'],
        'AccountCategory',
      ),
      bankName,
    },
    identifier: ['accountNumber'],
    bank: ['routingNumber'],
  },
  CLABE: {
    graphql: { type: 'ClabeAccountInfo', input: 'clabe' },
    description: 'A bank account in Mexico.',
    country: 'MX',
    currencies: ['MXN'],
    beneficiary: true,
    fields: { clabeNumber: digits('CLABE, 18 digits.', 18, 18, { check: clabeFault }), bankName },
    identifier: ['clabeNumber'],
  },
  PIX: {
    graphql: { type: 'PixAccountInfo', input: 'pix' },
    description: 'A Pix key in Brazil.',
    country: 'BR',
    currencies: ['BRL'],
    beneficiary: true,
    fields: {
      // The type comes first because forms ask for it first: the format of the key depends on it.
      pixKeyType: choice(
        'The Pix key type: CPF, CNPJ, EMAIL, PHONE or RANDOM.',
        ['CPF', 'CNPJ', 'EMAIL', 'PHONE', 'RANDOM'],
        'PixKeyType',
      ),
      pixKey,
      taxId: pixTaxId,
      bankName,
    },
    identifier: ['pixKey'],
  },
  IBAN: {
    graphql: { type: 'IbanAccountInfo', input: 'iban' },
    description: 'A bank account with an IBAN, in the euro area.',
    currencies: ['EUR'],
    beneficiary: true,
    characters: 'SEPA',
    fields: {
      iban: ibanField(ibanFault),
      swiftBic: bicField("The bank's BIC; required if the IBAN's country is outside SEPA.", {
        optional: true,
        requiredBeside: bicNeeded,
      }),
      bankName,
    },
    identifier: ['iban'],
  },
  UPI: {
    graphql: { type: 'UpiAccountInfo', input: 'upi' },
    description: 'A UPI address in India.',
    country: 'IN',
    currencies: ['INR'],
    beneficiary: true,
    fields: {
      vpa: atAddress(
        'Virtual payment address, user@bank.',
        'user@bank',
        /^\s*[A-Za-z0-9](?:[A-Za-z0-9._\x2d]{0,62}[A-Za-z0-9])?@[A-Za-z](?:\.?[A-Za-z0-9]){1,63}\s*$/,
      ),
    },
    identifier: ['vpa'],
  },
  NGN_ACCOUNT: {
    graphql: { type: 'NgnAccountInfo', input: 'ngnAccount' },
    description: 'A bank account in Nigeria.',
    country: 'NG',
    currencies: ['NGN'],
    beneficiary: true,
    fields: {
      accountNumber: digits('Account number (NUBAN), 10 digits.', 10, 10, { check: nubanFault }),
      bankName: identifyingBankName,
      purposeOfPayment: choice(
        `The purpose of payments to the account: ${purposesOfPayment.join(', ')}.`,
        purposesOfPayment,
        'PurposeOfPayment',
      ),
    },
    identifier: ['accountNumber'],
    bank: ['bankName'],
  },
  CAD_ACCOUNT: {
    graphql: { type: 'CadAccountInfo', input: 'cadAccount' },
    description: 'A bank account in Canada.',
    country: 'CA',
    currencies: ['CAD'],
    beneficiary: true,
    fields: {
      bankCode: digits('Institution number, 3 digits.', 3),
      branchCode: digits('Transit number, 5 digits.', 5),
      accountNumber: digits('Account number, 7 to 12 digits.', 7, 12),
      bankName,
    },
    identifier: ['accountNumber'],
    bank: ['bankCode', 'branchCode'],
  },
  GBP_ACCOUNT: {
    graphql: { type: 'GbpAccountInfo', input: 'gbpAccount' },
    description: 'A bank account in the United Kingdom.',
    country: 'GB',
    currencies: ['GBP'],
    beneficiary: true,
    fields: { sortCode, accountNumber: digits('Account number, 8 digits.', 8), bankName },
    identifier: ['accountNumber'],
    bank: ['sortCode'],
  },
  PHP_ACCOUNT: {
    graphql: { type: 'PhpAccountInfo', input: 'phpAccount' },
    description: 'A bank account in the Philippines.',
    country: 'PH',
    currencies: ['PHP'],
    beneficiary: true,
    fields: { bankName: identifyingBankName, accountNumber: lettersOrDigits },
    identifier: ['accountNumber'],
    bank: ['bankName'],
  },
  SGD_ACCOUNT: {
    graphql: { type: 'SgdAccountInfo', input: 'sgdAccount' },
    description: 'A bank account in Singapore.',
    country: 'SG',
    currencies: ['SGD'],
    beneficiary: true,
    fields: {
      bankName: text('Bank name.'),
      swiftCode: bicField("The bank's BIC."),
      accountNumber: lettersOrDigits,
    },
    identifier: ['accountNumber'],
    bank: ['swiftCode'],
  },
  LAYER2_WALLET: wallet(
    'Layer2WalletInfo',
    'layer2Wallet',
    'A wallet on the second-layer Bitcoin network.',
    ['BTC'],
    layer2Address,
  ),
  LIGHTNING: {
    graphql: { type: 'LightningInfo', input: 'lightning' },
    description: 'A Lightning destination: exactly one of an invoice, an offer and an address.',
    currencies: ['BTC'],
    beneficiary: false,
    fields: {
      invoice: lightningInvoice,
      bolt12: lightningOffer,
      lightningAddress: atAddress(
        'Lightning address, user@domain.',
        'user@domain',
        /^\s*[A-Za-z0-9._+\x2d]{1,64}@[A-Za-z0-9.\x2d]{3,190}\s*$/,
        { optional: true, check: domainFault },
      ),
    },
    identifier: ['invoice', 'bolt12', 'lightningAddress'],
  },
  SOLANA_WALLET: wallet('SolanaWalletInfo', 'solanaWallet', 'A wallet on Solana.', ['USDC', 'USDT'], solanaAddress),
  TRON_WALLET: wallet('TronWalletInfo', 'tronWallet', 'A wallet on Tron.', ['USDT'], tronAddress),
  POLYGON_WALLET: wallet('PolygonWalletInfo', 'polygonWallet', 'A wallet on Polygon.', ['USDC'], evmAddress),
  BASE_WALLET: wallet('BaseWalletInfo', 'baseWallet', 'A wallet on Base.', ['USDC'], evmAddress),
} as const satisfies Record<ExternalAccountType, AccountType>;

/** The fields that distinguish an account from others of its type (decision 37), in canonical form. */
export interface AccountIdentity {
  readonly identifier: string;
  /** The code of its bank; null if the identifier is unique without it. */
  readonly bank: string | null;
}

/** Returns an account's identity. Two accounts with the same identity are the same account. */
export function identityOf(type: ExternalAccountType, details: AccountDetails): AccountIdentity {
  const { fields, identifier, bank }: AccountType = accountTypes[type];
  const compared = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = details[name] ?? undefined;
      const field = fields[name];
      if (value === undefined || !field) return [];
      const canonical = formOf(field, details).canonical(value);
      return [field.compared?.(canonical) ?? canonical];
    });
  return { identifier: compared(identifier).join(' '), bank: bank ? compared(bank).join(' ') : null };
}
