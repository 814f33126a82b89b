import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bech32m, hex } from '@scure/base';
import invoices from 'invoices';
import type { FundingRequest, PaymentInstruction } from '../../rail.ts';
import { seedOf } from './seed.ts';

/** The features that a payer must support (BOLT 9): onion messages in TLV, and the payment secret. */
const features = [{ bit: 8 }, { bit: 14 }];

/** The lifetime of an account's invoice, which states no amount and should not expire: BOLT 11 demands an expiry. */
const accountInvoiceMs = 10 * 365 * 24 * 3_600_000;

const millisatoshis = 1_000n;

export function lightning(request: FundingRequest): PaymentInstruction {
  return { accountType: 'LIGHTNING', invoice: invoiceOf(request, 'LIGHTNING') };
}

/** Makes a wallet for bitcoin on the second-layer network: an address (bech32m) and an invoice for the same wallets. */
export function layer2Wallet(request: FundingRequest): PaymentInstruction {
  const key = secp256k1.getPublicKey(seedOf(request.owner, 'LAYER2_WALLET'));
  return {
    accountType: 'LAYER2_WALLET',
    address: bech32m.encodeFromBytes('l2', key),
    invoice: invoiceOf(request, 'LAYER2_WALLET invoice'),
    assetType: 'BTC',
  };
}

/** Makes a signed BOLT 11 invoice that expires with the quote, on regtest, where no real wallet pays it. */
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
