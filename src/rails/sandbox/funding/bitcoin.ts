import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bech32m, hex } from '@scure/base';
import invoices from 'invoices';
import type { FundingRequest, PaymentInstruction } from '../../rail.ts';
import { seedOf } from './seed.ts';

/** Features that a payer must know (BOLT 9): onion messages in TLV, and the payment secret. */
const features = [{ bit: 8 }, { bit: 14 }];

/** What an account's invoice, which states no amount and no end, is good for: BOLT 11 knows no invoice without an expiry. */
const lastingMs = 10 * 365 * 24 * 3_600_000;

const millisatoshis = 1_000n;

/** Bitcoin over Lightning. */
export function lightning(request: FundingRequest): PaymentInstruction {
  return { accountType: 'LIGHTNING', invoice: invoiceOf(request, 'LIGHTNING') };
}

/** Bitcoin on the second-layer network: an address (a public key in bech32m), or an invoice that its wallets pay too. */
export function layer2Wallet(request: FundingRequest): PaymentInstruction {
  const key = secp256k1.getPublicKey(seedOf(request.owner, 'LAYER2_WALLET'));
  return {
    accountType: 'LAYER2_WALLET',
    address: bech32m.encodeFromBytes('l2', key),
    invoice: invoiceOf(request, 'LAYER2_WALLET invoice'),
    assetType: 'BTC',
  };
}

/**
 * A BOLT 11 invoice, signed, for the amount or any amount, that ends with the quote. Its network is regtest, so that no
 * wallet with real money pays it.
 */
function invoiceOf({ owner, reference, amount, madeAt, expiresAt }: FundingRequest, purpose: string): string {
  const key = seedOf(owner, purpose);
  const destination = hex.encode(secp256k1.getPublicKey(key));
  const { hash, hrp, tags } = invoices.createUnsignedRequest({
    created_at: madeAt.toISOString(),
    expires_at: (expiresAt ?? new Date(madeAt.getTime() + lastingMs)).toISOString(),
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
