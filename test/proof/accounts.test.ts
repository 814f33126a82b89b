import { sha256 } from '@noble/hashes/sha2.js';
import { base58, bech32m, createBase58check } from '@scure/base';
import { clabe } from 'clabe-validator';
import { cnpj, cpf } from 'cpf-cnpj-validator';
import fc from 'fast-check';
import { isValidBIC, isValidIBAN } from 'ibantools';
import { decode } from 'light-bolt11-decoder';
import { expect, test } from 'vitest';
import { type AccountType, accountTypes, identityOf } from '../../src/core/account-types.ts';
import { Refusal } from '../../src/core/refusal.ts';
import { canonicalText, foldedText, lengthOf, textFault } from '../../src/core/texts.ts';
import { checkAccountInfo } from '../../src/domain/accounts/account-details.ts';
import { type GeneratedAccount, generatedAccount, respelled } from '../setup/generated-accounts.ts';

// Tests generated accounts and names, with account number libraries as oracles. `ACCOUNT_RUNS` sets the number of
// cases, and `ACCOUNT_SEED` repeats a failed run.

const options = {
  numRuns: Number(process.env.ACCOUNT_RUNS ?? 4_000),
  ...(process.env.ACCOUNT_SEED && { seed: Number(process.env.ACCOUNT_SEED) }),
};

/** A hundred thousand runs take minutes on a busy machine. */
const timeout = 3_600_000;

const now = new Date();

function checked({ accountType, details }: GeneratedAccount) {
  const { currencies }: AccountType = accountTypes[accountType];
  return checkAccountInfo({ accountType, details, currency: currencies[0] ?? '' }, 'PRODUCTION', now);
}

test('an account of any type, in any printed format, is accepted in PRODUCTION and stored canonically', {
  timeout,
}, () => {
  const both = generatedAccount.chain((account) => respelled(account).map((spelled) => ({ account, spelled })));
  fc.assert(
    fc.property(both, ({ account, spelled }) => {
      const { info, identity } = checked(spelled);
      expect(identity).toEqual(identityOf(account.accountType, account.details));
      // Bank names are stored as written, and ignored in comparisons.
      const { bankName: _given, ...stored } = info;
      const { bankName: _made, ...canonical } = account.details;
      expect(stored).toEqual(canonical);
      // The stored details are accepted as input.
      expect(checked({ ...account, details: info })).toEqual({ info, identity });
    }),
    options,
  );
});

const decodes = (decode: () => unknown) => {
  try {
    return decode() !== undefined;
  } catch {
    return false;
  }
};
const allZeros = (value: string) => /^[0-]+$/.test(value);
const isBase58 = (value: string) => decodes(() => base58.decode(value));
/** For fields with check digits: whether a library accepts a canonical value, or undefined if no library can tell. */
const oracles: Readonly<
  Record<string, (value: string, details: Readonly<Record<string, string>>) => boolean | undefined>
> = {
  clabeNumber: (value) => clabe.validate(value).valid.format && !value.startsWith('000'),
  iban: (value) => isValidIBAN(value),
  swiftCode: (value) => isValidBIC(value),
  taxId: (value) => (value.length === 11 ? cpf.isValid(value) : cnpj.isValid(value)),
  pixKey: (value, { pixKeyType }) =>
    pixKeyType === 'CPF' ? cpf.isValid(value) : pixKeyType === 'CNPJ' ? cnpj.isValid(value) : undefined,
  invoice: (value) => decodes(() => decode(value)),
};
const ofAddress: Readonly<Record<string, (value: string) => boolean>> = {
  LAYER2_WALLET: (value) => bech32m.decodeUnsafe(value, false) !== undefined,
  SOLANA_WALLET: (value) => isBase58(value) && base58.decode(value).length === 32,
  TRON_WALLET: (value) =>
    decodes(() => createBase58check(sha256).decode(value)) && createBase58check(sha256).decode(value)[0] === 0x41,
};

/** An account in which one character of one detail is replaced by another of the same class. */
const mistyped = generatedAccount.chain(({ accountType, details }) => {
  const names = Object.keys(details).filter(
    (name) => name in oracles || (name === 'address' && accountType in ofAddress),
  );
  if (names.length === 0) return fc.constant(undefined);
  return fc
    .record({ name: fc.constantFrom(...names), at: fc.nat(200), digit: fc.nat(9), letter: fc.nat(25) })
    .map(({ name, at, digit, letter }) => {
      const value = details[name] ?? '';
      const place = at % value.length;
      const old = value[place] ?? '';
      const alphabet = old === old.toLowerCase() ? 'abcdefghijklmnopqrstuvwxyz' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
      const character = /[0-9]/.test(old) ? String(digit) : (alphabet[letter] ?? '');
      const wrong = value.slice(0, place) + character + value.slice(place + 1);
      return { accountType, name, value: wrong, details: { ...details, [name]: wrong } };
    });
});

test('an account with a typo is refused, unless a library accepts the mistyped value', {
  timeout,
}, () => {
  let refusals = 0;
  fc.assert(
    fc.property(mistyped, (account) => {
      if (!account) return;
      const { accountType, name, value, details } = account;
      const isRight = name === 'address' ? ofAddress[accountType]?.(value) : oracles[name]?.(value, details);
      if (isRight === undefined || allZeros(value)) return;
      let refusal: unknown;
      try {
        checked({ accountType, details });
      } catch (error) {
        refusal = error;
        refusals += 1;
      }
      // If the typo changes the country to one outside SEPA, the refusal names the missing BIC instead.
      const isOther = refusal instanceof Refusal && refusal.details.path?.at(-1) !== name;
      if (isRight) expect(refusal === undefined || isOther).toBe(true);
      else expect(refusal).toMatchObject({ code: 'INVALID_BANK_ACCOUNT' });
    }),
    options,
  );
  expect(refusals).toBeGreaterThan(options.numRuns / 10);
});

test('composition, surrounding spaces and case folding do not change the identity of a string', { timeout }, () => {
  const texts = fc.string({ unit: 'binary', maxLength: 40 });
  fc.assert(
    fc.property(fc.oneof(texts, fc.string({ unit: 'grapheme', maxLength: 40 })), (text) => {
      const canonical = canonicalText(text);
      expect(canonicalText(canonical)).toBe(canonical);
      expect(canonicalText(` ${text.normalize('NFD')}\u00a0`)).toBe(canonical);
      const fault = textFault(canonical, 40);
      if (fault !== undefined) return;
      expect(lengthOf(canonical)).toBeLessThanOrEqual(40);
      expect(canonical.isWellFormed()).toBe(true);
      expect(/[\p{Cc}\p{Co}\p{Cn}]/u.test(canonical)).toBe(false);
      expect(/[\p{L}\p{N}\p{P}\p{S}]/u.test(canonical)).toBe(true);
      const folded = foldedText(canonical);
      expect(foldedText(folded)).toBe(folded);
      // The dotless ı has the same capital as i, but is a different letter (Unicode's CaseFolding.txt).
      if (!/ı/.test(canonical)) {
        expect(foldedText(canonical.toUpperCase())).toBe(folded);
        expect(foldedText(canonical.toLowerCase())).toBe(folded);
      }
    }),
    options,
  );
});
