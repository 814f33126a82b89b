import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';
import {
  type AccountField,
  bankName,
  bic,
  digits,
  evmAddress,
  lettersOrDigits,
  pixKeyForms,
  purposesOfPayment,
  spellings,
  text,
} from './account-fields.ts';
import type { CurrencyCode } from './currencies.ts';

/** A type of external account. */
export interface AccountType {
  /** The name of its GraphQL type, and of its field in the input (decision 16). */
  readonly graphql: { readonly type: string; readonly input: string };
  readonly description: string;
  readonly currencies: readonly CurrencyCode[];
  /** Whether it has an owner: bank accounts do, wallets do not. */
  readonly beneficiary: boolean;
  readonly fields: Readonly<Record<string, AccountField>>;
  /** The fields that can identify the account: exactly one of them must be given. */
  readonly identifier: readonly string[];
  /** The fields that name its bank, where an identifier is unique only within a bank (decision 37). */
  readonly bank?: readonly string[];
}

/**
 * All types of external bank accounts and wallets (specification 2.9, decision 16). The APIs make their types and
 * inputs from this table, so a type or a field is added only here.
 */
export const accountTypes = {
  US_ACCOUNT: {
    graphql: { type: 'UsAccountInfo', input: 'usAccount' },
    description: 'A bank account in the United States.',
    currencies: ['USD'],
    beneficiary: true,
    fields: {
      accountNumber: {
        description: 'Account number, 4 to 17 digits.',
        pattern: /^[0-9]{4,17}$/,
        form: '4 to 17 digits',
      },
      routingNumber: digits('ABA routing number, 9 digits.', 9),
      accountCategory: {
        description: 'CHECKING or SAVINGS.',
        values: ['CHECKING', 'SAVINGS'],
        enumName: 'AccountCategory',
      },
      bankName,
    },
    identifier: ['accountNumber'],
    bank: ['routingNumber'],
  },
  CLABE: {
    graphql: { type: 'ClabeAccountInfo', input: 'clabe' },
    description: 'A bank account in Mexico.',
    currencies: ['MXN'],
    beneficiary: true,
    fields: { clabeNumber: digits('CLABE, 18 digits.', 18), bankName },
    identifier: ['clabeNumber'],
  },
  PIX: {
    graphql: { type: 'PixAccountInfo', input: 'pix' },
    description: 'A Pix key in Brazil.',
    currencies: ['BRL'],
    beneficiary: true,
    fields: {
      pixKey: {
        ...text('The key, in the form of its type.'),
        pattern: /^[^\s\p{Cc}\p{Cs}]{1,140}$/u,
        form: '1 to 140 characters without spaces',
        formBy: { field: 'pixKeyType', forms: pixKeyForms },
        spellings: spellings.pixKeys,
      },
      pixKeyType: {
        description: 'CPF, CNPJ, EMAIL, PHONE or RANDOM.',
        values: ['CPF', 'CNPJ', 'EMAIL', 'PHONE', 'RANDOM'],
        enumName: 'PixKeyType',
      },
      taxId: text('Tax number (CPF or CNPJ) of the owner.'),
      bankName,
    },
    identifier: ['pixKey'],
  },
  IBAN: {
    graphql: { type: 'IbanAccountInfo', input: 'iban' },
    description: 'A bank account with an IBAN, in the euro area.',
    currencies: ['EUR'],
    beneficiary: true,
    fields: {
      iban: {
        description: 'IBAN, 15 to 34 characters, without spaces.',
        pattern: /^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/,
        form: 'a country code, 2 digits and 11 to 30 letters or digits',
      },
      swiftBic: bic('BIC of the bank.'),
      bankName,
    },
    identifier: ['iban'],
  },
  UPI: {
    graphql: { type: 'UpiAccountInfo', input: 'upi' },
    description: 'A UPI address in India.',
    currencies: ['INR'],
    beneficiary: true,
    fields: {
      vpa: {
        description: 'Virtual payment address, user@bank.',
        pattern: /^[A-Za-z0-9._-]{1,64}@[A-Za-z][A-Za-z0-9.-]{1,63}$/,
        form: 'user@bank',
        spellings: spellings.capitals,
      },
    },
    identifier: ['vpa'],
  },
  NGN_ACCOUNT: {
    graphql: { type: 'NgnAccountInfo', input: 'ngnAccount' },
    description: 'A bank account in Nigeria.',
    currencies: ['NGN'],
    beneficiary: true,
    fields: {
      accountNumber: digits('Account number (NUBAN), 10 digits.', 10),
      bankName: { ...text('Name of the bank.'), spellings: spellings.names },
      purposeOfPayment: {
        description: `What the account is paid for: ${purposesOfPayment.join(', ')}.`,
        values: purposesOfPayment,
        enumName: 'PurposeOfPayment',
      },
    },
    identifier: ['accountNumber'],
    bank: ['bankName'],
  },
  CAD_ACCOUNT: {
    graphql: { type: 'CadAccountInfo', input: 'cadAccount' },
    description: 'A bank account in Canada.',
    currencies: ['CAD'],
    beneficiary: true,
    fields: {
      bankCode: digits('Institution number, 3 digits.', 3),
      branchCode: digits('Transit number, 5 digits.', 5),
      accountNumber: {
        description: 'Account number, 7 to 12 digits.',
        pattern: /^[0-9]{7,12}$/,
        form: '7 to 12 digits',
      },
      bankName,
    },
    identifier: ['accountNumber'],
    bank: ['bankCode', 'branchCode'],
  },
  GBP_ACCOUNT: {
    graphql: { type: 'GbpAccountInfo', input: 'gbpAccount' },
    description: 'A bank account in the United Kingdom.',
    currencies: ['GBP'],
    beneficiary: true,
    fields: {
      sortCode: {
        description: 'Sort code, 6 digits, with or without dashes.',
        pattern: /^[0-9]{2}-?[0-9]{2}-?[0-9]{2}$/,
        form: '6 digits such as 20-00-00',
        spellings: spellings.dashes,
      },
      accountNumber: digits('Account number, 8 digits.', 8),
      bankName,
    },
    identifier: ['accountNumber'],
    bank: ['sortCode'],
  },
  PHP_ACCOUNT: {
    graphql: { type: 'PhpAccountInfo', input: 'phpAccount' },
    description: 'A bank account in the Philippines.',
    currencies: ['PHP'],
    beneficiary: true,
    fields: {
      bankName: { ...text('Name of the bank.'), spellings: spellings.names },
      accountNumber: lettersOrDigits,
    },
    identifier: ['accountNumber'],
    bank: ['bankName'],
  },
  SGD_ACCOUNT: {
    graphql: { type: 'SgdAccountInfo', input: 'sgdAccount' },
    description: 'A bank account in Singapore.',
    currencies: ['SGD'],
    beneficiary: true,
    fields: {
      bankName: text('Name of the bank.'),
      swiftCode: bic('BIC of the bank.'),
      accountNumber: lettersOrDigits,
    },
    identifier: ['accountNumber'],
    bank: ['swiftCode'],
  },
  LAYER2_WALLET: {
    graphql: { type: 'Layer2WalletInfo', input: 'layer2Wallet' },
    description: 'A wallet on the second-layer bitcoin network.',
    currencies: ['BTC'],
    beneficiary: false,
    fields: {
      address: {
        description: 'Address of the wallet.',
        pattern: /^[0-9A-Za-z]{20,120}$/,
        form: '20 to 120 letters or digits',
        spellings: spellings.bech32,
      },
    },
    identifier: ['address'],
  },
  LIGHTNING: {
    graphql: { type: 'LightningInfo', input: 'lightning' },
    description: 'A Lightning destination: exactly one of an invoice, an offer and an address.',
    currencies: ['BTC'],
    beneficiary: false,
    fields: {
      invoice: {
        description: 'BOLT 11 invoice, paid once.',
        pattern: /^[lL][nN][0-9A-Za-z]{20,2000}$/,
        form: 'a BOLT 11 invoice starting with ln',
        spellings: spellings.capitals,
        optional: true,
      },
      bolt12: {
        description: 'BOLT 12 offer.',
        pattern: /^[lL][nN][oO][0-9A-Za-z]{10,2000}$/,
        form: 'a BOLT 12 offer starting with lno',
        spellings: spellings.capitals,
        optional: true,
      },
      lightningAddress: {
        description: 'Lightning address, user@domain.',
        pattern: /^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{3,190}$/,
        form: 'user@domain',
        spellings: spellings.capitals,
        optional: true,
      },
    },
    identifier: ['invoice', 'bolt12', 'lightningAddress'],
  },
  SOLANA_WALLET: {
    graphql: { type: 'SolanaWalletInfo', input: 'solanaWallet' },
    description: 'A wallet on Solana.',
    currencies: ['USDC', 'USDT'],
    beneficiary: false,
    fields: {
      address: {
        description: 'Address of the wallet, 32 to 44 characters.',
        pattern: /^[0-9A-Za-z]{32,44}$/,
        form: '32 to 44 letters or digits',
      },
    },
    identifier: ['address'],
  },
  TRON_WALLET: {
    graphql: { type: 'TronWalletInfo', input: 'tronWallet' },
    description: 'A wallet on Tron.',
    currencies: ['USDT'],
    beneficiary: false,
    fields: {
      address: {
        description: 'Address of the wallet: T and 33 characters.',
        pattern: /^T[0-9A-Za-z]{33}$/,
        form: 'T and 33 letters or digits',
      },
    },
    identifier: ['address'],
  },
  POLYGON_WALLET: {
    graphql: { type: 'PolygonWalletInfo', input: 'polygonWallet' },
    description: 'A wallet on Polygon.',
    currencies: ['USDC'],
    beneficiary: false,
    fields: { address: evmAddress },
    identifier: ['address'],
  },
  BASE_WALLET: {
    graphql: { type: 'BaseWalletInfo', input: 'baseWallet' },
    description: 'A wallet on Base.',
    currencies: ['USDC'],
    beneficiary: false,
    fields: { address: evmAddress },
    identifier: ['address'],
  },
} as const satisfies Record<ExternalAccountType, AccountType>;
