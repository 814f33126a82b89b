import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, createBase58check, hex } from '@scure/base';
import { eip55 } from '../../../core/wallet-fields.ts';
import type { FundingRequest, PaymentInstruction } from '../../rail.ts';
import { seedOf } from './seed.ts';

/** Addresses for stablecoins. Each belongs to a key pair of its own, derived from the owner's seed. */

/** Makes a Solana address for USDC or USDT: an ed25519 public key in base 58. */
export function solanaWallet({ owner, currency }: FundingRequest): PaymentInstruction {
  const key = ed25519.getPublicKey(seedOf(owner, 'SOLANA_WALLET'));
  return { accountType: 'SOLANA_WALLET', address: base58.encode(key), assetType: currency.code };
}

export function baseWallet({ owner, currency }: FundingRequest): PaymentInstruction {
  return { accountType: 'BASE_WALLET', address: evmAddress(owner, 'BASE_WALLET'), assetType: currency.code };
}

export function polygonWallet({ owner, currency }: FundingRequest): PaymentInstruction {
  return { accountType: 'POLYGON_WALLET', address: evmAddress(owner, 'POLYGON_WALLET'), assetType: currency.code };
}

/** The first byte of the addresses of Tron, which base 58 shows as T. */
const tronNetwork = 0x41;

/**
 * Makes a Tron address for USDT: the 20 bytes of an EVM address behind the network's byte, in base 58 with checksum.
 */
export function tronWallet({ owner, currency }: FundingRequest): PaymentInstruction {
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
