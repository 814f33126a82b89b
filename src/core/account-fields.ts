import anyAscii from 'any-ascii';
import { cnpj as cnpjs, cpf as cpfs } from 'cpf-cnpj-validator';
import { isValidBIC } from 'ibantools';
import { canonicalText, foldedText, lengthOf, nameOfCharacter, textFault } from './texts.ts';

export type AccountDetails = Readonly<Record<string, string | null | undefined>>;

/** A detail's format: the accepted notations, and the canonical form that is stored. */
export interface AccountForm {
  /** The format in words, such as "9 digits". */
  readonly form: string;
  /** The accepted input, as a pattern without flags, so that every API's schema can contain it. */
  readonly pattern: RegExp;
  canonical(value: string): string;
  /** Explains more precisely than `form` why a value is refused; returns undefined if there is nothing to add. */
  explain?(value: string): string | undefined;
  /** Returns why no account can have this value (in canonical form), for example because its check digits are wrong. */
  check?(value: string, details: AccountDetails, given: string): string | undefined;
  expiry?(value: string): Date | undefined;
}

export interface AccountField extends AccountForm {
  readonly description: string;
  readonly maxLength: number;
  /** The allowed values with their meanings, if the set is closed. The GraphQL enum is named after the field. */
  readonly values?: Readonly<Record<string, string>>;
  readonly optional?: true;
  /** Explains why the other details make this optional detail required; returns undefined if they do not. */
  requiredBeside?(details: AccountDetails): string | undefined;
  /** Describes how notations of the same value may differ. */
  readonly differIn?: string;
  /** The form for comparisons, if it differs from the canonical form. */
  compared?(value: string): string;
  /** The formats that replace the field's own, keyed by the value of another field. */
  readonly formBy?: { readonly field: string; readonly forms: Readonly<Record<string, AccountForm>> };
}

/** Returns a field's format, which may depend on another field, such as the country. */
export function formOf(field: AccountField, details: AccountDetails): AccountForm {
  return field.formBy?.forms[details[field.formBy.field] ?? ''] ?? field;
}

/** Returns why a value does not match its format, or undefined if it does. */
export function formFault(field: AccountField, value: string, details: AccountDetails): string | undefined {
  if (lengthOf(canonicalText(value)) > field.maxLength)
    return `the value must have at most ${field.maxLength} characters`;
  const { pattern, form, explain } = formOf(field, details);
  const reason = explain?.(value);
  if (pattern.test(value) && reason === undefined) return undefined;
  return `the value must be ${form}${reason === undefined ? '' : `; ${reason}`}`;
}

/** Separators in printed numbers: spaces of every width, and dashes. Used inside a character class. */
const spaces = String.raw`\s\-\u2010-\u2015\u2212`;
const gapsOfPrint = new RegExp(`[${spaces}]`, 'g');
/** Separators in printed Brazilian tax numbers and telephone numbers: those above, periods, slashes and parentheses. */
const punctuation = String.raw`${spaces}.\/\(\)`;

/** A run of characters in a number: the character class, and the minimum and maximum length. */
interface Run {
  readonly allowed: string;
  readonly least: number;
  readonly most: number;
}

export const run = (allowed: string, least = 1, most = least): Run => ({ allowed, least, most });

/** Describes how a number may be written: runs of characters, with the characters in `between` allowed anywhere. */
interface Writing {
  readonly runs: readonly Run[];
  readonly between?: string;
  readonly capitals?: boolean;
}

const digit = '[0-9]';
const alphanumeric = '[0-9A-Za-z]';

/** ASCII characters that are easily confused, each with the character that may have been meant. */
const lookalikes: Readonly<Record<string, string>> = { O: '0', o: '0', I: '1', l: '1', '|': '1', '0': 'O', '1': 'I' };

function spoken(character: string): string {
  if (/[0-9]/.test(character)) return `the digit ${character}`;
  if (/[A-Za-z]/.test(character)) return `the letter ${character}`;
  return character === ' ' ? 'a space' : nameOfCharacter(character);
}

/** Creates a number's format: accepted input, stored value, and an explanation of the first wrong character. */
export function written(form: string, { runs, between = spaces, capitals = false }: Writing): AccountForm {
  const gap = new RegExp(`[${between}]`, 'g');
  const body = runs.map(({ allowed, least, most }) => {
    const count = least === most ? least : `${least},${most}`;
    return `(?:${allowed}[${between}]*){${count}}`;
  });
  const bare = (value: string) => value.replace(gap, '');
  return {
    form,
    pattern: new RegExp(`^[${between}]*${body.join('')}$`),
    canonical: (value) => (capitals ? bare(value).toUpperCase() : bare(value)),
    explain: (value) => misfit([...bare(value)], runs),
  };
}

/** Accepts a value in either of two formats. The second is the stored form, and explanations refer to it. */
const eitherForm = (form: string, one: AccountForm, other: AccountForm): AccountForm => ({
  form,
  pattern: new RegExp(`${one.pattern.source}|${other.pattern.source}`),
  canonical: other.canonical,
  explain: (value) => (one.explain?.(value) === undefined ? undefined : other.explain?.(value)),
});

function misfit(characters: readonly string[], runs: readonly Run[]): string | undefined {
  const places = runs.flatMap(({ allowed, most }) => Array.from({ length: most }, () => new RegExp(`^${allowed}$`)));
  const allowedAt = (place: number) => places[place] ?? places.at(-1);
  const wrong = characters.findIndex((character, place) => !allowedAt(place)?.test(character));
  const character = characters[wrong];
  if (character !== undefined) {
    // Full-width, Arabic or Indic digits, or letters from other scripts, may have been typed instead of ASCII.
    const ascii = anyAscii(character);
    const meant = [ascii, lookalikes[ascii]].find((one) => one !== undefined && allowedAt(wrong)?.test(one));
    const hint = meant === undefined ? '' : `; did you mean ${spoken(meant)}?`;
    return `character ${wrong + 1} is ${spoken(character)}${hint}`;
  }
  const least = runs.reduce((sum, one) => sum + one.least, 0);
  const count = characters.length;
  return count < least || count > places.length
    ? `it has ${count} ${count === 1 ? 'character' : 'characters'}`
    : undefined;
}

/** Suggests a substitution of similar characters if it is the only one that makes the value valid. */
function exchanged(value: string, isRight: (value: string) => boolean): string | undefined {
  const rightWith = (from: string, to: string) => {
    const places = [...value.matchAll(new RegExp(from, 'g'))].map(({ index }) => index);
    const single = places.map((place) => [
      value.slice(0, place) + to + value.slice(place + 1),
      `at character ${place + 1}`,
    ]);
    const all = places.length > 1 ? [[value.replaceAll(from, to), 'everywhere']] : [];
    return [...single, ...all].flatMap(([corrected = '', where]) =>
      isRight(corrected) ? [`did you mean ${spoken(to)} instead of ${spoken(from)} ${where}?`] : [],
    );
  };
  const digits = [...rightWith('O', '0'), ...rightWith('I', '1')];
  // Letters are typed in place of digits more often than digits in place of letters.
  const found = digits.length > 0 ? digits : [...rightWith('0', 'O'), ...rightWith('1', 'I')];
  return found.length === 1 ? found[0] : undefined;
}

/** Creates a validator for check digits. Its message may suggest a substitution of similar characters. */
export function checkDigits(
  which: string,
  isRight: (value: string, details: AccountDetails) => boolean,
): NonNullable<AccountForm['check']> {
  return (value, details) => {
    if (isRight(value, details)) return undefined;
    const hint = exchanged(value, (other) => isRight(other, details));
    return `${which} not match the rest, because a character is wrong or two are swapped${hint === undefined ? '' : `; ${hint}`}`;
  };
}

/** Refuses a number that consists only of zeros, because no bank uses such a number. */
export const notZeros: NonNullable<AccountForm['check']> = (value) =>
  /^0+$/.test(value) ? 'it is all zeros' : undefined;

const usualLength = 140;

/** Field properties that supplement or replace the defaults. */
type More = Partial<AccountField>;

/** Defines an account number, which must not consist only of zeros. */
export const numberField = (description: string, form: AccountForm, more: More = {}): AccountField => ({
  description,
  maxLength: usualLength,
  check: notZeros,
  ...form,
  ...more,
});

/** Defines a free-text field, such as a name. */
export const text = (description: string, more: More = {}): AccountField => ({
  description,
  maxLength: usualLength,
  pattern: /\S/,
  form: `1 to ${usualLength} characters`,
  canonical: canonicalText,
  explain: (value) => {
    const fault = textFault(canonicalText(value), usualLength);
    return fault && `it ${fault}`;
  },
  ...more,
});
export const bankName = text('Bank name, for display only.', { optional: true });
/** Defines the bank name for accounts whose numbers are unique only within their bank. */
export const identifyingBankName = text('Bank name, as shown on account statements. It helps identify the account.', {
  differIn: 'spaces, dashes, letter case',
  compared: (value) => foldedText(value.normalize('NFKC')).replace(gapsOfPrint, ''),
});

export const digits = (description: string, least: number, most = least, more: More = {}): AccountField =>
  numberField(
    description,
    written(least === most ? `${least} digits` : `${least} to ${most} digits`, { runs: [run(digit, least, most)] }),
    { differIn: 'spaces, dashes', ...more },
  );

/** Defines a detail with a closed set of values. */
export const choice = (description: string, values: Readonly<Record<string, string>>): AccountField => ({
  description,
  maxLength: usualLength,
  values,
  form: `one of ${Object.keys(values).join(', ')}`,
  pattern: new RegExp(`^(?:${Object.keys(values).join('|')})$`),
  canonical: (value) => value,
});

/** Defines a number whose format differs from bank to bank. */
export const lettersOrDigits = numberField(
  'Account number.',
  written('4 to 34 letters or digits', { runs: [run(alphanumeric, 4, 34)], capitals: true }),
  {
    differIn: 'spaces, dashes, letter case',
    // A number whose only letters are O, I or L is mistyped: banks that use letters use other letters as well.
    check: (value, details, given) => {
      const [letter] = /^[OIL]*[0-9][0-9OIL]*$/.test(value) ? (/[OIL]/.exec(value) ?? []) : [];
      if (letter === undefined) return notZeros(value, details, given);
      return `it has the letter ${letter} among digits; did you mean the digit ${letter === 'O' ? 0 : 1}?`;
    },
  },
);

const bareIban = written('an IBAN of 15 to 34 characters such as DE89370400440532013000', {
  runs: [run('[A-Za-z]', 2), run(digit, 2), run(alphanumeric, 11, 30)],
  capitals: true,
});
/** Removes the prefix "IBAN" from a printed number (ISO 13616). This is safe, because no country has the code IB. */
const withoutLabel = (value: string) => value.replace(/^\s*IBAN[\s:]*/i, '');

export const ibanForm: AccountForm = {
  ...bareIban,
  pattern: new RegExp(bareIban.pattern.source.replace('^', '^(?:\\s*[iI][bB][aA][nN][\\s:]*)?')),
  canonical: (value) => bareIban.canonical(withoutLabel(value)),
  explain: (value) => bareIban.explain?.(withoutLabel(value)),
};

/** Defines an IBAN, with a check of the value. */
export const ibanField = (check: AccountForm['check']) =>
  numberField('IBAN, 15 to 34 characters.', ibanForm, {
    differIn: 'spaces, dashes, letter case, the word IBAN before it',
    check,
  });

/** Defines a bank's BIC. A final XXX is redundant: the BIC without it also identifies the head office (ISO 9362). */
export function bicField(description: string, example: string, more: More = {}): AccountField {
  const short = [run('[A-Za-z]', 6), run(alphanumeric, 2)];
  const form = `a BIC of 8 or 11 characters such as ${example}`;
  const [of8, of11] = [
    written(form, { runs: short, capitals: true }),
    written(form, { runs: [...short, run(alphanumeric, 3)], capitals: true }),
  ];
  return numberField(description, eitherForm(form, of8, of11), {
    canonical: (value) => of8.canonical(value).replace(/^(.{8})XXX$/, '$1'),
    check: (value) => (isValidBIC(value) ? undefined : 'characters 5 and 6 are not the code of a country'),
    differIn: 'spaces, dashes, letter case, a final XXX',
    ...more,
  });
}

const cpf = {
  ...written('a CPF of 11 digits', { runs: [run(digit, 11)], between: punctuation }),
  check: checkDigits('its last 2 digits, the check digits, do', (value) => cpfs.isValid(value)),
};
const cnpj = {
  ...written('a CNPJ of 12 letters or digits and 2 digits', {
    runs: [run(alphanumeric, 12), run(digit, 2)],
    between: punctuation,
    capitals: true,
  }),
  check: checkDigits('its last 2 digits, the check digits, do', (value) => cnpjs.isValid(value)),
};

const phone = written('a telephone number with its country code such as +5511999998888', {
  runs: [run('\\+'), run('[1-9]'), run(digit, 7, 14)],
  between: punctuation,
});

/** The Pix key formats by key type, as in the central bank's directory. */
export const pixKeyForms = {
  CPF: cpf,
  CNPJ: cnpj,
  EMAIL: {
    form: 'an e-mail address of at most 77 characters',
    pattern: /^\s*[!-?A-~]+@[!-?A-~]+\s*$/,
    canonical: (value) => value.trim().toLowerCase(),
    check: (value) =>
      value.length <= 77 &&
      /^[a-z0-9.!#$'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/.test(value)
        ? undefined
        : 'this is not an e-mail address that Pix allows',
  },
  // Brazilian area codes do not begin with 0, which is the prefix for domestic calls, as in +55 (0)11.
  PHONE: { ...phone, canonical: (value) => phone.canonical(value).replace(/^\+550/, '+55') },
  RANDOM: {
    ...written('a random key of 32 letters or digits, with or without dashes', { runs: [run(alphanumeric, 32)] }),
    canonical: (value) =>
      value
        .replace(/[^0-9A-Za-z]/g, '')
        .toLowerCase()
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    check: (value) =>
      /^[0-9a-f-]{36}$/.test(value)
        ? notZeros(value.replaceAll('-', ''), {}, value)
        : 'a random key contains only the digits 0 to 9 and the letters a to f',
  },
} as const satisfies Readonly<Record<string, AccountForm>>;

export const pixKey = text('The Pix key, in the format of its type.', {
  formBy: { field: 'pixKeyType', forms: pixKeyForms },
  differIn: 'punctuation, spaces, letter case',
});

export const pixTaxId = numberField(
  "The Pix key owner's tax number (CPF or CNPJ).",
  eitherForm(`${cpf.form}, or ${cnpj.form}`, cpf, cnpj),
  {
    check: (value, details, given) => (value.length === 11 ? cpf : cnpj).check(value, details, given),
    differIn: 'punctuation, spaces, letter case',
  },
);

export const sortCode = digits('Sort code, 6 digits.', 6, 6, {
  form: '6 digits such as 20-00-00',
  canonical: (value) => value.replace(/[^0-9]/g, '').replace(/^(..)(..)/, '$1-$2-'),
  check: (value) => notZeros(value.replaceAll('-', ''), {}, value),
});

/** Describes the first disallowed character in a value. Returns undefined if there is none. */
export function strangeCharacter(value: string, allowed: RegExp, name: (character: string) => string) {
  const characters = [...value];
  const place = characters.findIndex((character) => !allowed.test(character));
  return place < 0 ? undefined : `character ${place + 1} is ${name(characters[place] ?? '')}`;
}

/** Defines a case-insensitive address of the form `user@domain`. */
export const atAddress = (description: string, form: string, pattern: RegExp, more: More = {}): AccountField => ({
  description,
  maxLength: 256,
  form,
  pattern,
  canonical: (value) => value.trim().toLowerCase(),
  explain: (value) => strangeCharacter(value.trim(), /^[!-~]$/, spoken),
  differIn: 'letter case, surrounding spaces',
  ...more,
});

/** Payment purposes. Nigerian accounts and some corridors require one. */
const purposes = {
  GIFT: 'A gift.',
  SELF: "A transfer to one of the sender's own accounts.",
  GOODS_OR_SERVICES: 'Payment for goods or services.',
  EDUCATION: 'Education, such as tuition fees.',
  HEALTH_OR_MEDICAL: 'Health or medical expenses.',
  REAL_ESTATE_PURCHASE: 'The purchase of real estate.',
  TAX_PAYMENT: 'Payment of taxes.',
  LOAN_PAYMENT: 'Repayment of a loan.',
  UTILITY_BILL: 'Payment of a utility bill.',
  DONATION: 'A donation.',
  TRAVEL: 'Travel expenses.',
  OTHER: 'Any other purpose.',
} as const;

export const purposesOfPayment = Object.keys(purposes);

export const purposeOfPayment = choice(
  `The purpose of payments to the account: ${purposesOfPayment.join(', ')}.`,
  purposes,
);
