import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32m, createBase58check, hex } from '@scure/base';
import invoices from 'invoices';
import type { CurrencyCode } from '../../../core/currencies.ts';
import { eip55 } from '../../../core/wallet-fields.ts';
import type { FundingRequest, PaymentInstruction } from '../../rail.ts';
import {
  cadAccount,
  clabeAccount,
  gbpAccount,
  ibanAccount,
  ngnAccount,
  phpAccount,
  pixKey,
  sgdAccount,
  upiAddress,
  usAccount,
} from './banks.ts';
import { seedOf } from './seed.ts';

type Way = (request: FundingRequest) => PaymentInstruction;

/** The payment instructions of each currency (specification 1, decision 49). The API has no account type for yen. */
const ways: Readonly<Record<CurrencyCode, readonly Way[]>> = {
  USD: [usAccount],
  EUR: [ibanAccount],
  GBP: [gbpAccount],
  MXN: [clabeAccount],
  BRL: [pixKey],
  INR: [upiAddress],
  NGN: [ngnAccount],
  CAD: [cadAccount],
  PHP: [phpAccount],
  SGD: [sgdAccount],
  JPY: [],
  BTC: [lightning, layer2Wallet],
  USDC: [solanaWallet, baseWallet, polygonWallet],
  USDT: [tronWallet, solanaWallet],
};

/** Returns all payment instructions for a request; none for a currency without an account type in the sandbox. */
export function waysToPay(request: FundingRequest): PaymentInstruction[] {
  return ways[request.currency.code].map((way) => way(request));
}

/** Addresses for stablecoins. Each has its own key pair, derived from the owner's seed. */

function solanaWallet({ owner, currency }: FundingRequest): PaymentInstruction {
  const key = ed25519.getPublicKey(seedOf(owner, 'SOLANA_WALLET'));
  return { accountType: 'SOLANA_WALLET', address: base58.encode(key), assetType: currency.code };
}

function baseWallet({ owner, currency }: FundingRequest): PaymentInstruction {
  return { accountType: 'BASE_WALLET', address: evmAddress(owner, 'BASE_WALLET'), assetType: currency.code };
}

function polygonWallet({ owner, currency }: FundingRequest): PaymentInstruction {
  return { accountType: 'POLYGON_WALLET', address: evmAddress(owner, 'POLYGON_WALLET'), assetType: currency.code };
}

/** The first byte of Tron addresses, which base 58 shows as T. */
const tronNetwork = 0x41;

/**
 * Creates a Tron address for USDT: the network's byte and the 20 bytes of an EVM address, in base 58 with a checksum.
 */
function tronWallet({ owner, currency }: FundingRequest): PaymentInstruction {
  const bytes = Uint8Array.of(tronNetwork, ...keyHash(owner, 'TRON_WALLET'));
  return { accountType: 'TRON_WALLET', address: createBase58check(sha256).encode(bytes), assetType: currency.code };
}

/** Returns the last 20 bytes of the Keccak hash of an uncompressed public key without its leading byte. */
function keyHash(owner: string, purpose: string): Uint8Array {
  const key = secp256k1.getPublicKey(seedOf(owner, purpose), false);
  return keccak_256(key.subarray(1)).subarray(-20);
}

function evmAddress(owner: string, purpose: string): string {
  return eip55(hex.encode(keyHash(owner, purpose)));
}

/** The features that a payer must support (BOLT 9): onion messages in TLV, and the payment secret. */
const features = [{ bit: 8 }, { bit: 14 }];

/** The lifetime of an account's invoice, which has no amount and should not expire: BOLT 11 requires an expiry. */
const accountInvoiceMs = 10 * 365 * 24 * 3_600_000;

const millisatoshis = 1_000n;

function lightning(request: FundingRequest): PaymentInstruction {
  return { accountType: 'LIGHTNING', invoice: invoiceOf(request, 'LIGHTNING') };
}

/** Creates a bitcoin wallet on the second-layer network: an address (bech32m), and an invoice for the same wallets. */
function layer2Wallet(request: FundingRequest): PaymentInstruction {
  const key = secp256k1.getPublicKey(seedOf(request.owner, 'LAYER2_WALLET'));
  return {
    accountType: 'LAYER2_WALLET',
    address: bech32m.encodeFromBytes('l2', key),
    invoice: invoiceOf(request, 'LAYER2_WALLET invoice'),
    assetType: 'BTC',
  };
}

/** Creates a signed BOLT 11 invoice that expires with the quote, on regtest, where no real wallet can pay it. */
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
