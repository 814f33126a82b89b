import anyAscii from 'any-ascii';

interface CharacterSet {
  readonly allowed: RegExp;
  readonly nameLength: number;
  /** Replacements for the ASCII characters that the set does not contain. */
  readonly instead: Readonly<Record<string, string>>;
}

/** The characters that SEPA does not allow, keyed by their replacement. */
const sepaReplacements = {
  '+': '&',
  '-': '_~',
  ',': ';',
  '(': '[{',
  ')': ']}',
  '/': '\\|',
  "'": '`',
  '.': '!"#$%*<=>@^',
};

const characterSets = {
  // The European Payments Council's Latin character set and replacements (EPC217-08). Names can have up to 70
  // characters (pain.001).
  SEPA: {
    allowed: /^[A-Za-z0-9/?:().,'+ -]$/,
    nameLength: 70,
    instead: Object.fromEntries(
      Object.entries(sepaReplacements).flatMap(([written, lacking]) => [...lacking].map((one) => [one, written])),
    ),
  },
  // Nacha allows printable ASCII. A receiver's name can have up to 22 characters.
  ACH: { allowed: /^[ -~]$/, nameLength: 22, instead: {} },
} as const satisfies Record<string, CharacterSet>;

export type CharacterSetName = keyof typeof characterSets;

export interface CarriedText {
  readonly text: string;
  readonly lost: readonly string[];
}

/** Transliterates a string into the characters that a rail supports, and reports every character that is lost. */
export function carriedText(text: string, set: CharacterSetName): CarriedText {
  const { allowed, instead }: CharacterSet = characterSets[set];
  const lost: string[] = [];
  let carried = '';
  for (const character of text.normalize('NFC')) {
    const latin = /\p{Extended_Pictographic}/u.test(character) && !allowed.test(character) ? '' : anyAscii(character);
    const written = [...latin].map((one) => (allowed.test(one) ? one : (instead[one] ?? ''))).join('');
    if (written === '' && !/\p{Cf}|\p{M}/u.test(character)) lost.push(character);
    carried += written;
  }
  return { text: carried.replace(/ +/g, ' ').trim(), lost };
}

/** Returns an owner's name as the rail transmits it, with a notice if it differs from the original. */
export function carriedName(name: string, set: CharacterSetName): { readonly text: string; readonly notice?: string } {
  const { text, lost } = carriedText(name, set);
  const { nameLength } = characterSets[set];
  const cut = text.slice(0, nameLength).trim();
  if (!/[A-Za-z0-9]/.test(cut)) return { text: cut, notice: `${set} supports no character of this name` };
  if (cut === name) return { text: cut };
  const missing = lost.length > 0 ? `, without ${[...new Set(lost)].map((one) => JSON.stringify(one)).join(', ')}` : '';
  const shorter = cut.length < text.length ? `, cut to ${nameLength} characters` : '';
  return { text: cut, notice: `${set} sends this name as ${JSON.stringify(cut)}${missing}${shorter}` };
}
