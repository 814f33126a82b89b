import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, base58check, bech32m, hex } from '@scure/base';
import { decode } from 'light-bolt11-decoder';
import { describe, expect, test } from 'vitest';
import { accountTypes } from '../../src/core/account-types.ts';
import type { ExternalAccountType } from '../../src/infra/database/generated/client/client.ts';
import { fundedIn, refusal } from '../setup/acts.ts';
import { instruction } from '../setup/both-apis.ts';
import { type Data, testGateway } from '../setup/gateway.ts';

const t = await testGateway();
const { platform } = t;
const scene = await platform.makeScene(0n);

const instructions = instruction.slice(1, -1);
const quoteFields = `id createdAt expiresAt totalSendingAmount { amount } transaction { reconciliationReference }
  paymentInstructions { ${instructions} }`;

/** Creates a quote that the customer funds in the given currency. The receiver gets `amount` euro cents. */
async function fundedQuote(currency: string, amount = 5_000): Promise<Data> {
  const outsideEur = currency === 'EUR' ? scene.outsideUsd : scene.outsideEur;
  const input = fundedIn(currency, { ...scene, outsideEur }, amount, { lockedCurrencySide: 'RECEIVING' });
  const made = await platform.act('createQuote', input, `quote { ${quoteFields} }`);
  return made.quote ?? made;
}

async function accountInstructions(currency: string): Promise<Data[]> {
  const id = await platform.internalAccount(scene.customerId, currency);
  const read = `... on InternalAccount { fundingPaymentInstructions { ${instructions} } }`;
  return (await platform.fieldsOf('account', id, read)).fundingPaymentInstructions;
}

/** Returns the sections of an invoice, by name. */
function read(invoice: string): Record<string, Data> {
  return Object.fromEntries(decode(invoice).sections.map((section: Data) => [section.name, section.value]));
}

/** Returns the address with the capitalization that EIP-55 requires. */
function checksummed(address: string): string {
  const small = address.slice(2).toLowerCase();
  const hash = hex.encode(keccak_256(new TextEncoder().encode(small)));
  return `0x${[...small].map((letter, at) => (Number.parseInt(hash.charAt(at), 16) > 7 ? letter.toUpperCase() : letter)).join('')}`;
}

const ways: Record<string, string[]> = {
  USD: ['US_ACCOUNT'],
  EUR: ['IBAN'],
  GBP: ['GBP_ACCOUNT'],
  MXN: ['CLABE'],
  BRL: ['PIX'],
  INR: ['UPI'],
  NGN: ['NGN_ACCOUNT'],
  CAD: ['CAD_ACCOUNT'],
  PHP: ['PHP_ACCOUNT'],
  SGD: ['SGD_ACCOUNT'],
  BTC: ['LIGHTNING', 'LAYER2_WALLET'],
  USDC: ['SOLANA_WALLET', 'BASE_WALLET', 'POLYGON_WALLET'],
  USDT: ['TRON_WALLET', 'SOLANA_WALLET'],
};

describe.each(Object.entries(ways))('%s', (currency, types) => {
  test('a quote and an account list every way to pay, each with its own instructions', async () => {
    const [first, second] = [await fundedQuote(currency), await fundedQuote(currency)];
    const own = await accountInstructions(currency);
    for (const list of [first.paymentInstructions, second.paymentInstructions, own]) {
      expect(list.map((way: Data) => way.accountType)).toEqual(types);
    }
    const ways = [first.paymentInstructions, second.paymentInstructions, own].flat();
    expect(new Set(ways.map((way) => JSON.stringify(way))).size).toBe(3 * types.length);
    for (const way of first.paymentInstructions) {
      if ('reference' in way) expect(way.reference).toBe(first.transaction.reconciliationReference);
    }
  });
});

test('yen, for which the interface has no account type, cannot fund a quote', async () => {
  expect(await fundedQuote('JPY')).toMatchObject(refusal('INVALID_CURRENCY', 'source', 'realtimeFunding', 'currency'));
  expect(await accountInstructions('JPY')).toEqual([]);
});

test('all bank accounts have valid check digits, and could be registered as external accounts of their type', async () => {
  for (const currency of ['USD', 'EUR', 'MXN', 'BRL', 'INR', 'GBP', 'CAD', 'PHP', 'SGD']) {
    const { __typename, accountType, reference, ...details } = (await fundedQuote(currency)).paymentInstructions[0];
    const beneficiary = { business: { legalName: 'Sandbox Bank' } };
    const kind = accountTypes[accountType as ExternalAccountType].graphql.input;
    const input = { currency, accountInfo: { [kind]: details }, beneficiary };
    const made = await platform.succeed('createExternalAccount', input, 'warnings { message }');
    expect([accountType, made.warnings]).toEqual([accountType, []]);
  }
});

describe('Lightning', () => {
  test('an invoice for a quote states the amount, reference and expiry', async () => {
    const quote = await fundedQuote('BTC');
    for (const { invoice } of quote.paymentInstructions) {
      const sections = read(invoice);
      expect(sections.amount).toBe(`${quote.totalSendingAmount.amount}000`);
      expect(sections.description).toBe(quote.transaction.reconciliationReference);
      expect(sections.timestamp).toBe(Math.floor(Date.parse(quote.createdAt) / 1000));
      expect(decode(invoice).expiry).toBe(300);
      expect(sections.coin_network.bech32).toBe('bcrt');
    }
  });

  test('an invoice for an account states no amount', async () => {
    const [lightning] = await accountInstructions('BTC');
    expect(read(lightning.invoice).amount).toBeUndefined();
  });

  test('a layer-2 address is a public key', async () => {
    const [, wallet] = (await fundedQuote('BTC')).paymentInstructions;
    expect(bech32m.decodeToBytes(wallet.address).bytes).toHaveLength(33);
    expect(wallet.assetType).toBe('BTC');
  });
});

describe('stablecoins', () => {
  test('addresses on Base and Polygon have a valid EIP-55 checksum', async () => {
    const [, base, polygon] = (await fundedQuote('USDC')).paymentInstructions;
    for (const { address, assetType } of [base, polygon]) {
      expect([checksummed(address), assetType]).toEqual([address, 'USDC']);
    }
    expect(checksummed('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')).toBe(
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    );
  });

  test('an address on Solana is a point on the curve', async () => {
    const [solana] = (await fundedQuote('USDC')).paymentInstructions;
    expect(() => ed25519.Point.fromBytes(base58.decode(solana.address))).not.toThrow();
  });

  test('an address on Tron has a valid checksum', async () => {
    const [tron] = (await fundedQuote('USDT')).paymentInstructions;
    expect(tron.address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
    const bytes = base58check(sha256).decode(tron.address);
    expect([bytes.length, bytes[0]]).toEqual([21, 0x41]);
    expect(tron.assetType).toBe('USDT');
  });
});
