import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58, bech32m, createBase58check, hex } from '@scure/base';
import { clabe } from 'clabe-validator';
import { cnpj, cpf } from 'cpf-cnpj-validator';
import fc from 'fast-check';
import { composeIBAN, countrySpecs, isValidIBAN } from 'ibantools';
import invoices from 'invoices';
import type { AccountDetails } from '../../src/core/account-fields.ts';
import { type AccountType, accountTypes } from '../../src/core/account-types.ts';
import { eip55 } from '../../src/core/wallet-fields.ts';
import type { ExternalAccountType } from '../../src/infra/database/generated/client/client.ts';

// Generates accounts, with numbers from account-number libraries, and the different ways in which people write them.

/** An account with valid check digits, in the canonical spelling. */
export interface GeneratedAccount {
  readonly accountType: ExternalAccountType;
  readonly details: Readonly<Record<string, string>>;
}

const digits = (count: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{${count}}$`)).filter((text) => !/^0+$/.test(text));
const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
const from = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const withDigits = (base: string, digitOf: (text: string) => number) => {
  const one = `${base}${digitOf(base)}`;
  return `${one}${digitOf(one)}`;
};
const routingNumber = fc.tuple(from(['02', '03', '11', '12', '26', '32']), digits(6)).map(([district, rest]) => {
  const base = `${district}${rest}`;
  const sum = [...base].reduce((total, digit, place) => total + Number(digit) * ([3, 7, 1][place % 3] ?? 0), 0);
  return `${base}${(10 - (sum % 10)) % 10}`;
});
const cpfs = digits(9)
  .map((base) => withDigits(base, cpf.verifierDigit))
  .filter((number) => cpf.isValid(number));
const cnpjs = fc
  .stringMatching(/^[0-9A-Z]{12}$/)
  .map((base) => withDigits(base, cnpj.verifierDigit))
  .filter((number) => cnpj.isValid(number));
const pixKeys = fc.oneof(
  cpfs.map((pixKey) => ({ pixKeyType: 'CPF', pixKey })),
  cnpjs.map((pixKey) => ({ pixKeyType: 'CNPJ', pixKey })),
  fc.stringMatching(/^[a-z0-9]{3,20}@[a-z]{3,10}\.com$/).map((pixKey) => ({ pixKeyType: 'EMAIL', pixKey })),
  digits(9).map((rest) => ({ pixKeyType: 'PHONE', pixKey: `+55119${rest}` })),
  fc.uuid().map((pixKey) => ({ pixKeyType: 'RANDOM', pixKey })),
);
const ibans = from(Object.entries(countrySpecs).filter(([, { SEPA, bban_regexp }]) => SEPA && bban_regexp))
  .chain(([countryCode, { bban_regexp }]) =>
    fc.stringMatching(new RegExp(bban_regexp ?? '')).map((bban) => composeIBAN({ countryCode, bban })),
  )
  .filter((iban) => iban !== null && isValidIBAN(iban));
const bics = fc.stringMatching(/^[A-Z]{4}(?:SG|DE|GB)[A-Z0-9]{2}(?:[A-W0-9]{3})?$/);
/** Account numbers that can contain letters: either none, or at least one that does not resemble a digit. */
const numbersOfLetters = fc
  .stringMatching(/^[1-9][0-9A-Z]{5,15}$/)
  .filter((number) => /^[0-9]*$|[A-HJKMNP-Z]/.test(number));
const bankNames = from(['BDO Unibank', 'Wema', 'Bank of the Philippine Islands', 'Metrobank', 'Kuda']);
const address = (made: fc.Arbitrary<string>) => made.map((text) => ({ address: text }));
const evm = address(bytes(20).map((raw) => eip55(Buffer.from(raw).toString('hex'))));

/** An invoice for an amount in thousandths of a satoshi, or for any amount (0); it is valid for an hour. */
function invoiceOf(secret: Uint8Array, id: Uint8Array, mtokens: number): string {
  const key = sha256(secret);
  const destination = hex.encode(secp256k1.getPublicKey(key));
  const { hash, hrp, tags } = invoices.createUnsignedRequest({
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    ...{ description: 'coffee', destination, features: [{ bit: 8 }, { bit: 14 }], id: hex.encode(id) },
    ...{ mtokens: mtokens === 0 ? undefined : String(mtokens), network: 'bitcoin', payment: hex.encode(key) },
  });
  const signature = hex.encode(secp256k1.sign(hex.decode(hash), key, { prehash: false }));
  return invoices.createSignedRequest({ destination, hrp, signature, tags }).request;
}

const generators: Readonly<Record<ExternalAccountType, fc.Arbitrary<AccountDetails>>> = {
  US_ACCOUNT: fc.record({ accountNumber: digits(12), routingNumber, accountCategory: from(['CHECKING', 'SAVINGS']) }),
  CLABE: fc
    .tuple(from(Object.keys(clabe.banksMap).map(Number)), fc.nat(999), fc.nat(99_999_999))
    .map(([bank, city, account]) => ({ clabeNumber: clabe.calculate(bank, city, account) })),
  PIX: fc.tuple(pixKeys, fc.oneof(cpfs, cnpjs)).map(([key, taxId]) => ({ ...key, taxId })),
  IBAN: ibans.map((iban) => ({ iban })),
  UPI: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{1,18}[a-z0-9]@[a-z]{3,10}$/).map((vpa) => ({ vpa })),
  NGN_ACCOUNT: fc.record({
    accountNumber: digits(10),
    bankName: from(['Kuda', 'Opay']),
    purposeOfPayment: from(['GIFT']),
  }),
  CAD_ACCOUNT: fc.record({ bankCode: digits(3), branchCode: digits(5), accountNumber: digits(9) }),
  GBP_ACCOUNT: fc.tuple(digits(6), digits(8)).map(([code, accountNumber]) => ({
    sortCode: code.replace(/^(..)(..)/, '$1-$2-'),
    accountNumber,
  })),
  PHP_ACCOUNT: fc.record({ bankName: bankNames, accountNumber: numbersOfLetters }),
  SGD_ACCOUNT: fc.record({ bankName: bankNames, swiftCode: bics, accountNumber: numbersOfLetters }),
  LAYER2_WALLET: address(bytes(33).map((raw) => bech32m.encodeFromBytes('sp', raw))),
  LIGHTNING: fc.oneof(
    fc
      .tuple(bytes(32), bytes(32), fc.nat(1_000_000))
      .map(([key, id, mtokens]) => ({ invoice: invoiceOf(key, id, mtokens) })),
    fc.stringMatching(/^lno1[02-9ac-hj-np-z]{40,90}$/).map((bolt12) => ({ bolt12 })),
    fc.stringMatching(/^[a-z0-9._-]{3,20}@[a-z]{3,10}\.org$/).map((lightningAddress) => ({ lightningAddress })),
  ),
  SOLANA_WALLET: address(
    bytes(32)
      .map((raw) => base58.encode(raw))
      .filter((text) => text.length >= 43),
  ),
  TRON_WALLET: address(bytes(20).map((raw) => createBase58check(sha256).encode(Uint8Array.of(0x41, ...raw)))),
  POLYGON_WALLET: evm,
  BASE_WALLET: evm,
};

export const generatedAccount: fc.Arbitrary<GeneratedAccount> = fc.oneof(
  ...Object.entries(generators).map(([accountType, made]) =>
    // Each generator creates the details of its type; the Lightning generators omit two of three.
    made.map((details) => ({ accountType, details }) as GeneratedAccount),
  ),
);

const spaces = ['', '', ' ', '\u00a0', '\u2009', '  '] as const;
const dashes = ['-', '\u2010', '\u2013', '\u2212'] as const;

/** Generates a different spelling of an account, which differs only in what its declaration allows. */
export const respelled = ({ accountType, details }: GeneratedAccount): fc.Arbitrary<GeneratedAccount> => {
  const { fields }: AccountType = accountTypes[accountType];
  const spelled = Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      spelling(value, differences(accountType, name, details, fields[name]?.differIn)),
    ]),
  );
  return fc.record(spelled).map((again) => ({ accountType, details: again }));
};

/** Returns how spellings can differ, according to the declaration; for a Pix key this depends on the key's type. */
function differences(accountType: string, name: string, details: AccountDetails, differIn = ''): string {
  if (accountType !== 'PIX' || name !== 'pixKey') return differIn;
  const ofType: Readonly<Record<string, string>> = {
    EMAIL: 'letter case, surrounding spaces',
    PHONE: 'spaces, punctuation',
    RANDOM: 'spaces, dashes, letter case',
  };
  return ofType[details.pixKeyType ?? ''] ?? differIn;
}

function spelling(value: string, differIn: string): fc.Arbitrary<string> {
  if (differIn === '') return fc.constant(value);
  const gaps: readonly string[] = [
    ...(differIn.includes('spaces') && !differIn.includes('surrounding') ? spaces : ['']),
    ...(differIn.includes('dashes') ? dashes : []),
    ...(differIn.includes('punctuation') ? ['.', '/', ...dashes] : []),
    ...(differIn.includes('+ at line') ? ['+', '+\n '] : []),
  ];
  const ends = from(differIn.includes('spaces') ? spaces : ['']);
  const bare = differIn.includes('dashes') || differIn.includes('punctuation') ? value.replace(/[\s-]/g, '') : value;
  const label = differIn.includes('lightning:') ? ['lightning:', 'LIGHTNING:'] : ['IBAN ', 'iban: '];
  const before = /lightning:|IBAN/.test(differIn) ? from(['', ...label]) : fc.constant('');
  const after = differIn.includes('XXX') && bare.length === 8 ? from(['', 'XXX']) : fc.constant('');
  return fc
    .tuple(
      fc.array(from(gaps), { minLength: bare.length, maxLength: bare.length }),
      from(['', 'lower', 'upper', 'mixed']),
      before,
      after,
      ends,
      ends,
    )
    .map(([between, letters, scheme, rest, left, right]) => {
      const cased = casing(`${bare}${rest}`, letters, differIn);
      const spread = [...cased]
        .map((character, place) => (place === 0 ? '' : (between[place] ?? '')) + character)
        .join('');
      return `${left}${scheme}${spread}${right}`;
    });
}

function casing(value: string, letters: string, differIn: string): string {
  if (!differIn.includes('case') || letters === '') return value;
  if (letters === 'lower' || (letters === 'mixed' && differIn.includes('throughout'))) return value.toLowerCase();
  if (letters === 'upper') return value.toUpperCase();
  return [...value].map((letter, place) => (place % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase())).join('');
}
