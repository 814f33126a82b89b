import { type FieldPath, invalid } from './refusal.ts';

// Free text: names, memos, addresses, a platform's own keys, metadata. The same canonical form and the same rules about
// refused characters apply to all of it.

/** Invisible characters: control, unassigned and private-use characters, lone surrogates, line separators, fillers. */
const unreadable = /[\p{Cc}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;
/** The scripts whose letters can be followed by joiners (Unicode, chapter 23), and emoji, which can also be joined. */
const joining =
  /(?:[\p{scx=Adlm}\p{scx=Arab}\p{scx=Bali}\p{scx=Beng}\p{scx=Deva}\p{scx=Gujr}\p{scx=Guru}\p{scx=Java}\p{scx=Khmr}\p{scx=Knda}\p{scx=Mand}\p{scx=Mlym}\p{scx=Mong}\p{scx=Mymr}\p{scx=Nkoo}\p{scx=Orya}\p{scx=Rohg}\p{scx=Sinh}\p{scx=Syrc}\p{scx=Taml}\p{scx=Telu}\p{scx=Tibt}\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)/u;
/** The characters that a variation selector may follow: emoji, symbols, ideographs and Mongolian letters. */
const varying = /[\p{Emoji}\p{S}\p{Script=Han}\p{Script=Mongolian}]/u;
const variationSelector = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
/** A visible character: not a space, a lone mark or a blank glyph. */
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Returns the form in which a string is stored and compared: composed (NFC) and trimmed. */
export function canonicalText(text: string): string {
  return text.normalize('NFC').trim();
}

/** Returns a string's length in code points, not in UTF-16 units. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Describes a rejected character: its code, and the character itself if it is visible. */
export function nameOfCharacter(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return visible.test(character) ? `${JSON.stringify(character)} (${code})` : code;
}

/**
 * Returns the reason why a string in canonical form is refused, as the end of a sentence, or undefined if it is valid.
 * Control, format, private-use and unassigned characters are refused, except for joiners that a script needs. At least
 * one character must be visible.
 * @param isKey whether programs compare the string; if so, joiners and all other blank glyphs are also refused
 */
export function textFault(text: string, maxLength: number, isKey = false): string | undefined {
  // A character has at most two UTF-16 units, so a string longer than twice the limit need not be counted.
  if (text.length > 2 * maxLength || lengthOf(text) > maxLength) return `must have at most ${maxLength} characters`;
  let before = '';
  let position = 0;
  for (const character of text) {
    position += 1;
    if (isRefused(character, before, isKey)) {
      return `must not have the invisible character ${nameOfCharacter(character)} (at position ${position})`;
    }
    before = character;
  }
  return visible.test(text) ? undefined : 'must have a visible character';
}

function isRefused(character: string, before: string, isKey: boolean): boolean {
  if (character >= ' ' && character <= '~') return false;
  if (unreadable.test(character)) return true;
  if (!/[\p{Default_Ignorable_Code_Point}\p{Cf}]/u.test(character)) return false;
  if (isKey) return true;
  if (character === '\u200c' || character === '\u200d') return !joining.test(before);
  return !(variationSelector.test(character) && varying.test(before));
}

/** The maximum length of each kind of string, in characters. */
export const longest = {
  name: 200,
  /** An address line. */
  line: 200,
  /** A city, a state, a title. */
  word: 100,
  postalCode: 20,
  /** A registration number or a tax number. */
  number: 100,
  email: 320,
  /** A memo, a reason, a fact about a party. */
  memo: 500,
  /** A platform's own key. */
  key: 200,
} as const;

/** Validates a platform's own key, which programs compare. @throws Refusal INVALID_INPUT */
export function checkKey<Text extends string | null | undefined>(text: Text, path: FieldPath): Text {
  return checkText(text, path, longest.key, true);
}

/** Validates a string for human readers and returns its stored form. @throws Refusal INVALID_INPUT */
export function checkText<Text extends string | null | undefined>(
  text: Text,
  path: FieldPath,
  maxLength: number,
  isKey = false,
): Text {
  if (text === null || text === undefined) return text;
  const canonical = canonicalText(text);
  const fault = textFault(canonical, maxLength, isKey);
  if (fault !== undefined) throw invalid(`the text ${fault}`, path);
  // The compiler cannot tell that Text is a string here.
  return canonical as Text;
}

/** Returns whether a string can be stored and searched for. Postgres rejects U+0000 and unpaired surrogates. */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Replaces invisible characters in a provider's string, which cannot be refused as a client's can. */
export function readableText(text: string): string {
  let readable = '';
  for (const character of canonicalText(text.toWellFormed()).replace(/[\t\n\r\p{Zl}\p{Zp}]+/gu, ' ')) {
    readable += isRefused(character, readable.at(-1) ?? '', false) ? '\ufffd' : character;
  }
  return readable;
}

/**
 * Applies Unicode full case folding to a string, and composes the result. Converting a letter to lowercase, then to
 * uppercase and back to lowercase gives this folding for every letter except ı, which folding leaves unchanged.
 */
export function foldedText(text: string): string {
  let folded = '';
  for (const letter of canonicalText(text).normalize('NFD')) {
    if (letter === 'ı') folded += letter;
    // Letters are converted one at a time. Otherwise, a sigma at the end of a word would become a final sigma.
    else for (const capital of letter.toLowerCase().toUpperCase()) folded += capital.toLowerCase();
  }
  return folded.normalize('NFC');
}
