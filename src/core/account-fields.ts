/** The details of an account, by field name. */
export type AccountDetails = Readonly<Record<string, string | null | undefined>>;

/** Spellings of a detail that mean the same. */
interface Spellings {
  /** What they differ in, in words. */
  readonly differIn: string;
  /** Returns the spelling that stands for all of them. */
  canonical(value: string, details: AccountDetails): string;
}

/**
 * A detail of an external account: its description and its form. The form is a pattern, never a checksum: sandbox
 * values must be accepted.
 */
export interface AccountField {
  readonly description: string;
  readonly pattern?: RegExp;
  /** The form in words, for the refusal. */
  readonly form?: string;
  /** The allowed values, if the set is closed, and the name of their enum in GraphQL. */
  readonly values?: readonly string[];
  readonly enumName?: string;
  readonly optional?: true;
  /** Which spellings of it are the same account; left out where each value is another one. */
  readonly spellings?: Spellings;
  /** The form that depends on the value of another field, besides the pattern. */
  readonly formBy?: {
    readonly field: string;
    readonly forms: Readonly<Record<string, { readonly pattern: RegExp; readonly form: string }>>;
  };
}

const withoutDashes = (value: string) => value.replace(/\p{Pd}/gu, '');

/** What details of an account ignore. */
export const spellings = {
  capitals: { differIn: 'capitals', canonical: (value: string) => value.toLowerCase() },
  dashes: { differIn: 'dashes', canonical: withoutDashes },
  numbers: { differIn: 'dashes, capitals', canonical: (value: string) => withoutDashes(value).toUpperCase() },
  names: {
    differIn: 'spaces, dashes, capitals',
    canonical: (value: string) => withoutDashes(value.normalize('NFKC')).replace(/\s/g, '').toLowerCase(),
  },
  /** The head office is the bank itself (ISO 9362). */
  bics: { differIn: 'XXX at the end', canonical: (value: string) => value.replace(/^(.{8})XXX$/, '$1') },
  /** Bech32 has no address that mixes capitals and small letters (BIP 173); other formats tell them apart. */
  bech32: {
    differIn: 'capitals throughout',
    canonical: (value: string) => (value === value.toUpperCase() ? value.toLowerCase() : value),
  },
  pixKeys: {
    differIn: 'punctuation of a CPF, a CNPJ or a random key, capitals',
    canonical: (value: string, { pixKeyType }: AccountDetails) =>
      (pixKeyType === 'EMAIL' || pixKeyType === 'PHONE' ? value : value.replace(/[^0-9A-Za-z]/g, '')).toLowerCase(),
  },
} satisfies Record<string, Spellings>;

/** Defines a detail of free text. */
export const text = (description: string): AccountField => ({
  description,
  pattern: /^[^\p{Cc}\p{Cs}]{1,140}$/u,
  form: '1 to 140 characters, without control characters',
});
/** Defines a detail of free text that may be left out. */
export const optionalText = (description: string): AccountField => ({ ...text(description), optional: true });
/** Defines a detail of so many digits. */
export const digits = (description: string, count: number): AccountField => ({
  description,
  pattern: new RegExp(`^[0-9]{${count}}$`),
  form: `${count} digits`,
});
/** Defines the BIC of a bank. */
export const bic = (description: string): AccountField => ({
  description,
  pattern: /^[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/,
  form: '8 or 11 characters such as DEUTDEFF or DEUTDEFF500',
  spellings: spellings.bics,
});
/** The name of a bank. */
export const bankName: AccountField = optionalText('Name of the bank, for people.');
/** An account number whose form differs from bank to bank. */
export const lettersOrDigits: AccountField = {
  description: 'Account number.',
  pattern: /^[0-9A-Za-z-]{4,34}$/,
  form: '4 to 34 letters or digits',
  spellings: spellings.numbers,
};
/** The address on a chain that uses the address format of Ethereum. */
export const evmAddress: AccountField = {
  description: 'Address of the wallet: 0x and 40 hexadecimal digits.',
  pattern: /^0x[0-9a-zA-Z]{40}$/,
  form: '0x and 40 letters or digits',
  spellings: spellings.capitals,
};

/**
 * The purposes of a payment (specification 2.10), for `PURPOSE_OF_PAYMENT`, and for Nigerian accounts and some corridors,
 * which require one.
 */
export const purposesOfPayment = [
  'GIFT',
  'SELF',
  'GOODS_OR_SERVICES',
  'EDUCATION',
  'HEALTH_OR_MEDICAL',
  'REAL_ESTATE_PURCHASE',
  'TAX_PAYMENT',
  'LOAN_PAYMENT',
  'UTILITY_BILL',
  'DONATION',
  'TRAVEL',
  'OTHER',
] as const;

/** The forms of a Pix key by its type, with or without the usual punctuation. */
export const pixKeyForms = {
  CPF: { pattern: /^[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}$/, form: 'a CPF of 11 digits' },
  CNPJ: { pattern: /^[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}\/?[0-9]{4}-?[0-9]{2}$/, form: 'a CNPJ of 14 digits' },
  EMAIL: { pattern: /^[^@]+@[^@]+$/, form: 'an email address' },
  PHONE: { pattern: /^\+[1-9][0-9]{7,14}$/, form: 'a phone number such as +5511999998888' },
  RANDOM: { pattern: /^[0-9A-Za-z-]{32,36}$/, form: 'a random key of 32 letters or digits, with or without dashes' },
};
