import { visit } from 'jsonc-parser';
import { dotted, type FieldPath } from './refusal.ts';

/** The error for JSON that cannot be represented exactly, because a member occurs twice or a number would change. */
export class InexactJson extends Error {
  /** The position in the JSON; empty for the whole document. */
  readonly path: FieldPath;
  readonly reason: string;
  readonly isTooLarge: boolean;

  constructor(path: FieldPath, reason: string, isTooLarge = false) {
    super(`${path.length === 0 ? 'the JSON' : dotted(path) || '""'} ${reason}`);
    this.name = 'InexactJson';
    this.path = path;
    this.reason = reason;
    this.isTooLarge = isTooLarge;
  }
}

/** Returns whether a JSON value is an object, not a list or null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type WithoutNulls<T> = T extends readonly (infer Item)[]
  ? WithoutNulls<Item>[]
  : T extends object
    ? { [Name in keyof T]: WithoutNulls<Exclude<T[Name], null>> }
    : T;

/** Returns JSON without the object members that are null or undefined. */
export function withoutNulls<T>(json: T): WithoutNulls<T> {
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean);
    if (!isJsonObject(value)) return value;
    const given = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
    return Object.fromEntries(given.map(([name, member]) => [name, clean(member)]));
  };
  // The result has exactly this type, but the compiler cannot follow that through the recursion.
  return clean(json) as WithoutNulls<T>;
}

/** The maximum nesting depth of JSON. It is limited because the code that reads the values is recursive. */
const maxDepth = 64;

/**
 * Parses untrusted JSON exactly as it is written. `JSON.parse` alone keeps the last of several members with the same
 * name, and rounds numbers, so other software that signed, checked or forwarded the text may have read a different
 * value. For most JSON, a quick check rules out both problems: the text contains as many names as the parsed value, and
 * all numbers are short integers. Otherwise the text is parsed once more to find any problem.
 * @throws SyntaxError for a string that is not JSON
 * @throws InexactJson for a duplicate member or one named `__proto__`, a number that JavaScript cannot represent, or
 *   more than 64 levels of nesting
 */
export function parseJson(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const { names, isPlain } = look(json);
  const value: unknown = JSON.parse(json);
  if (!isPlain || namesIn(value) !== names) checkExact(json);
  return value;
}

const code = {
  quote: 34,
  point: 46,
  zero: 48,
  nine: 57,
  colon: 58,
  E: 69,
  backslash: 92,
  e: 101,
  open: 123,
  close: 125,
};
/** All integers with up to this many digits are exact. */
const exactDigits = 15;

/** Counts the names, and determines whether all numbers are short integers. @throws InexactJson for too many levels */
function look(json: string): { readonly names: number; readonly isPlain: boolean } {
  let names = 0;
  let depth = 0;
  let digits = 0;
  let isPlain = true;
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charCodeAt(at);
    if (char >= code.zero && char <= code.nine) {
      digits += 1;
      if (digits > exactDigits) isPlain = false;
      continue;
    }
    // Outside strings, a decimal point or an E occurs only in a number. An e also occurs in true and false, but not
    // after a digit.
    if (char === code.point || char === code.E || (char === code.e && digits > 0)) isPlain = false;
    digits = 0;
    if (char === code.quote) at = endOfText(json, at);
    else if (char === code.colon) names += 1;
    // Brackets and braces differ in a single bit.
    else if ((char | 32) === code.open) depth += 1;
    else if ((char | 32) === code.close) depth -= 1;
    if (depth > maxDepth) throw new InexactJson([], `has more than ${maxDepth} levels`);
  }
  return { names, isPlain };
}

function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (json.charCodeAt(before) === code.backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return json.length;
}

/** Counts the names in a value. If there is a `__proto__` member, the result is NaN, which matches no count. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let names = 0;
  if (Array.isArray(value)) for (const item of value) names += namesIn(item);
  else {
    for (const name of Object.keys(value)) {
      if (name === '__proto__') return Number.NaN;
      names += 1 + namesIn((value as Readonly<Record<string, unknown>>)[name]);
    }
  }
  return names;
}

function checkExact(json: string): void {
  const names: Set<string>[] = [];
  visit(
    json,
    {
      onObjectBegin: () => void names.push(new Set()),
      onObjectEnd: () => void names.pop(),
      onObjectProperty(name, _offset, _length, _line, _column, pathOf) {
        if (name === '__proto__') throw new InexactJson([...pathOf(), name], 'is not an allowed member name');
        if (names.at(-1)?.has(name)) throw new InexactJson([...pathOf(), name], 'is given twice');
        names.at(-1)?.add(name);
      },
      onLiteralValue(value, offset, length, _line, _column, pathOf) {
        if (typeof value !== 'number') return;
        const source = json.slice(offset, offset + length);
        if (canonical(source) === canonical(String(value))) return;
        const { MAX_SAFE_INTEGER: most } = Number;
        if (value > most) throw new InexactJson([...pathOf()], `must be at most ${most} as a JSON number`, true);
        if (value < -most) throw new InexactJson([...pathOf()], `must be at least -${most} as a JSON number`);
        const reason = `would be read as ${value}: integers are exact up to 2^53, other numbers to ${exactDigits} digits`;
        throw new InexactJson([...pathOf()], reason);
      },
    },
    { disallowComments: true },
  );
}

/** Formats a JSON number canonically: its digits without zeros at either end, and a power of ten. */
function canonical(source: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  if (integer === '') return source;
  const digits = `${integer}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
