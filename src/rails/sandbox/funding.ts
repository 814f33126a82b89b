import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58, bech32m, createBase58check, hex } from '@scure/base';
import { clabe } from 'clabe-validator';
import { composeIBAN } from 'ibantools';
import invoices from 'invoices';
import { pixKeyForms } from '../../core/account-fields.ts';
import { nubanCheckDigit } from '../../core/account-types.ts';
import type { CurrencyCode } from '../../core/currencies.ts';
import { eip55 } from '../../core/wallet-fields.ts';
import type { FundingRequest, PaymentInstruction } from '../rail.ts';

type Way = (request: FundingRequest) => PaymentInstruction;

/** Returns all payment instructions for a request, or an empty array for a currency without an account type. */
export function waysToPay(request: FundingRequest): PaymentInstruction[] {
  return ways[request.currency.code].map((way) => way(request));
}

/** Derives 32 bytes from the id of a quote or account and a purpose, so that nothing needs to be stored. */
function seedOf(owner: string, purpose: string): Buffer {
  return createHash('sha256').update(`sandbox funding ${purpose} ${owner}`).digest();
}

/** Derives exactly `count` decimal digits (at most 18) from an owner and a purpose. */
function digitsOf(owner: string, purpose: string, count: number): string {
  return (seedOf(owner, purpose).readBigUInt64BE(0) % 10n ** BigInt(count)).toString().padStart(count, '0');
}

// Bank accounts whose check digits are valid, so that clients accept them. Most bank codes belong to no real bank.

const bankName = 'Sandbox Bank';

const usAccount: Way = ({ owner, reference }) => ({
  accountType: 'US_ACCOUNT',
  accountNumber: digitsOf(owner, 'US_ACCOUNT', 17),
  // A well-known number with a valid checksum.
  routingNumber: '021000021',
  accountCategory: 'CHECKING',
  bankName,
  reference,
});

/** Creates a Maltese IBAN for euros. Maltese account numbers have 18 digits, enough to give each quote its own. */
const ibanAccount: Way = ({ owner, reference }) => {
  const iban = composeIBAN({ countryCode: 'MT', bban: `SBOX00001${digitsOf(owner, 'IBAN', 18)}` });
  if (iban === null) throw new Error('the sandbox bank code does not yield a valid IBAN');
  return { accountType: 'IBAN', iban, swiftBic: 'SBOXMTMT', reference };
};

/** The code of the clearing house that many Mexican virtual accounts use, and the code of Mexico City. */
const [clabeBank, clabeCity] = [646, 180];

const clabeAccount: Way = ({ owner, reference }) => ({
  accountType: 'CLABE',
  clabeNumber: clabe.calculate(clabeBank, clabeCity, Number(digitsOf(owner, 'CLABE', 11))),
  reference,
});

/** Creates a RANDOM PIX key for Brazilian reais. Each quote or account has its own, so no reference is needed. */
const pixKey: Way = ({ owner }) => ({
  accountType: 'PIX',
  pixKey: pixKeyForms.RANDOM.canonical(seedOf(owner, 'PIX').toString('hex').slice(0, 32)),
  pixKeyType: 'RANDOM',
  taxId: '12345678000195',
});

/** Creates a UPI address for Indian rupees. Each quote or account has its own, so no reference is needed. */
const upiAddress: Way = ({ owner }) => ({
  accountType: 'UPI',
  vpa: `pay.${seedOf(owner, 'UPI').toString('hex').slice(0, 24)}@sandbox`,
});

/** Creates an account for Nigerian naira. No list of Nigerian banks contains the bank code 999. */
const ngnAccount: Way = ({ owner, reference }) => {
  const serial = digitsOf(owner, 'NGN_ACCOUNT', 9);
  const accountNumber = `${serial}${nubanCheckDigit('999', serial)}`;
  return { accountType: 'NGN_ACCOUNT', accountNumber, bankName, reference };
};

type Plain<Type> = Extract<PaymentInstruction, { readonly accountType: Type; readonly accountNumber: string }>;

/** Creates an account whose number has `count` digits and no check digit. `bank` contains the other fields. */
const plainAccount =
  <Type extends 'GBP_ACCOUNT' | 'CAD_ACCOUNT' | 'PHP_ACCOUNT' | 'SGD_ACCOUNT'>(
    accountType: Type,
    count: number,
    bank: Omit<Plain<Type>, 'accountType' | 'accountNumber' | 'bankName' | 'reference'>,
  ): Way =>
  ({ owner, reference }) => {
    const plain = { accountType, accountNumber: digitsOf(owner, accountType, count), bankName, reference };
    // `plain` and `bank` together contain every field of the type.
    return { ...plain, ...bank } as Plain<Type>;
  };

// Stablecoin addresses, derived from the owner's seed.

const solanaWallet: Way = ({ owner, currency }) => ({
  accountType: 'SOLANA_WALLET',
  address: base58.encode(ed25519.getPublicKey(seedOf(owner, 'SOLANA_WALLET'))),
  assetType: currency.code,
});

const evmWallet =
  (accountType: 'BASE_WALLET' | 'POLYGON_WALLET'): Way =>
  ({ owner, currency }) => ({
    accountType,
    address: eip55(seedOf(owner, accountType).toString('hex', 12)),
    assetType: currency.code,
  });

/** The first byte of a Tron address, which makes it start with T in base 58. */
const tronNetwork = 0x41;

/** Creates a Tron address: the network's byte and the 20 bytes of an EVM address, in base 58 with a checksum. */
const tronWallet: Way = ({ owner, currency }) => {
  const bytes = Uint8Array.of(tronNetwork, ...seedOf(owner, 'TRON_WALLET').subarray(12));
  return { accountType: 'TRON_WALLET', address: createBase58check(sha256).encode(bytes), assetType: currency.code };
};

/** The features that a payer must support (BOLT 9): TLV onion payloads and the payment secret. */
const features = [{ bit: 8 }, { bit: 14 }];

/** The lifetime of an account's invoice: ten years. Without an expiry, a BOLT 11 invoice is valid for only an hour. */
const accountInvoiceMs = 10 * 365 * 24 * 3_600_000;

const millisatoshis = 1_000n;

const lightning: Way = (request) => ({ accountType: 'LIGHTNING', invoice: invoiceOf(request, 'LIGHTNING') });

/** Creates a bitcoin wallet on the second-layer network: an address (bech32m), and an invoice as an alternative. */
const layer2Wallet: Way = (request) => ({
  accountType: 'LAYER2_WALLET',
  address: bech32m.encodeFromBytes('l2', secp256k1.getPublicKey(seedOf(request.owner, 'LAYER2_WALLET'))),
  invoice: invoiceOf(request, 'LAYER2_WALLET invoice'),
  assetType: 'BTC',
});

/** Creates a signed BOLT 11 invoice that expires with the quote. It is for regtest, so no real wallet can pay it. */
function invoiceOf({ owner, reference, amount, createdAt, expiresAt }: FundingRequest, purpose: string): string {
  const key = seedOf(owner, purpose);
  const destination = hex.encode(secp256k1.getPublicKey(key));
  const { hash, hrp, tags } = invoices.createUnsignedRequest({
    created_at: createdAt.toISOString(),
    expires_at: (expiresAt ?? new Date(createdAt.getTime() + accountInvoiceMs)).toISOString(),
    description: reference,
    destination,
    features,
    id: seedOf(owner, `${purpose} hash`).toString('hex'),
    mtokens: amount === undefined ? undefined : (amount * millisatoshis).toString(),
    network: 'regtest',
    payment: seedOf(owner, `${purpose} secret`).toString('hex'),
  });
  const signature = hex.encode(secp256k1.sign(hex.decode(hash), key, { prehash: false }));
  return invoices.createSignedRequest({ destination, hrp, signature, tags }).request;
}

/** The payment instructions for each currency. The API has no account type for yen. */
const ways: Readonly<Record<CurrencyCode, readonly Way[]>> = {
  USD: [usAccount],
  EUR: [ibanAccount],
  GBP: [plainAccount('GBP_ACCOUNT', 8, { sortCode: '99-99-99' })],
  MXN: [clabeAccount],
  BRL: [pixKey],
  INR: [upiAddress],
  NGN: [ngnAccount],
  CAD: [plainAccount('CAD_ACCOUNT', 12, { bankCode: '999', branchCode: '00001' })],
  PHP: [plainAccount('PHP_ACCOUNT', 16, {})],
  SGD: [plainAccount('SGD_ACCOUNT', 12, { swiftCode: 'SBOXSGSG' })],
  JPY: [],
  BTC: [lightning, layer2Wallet],
  USDC: [solanaWallet, evmWallet('BASE_WALLET'), evmWallet('POLYGON_WALLET')],
  USDT: [tronWallet, solanaWallet],
};
