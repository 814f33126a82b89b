import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32, bech32m, createBase58check, hex } from '@scure/base';
import invoices from 'invoices';
import { type AccountField, type AccountForm, numberField, run, strangeCharacter, written } from './account-fields.ts';
import { nameOfCharacter } from './texts.ts';

// Wallet addresses and their checksums. A printed address may span several lines.

const bare = (value: string) => value.replace(/\s/g, '');

const address = (
  description: string,
  form: string,
  pattern: RegExp,
  more: Pick<AccountField, 'check'> & Partial<AccountField>,
): AccountField => ({
  description,
  form,
  pattern,
  maxLength: 200,
  canonical: bare,
  differIn: 'spaces',
  explain: (value) =>
    strangeCharacter(bare(value), /^[0-9A-Za-z]$/, (one) => `${nameOfCharacter(one)}, neither a letter nor a digit`),
  ...more,
});

/** Refuses the characters that base 58 excludes because they resemble others, before the address itself is checked. */
function in58(check: (value: string) => string | undefined): Pick<AccountField, 'check'> {
  return {
    check: (value) => {
      const place = value.search(/[0OIl]/);
      if (place < 0) return check(value);
      return `character ${place + 1} is ${value[place]}, which these addresses never contain because it resembles another character`;
    },
  };
}

/** Refuses a key of all zeros, which is what software produces from empty fields. */
const nobody = (key: Uint8Array) =>
  key.every((byte) => byte === 0) ? 'nobody owns this address: money sent to it would be lost' : undefined;

/** A Solana wallet address: a base-58 public key, without a checksum. */
export const solanaAddress = address(
  'Wallet address, 32 to 44 characters.',
  '32 to 44 letters or digits',
  /^\s*(?:[0-9A-Za-z]\s*){32,44}$/,
  in58((value) => {
    const key = base58.decode(value);
    return key.length === 32
      ? nobody(key)
      : 'it does not decode to 32 bytes: characters are missing, or there are too many';
  }),
);

/** A Tron wallet address, with its checksum. */
export const tronAddress = address(
  'Wallet address: T and 33 characters.',
  'T and 33 letters or digits',
  /^\s*T\s*(?:[0-9A-Za-z]\s*){33}$/,
  in58((value) => {
    try {
      const bytes = createBase58check(sha256).decode(value);
      return bytes.length === 21 && bytes[0] === 0x41
        ? nobody(bytes.subarray(1))
        : 'it is the address of another chain';
    } catch {
      return 'its last characters, the checksum, do not match the rest, because a character is wrong or two are swapped';
    }
  }),
);

/**
 * Adds the checksum to an EVM address: the case of its letters (EIP-55). A letter is uppercase if the hex digit at the
 * same position in the hash of the lowercase address is 8 or more.
 */
export function eip55(digits: string): string {
  const small = digits.toLowerCase();
  const hash = hex.encode(keccak_256(new TextEncoder().encode(small)));
  const letters = [...small].map((letter, place) =>
    Number.parseInt(hash[place] ?? '0', 16) >= 8 ? letter.toUpperCase() : letter,
  );
  return `0x${letters.join('')}`;
}

/** A wallet address on a chain that uses Ethereum's address format. */
export const evmAddress = numberField(
  'Wallet address: 0x and 40 hexadecimal digits.',
  written('0x and 40 hexadecimal digits', { runs: [run('0'), run('[xX]'), run('[0-9A-Fa-f]', 40)], between: '\\s' }),
  {
    maxLength: 200,
    canonical: (value) => eip55(bare(value).slice(2)),
    differIn: 'upper or lower case throughout, spaces',
    check: (value, _details, given) => {
      const digits = bare(given).slice(2);
      const lost = nobody(hex.decode(digits.toLowerCase()));
      if (lost !== undefined) return lost;
      const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase();
      return isPlain || `0x${digits}` === value
        ? undefined
        : 'its capitals, the checksum, do not match the rest, because a character is wrong or two are swapped';
    },
  },
);

const isCapital = (value: string) => value === value.toUpperCase();
const wrongChecksum =
  'its last 6 characters, the checksum, do not match the rest, because a character is wrong or two are swapped';

/** A wallet address on the second-layer Bitcoin network: bech32m, all upper case or all lower case. */
export const layer2Address = address(
  'Wallet address, 20 to 120 characters.',
  '20 to 120 letters or digits',
  /^\s*(?:[0-9A-Za-z]\s*){20,120}$/,
  {
    canonical: (value) => (isCapital(value) ? bare(value).toLowerCase() : bare(value)),
    differIn: 'upper or lower case throughout, spaces',
    check: (value) => {
      // People may mistake an address on the Bitcoin network itself for an address on the second layer.
      const { prefix } = bech32.decodeUnsafe(value, false) ?? bech32m.decodeUnsafe(value, false) ?? {};
      if (prefix === undefined) return wrongChecksum;
      return /^(?:bc|tb|bcrt)$/.test(prefix) || !bech32m.decodeUnsafe(value, false)
        ? 'it is an address of another network'
        : undefined;
    },
  },
);

const withoutScheme = (value: string) =>
  bare(value)
    .toLowerCase()
    .replace(/^lightning:/, '');

const lightning = { maxLength: 2_100, optional: true, explain: () => undefined } as const;

function expiryOf(request: string): Date | undefined {
  try {
    return new Date(invoices.parsePaymentRequest({ request }).expires_at);
  } catch {
    return undefined;
  }
}

export const lightningInvoice = address(
  'BOLT 11 invoice, which can be paid once.',
  'a BOLT 11 invoice starting with ln',
  /^\s*(?:[lL][iI][gG][hH][tT][nN][iI][nN][gG]:)?[lL]\s*[nN]\s*(?:[0-9A-Za-z]\s*){20,2000}$/,
  {
    ...lightning,
    canonical: withoutScheme,
    differIn: 'letter case, spaces, the prefix lightning:',
    check: (value) => {
      const decoded = bech32.decodeUnsafe(value, false);
      if (!decoded) return wrongChecksum;
      if (!/^lnbc(?:\d+[munp]?)?$/.test(decoded.prefix)) return 'it is an invoice of a test network';
      return expiryOf(value) ? undefined : "part of the invoice is missing, or its signature is not the payee's";
    },
    expiry: expiryOf,
  },
);

/** A BOLT 12 offer: bech32 characters without a checksum. Its lines may be joined by plus signs. */
export const lightningOffer = address(
  'BOLT 12 offer.',
  'a BOLT 12 offer starting with lno',
  /^\s*(?:[lL][iI][gG][hH][tT][nN][iI][nN][gG]:)?[lL][\s+]*[nN][\s+]*[oO][\s+]*(?:[0-9A-Za-z][\s+]*){10,2000}$/,
  {
    ...lightning,
    canonical: (value) => withoutScheme(value.replaceAll('+', '')),
    differIn: 'letter case, spaces, + at line breaks, the prefix lightning:',
    check: (value) =>
      /^lno1[02-9ac-hj-np-z]+$/.test(value) ? undefined : 'it has a character that offers never contain',
  },
);

export const domainFault: AccountForm['check'] = (value) =>
  /^[^@]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]+)$/.test(value)
    ? undefined
    : 'the part after the @ is not a domain';
