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

/** Returns whether a JSON value is an object, and neither a list nor null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type WithoutNulls<T> = T extends readonly (infer Item)[]
  ? WithoutNulls<Item>[]
  : T extends object
    ? { [Name in keyof T]: WithoutNulls<Exclude<T[Name], null>> }
    : T;

/** Returns JSON with all object members that are null or undefined removed. */
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
/** All integers with up to this number of digits are exact. */
const exactDigits = 15;

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
/** A number that is long, or has a fraction or an exponent. */
const intricateNumber = new RegExp(`\\d(?:[.eE]|\\d{${exactDigits}})`);

/**
 * Parses untrusted JSON exactly as it is written. `JSON.parse` alone keeps the last of several members with the same
 * name, and rounds numbers, so whoever signed, checked or forwarded the text may have read a different value. Most JSON
 * has neither problem, as a quick check can prove: the text has as many names as the value, and no number that is long
 * or has a fraction or an exponent. Otherwise the text is parsed once more to find the position.
 * @throws SyntaxError for a string that is not JSON
 * @throws InexactJson for a member that is duplicate or named `__proto__`, a number that JavaScript cannot represent,
 *   and more than 64 levels
 */
export function parseJson(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const value: unknown = JSON.parse(json);
  const outline = json.replaceAll(strings, '');
  const names = outline.split(':').length - 1;
  if (namesIn(value, maxDepth) !== names || intricateNumber.test(outline)) checkExact(json);
  return value;
}

/** Counts the names in a value. A `__proto__` member is never counted, so its count never matches. */
function namesIn(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  checkDepth(levels);
  let names = 0;
  if (Array.isArray(value)) for (const item of value) names += namesIn(item, levels - 1);
  else {
    for (const name of Object.keys(value)) {
      if (name === '__proto__') return Number.NaN;
      names += 1 + namesIn((value as Readonly<Record<string, unknown>>)[name], levels - 1);
    }
  }
  return names;
}

function checkDepth(levels: number): void {
  if (levels === 0) throw new InexactJson([], `has more than ${maxDepth} levels`);
}

function checkExact(json: string): void {
  const names: Set<string>[] = [];
  const begin = () => checkDepth(maxDepth + 1 - names.push(new Set()));
  const end = () => void names.pop();
  visit(
    json,
    {
      ...{ onObjectBegin: begin, onArrayBegin: begin, onObjectEnd: end, onArrayEnd: end },
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
        const reason = `would be read as ${value}: integers are exact up to 2^53, other numbers with ${exactDigits} digits`;
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
