/** A string that a client could send, and the form in which it is stored. `text` is null if the string is refused. */
export interface StrangeText {
  readonly what: string;
  readonly given: string;
  readonly text: string | null;
  /** The form in which the string is stored as a key, if it differs from `text`. */
  readonly key?: string | null;
}

const taken = (what: string, given: string, text = given, key: string | null = text): StrangeText => ({
  what,
  given,
  text,
  key,
});
const refused = (what: string, given: string): StrangeText => ({ what, given, text: null, key: null });

/** Awkward strings. Every text field of every API is tested with each of them. */
export const strangeTexts: readonly StrangeText[] = [
  taken('a name', 'Ana'),
  taken('spaces around', ' Ana\u00a0', 'Ana'),
  taken('a byte order mark before it', '\ufeffAna', 'Ana'),
  taken('letters with combining marks', 'A\u0301na', '\u00c1na'),
  taken('decomposed Hangul', '\u1112\u1161\u11ab', '\ud55c'),
  taken('an apostrophe and a stroke', 'O\u2019Łukasz'),
  taken('Chinese', '李小龍'),
  taken('Arabic', 'محمد'),
  taken('Devanagari', 'श्री'),
  taken('characters beyond 16 bits', '𠮷野'),
  taken('markup', '<b>x</b>'),
  taken('SQL', "x'); drop--"),
  taken('a braille blank within it', 'A\u2800B'),
  taken('a zero-width non-joiner in Persian', 'می\u200cخواهم', undefined, null),
  taken('a zero-width joiner at the end in Malayalam', 'അവന\u0d4d\u200d', undefined, null),
  taken('a family emoji', '👨\u200d👩\u200d👧', undefined, null),
  taken('a heart in color', '❤\ufe0f', undefined, null),
  refused('nothing', ''),
  refused('blanks', '   '),
  refused('a no-break space', '\u00a0'),
  refused('wide blanks', '\u2003\u3000'),
  refused('a zero-width space', '\u200b'),
  refused('a braille blank', '\u2800'),
  refused('a Hangul filler', '\u3164'),
  refused('a half-width filler', 'A\uffa0'),
  refused('a mark alone', '\u0301'),
  refused('a zero-width space at the end', 'dup\u200b'),
  refused('a zero-width joiner after Latin letters', 'dup\u200d'),
  refused('a word joiner', '\u2060Ana'),
  refused('a byte order mark within it', 'A\ufeffna'),
  refused('a soft hyphen', 'Ana\u00adB'),
  refused('a direction override', 'Ana\u202eamiL'),
  refused('an embedding', '\u202aAna\u202c'),
  refused('an isolate', 'Ana\u2066x\u2069'),
  refused('a variation selector after a Latin letter', 'x\ufe0f'),
  refused('a tag', 'Ana\u{e0041}'),
  refused('a null character', 'Ana\0'),
  refused('a bell', 'Ana\u0007'),
  refused('a line feed', 'Ana\nB'),
  refused('a tab', 'Ana\tB'),
  refused('a next line', 'Ana\u0085B'),
  refused('a line separator', 'Ana\u2028B'),
  refused('a private-use character', 'Ana\ue000'),
  refused('a private-use character in plane 15', 'Ana\u{f0000}'),
  refused('an unassigned character', 'Ana\u0378'),
  refused('a noncharacter', 'Ana\uffff'),
  refused('half a character', 'Ana\ud800'),
];

/** Strings of the maximum length, and one that is a character longer. Characters are counted, not UTF-16 units. */
export const longTexts = (most: number): readonly StrangeText[] => [
  taken('as many characters as allowed', '𠮷'.repeat(most)),
  taken('as many characters as allowed, when composed', 'e\u0301'.repeat(most), 'é'.repeat(most)),
  refused('one character more', '𠮷'.repeat(most + 1)),
];
