/**
 * Parses JSON and refuses numbers that were rounded to an integer: `1.99999999999999999999` becomes NaN, not 2. Ignores a
 * byte order mark at the start (RFC 8259, section 8.1).
 * @throws SyntaxError for what is not JSON
 */
export function parseJson(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return mayRound.test(json) ? JSON.parse(json, reviveExact) : JSON.parse(json);
}

/**
 * Matches a number with a fraction or an exponent, as a value in an object or a list. It is cheap, and sometimes matches
 * text within a string. Other integers are exact up to 2^53, and no API here accepts larger ones.
 */
const mayRound = /(?:"\s*:|[[,])\s*-?\d+(?:\.\d|[eE])/;

/**
 * Revives a value for `JSON.parse`: NaN, which no schema accepts, instead of a number that was rounded to an integer. Other
 * fractions become the nearest number, as usual. (Node before 21 does not pass the source text of a number.)
 */
export function reviveExact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isRounded = Number.isSafeInteger(value) && context?.source !== undefined && !isWhole(context.source);
  return isRounded ? Number.NaN : value;
}

/** Says whether the text of a JSON number is an integer: 1, 1.0, 1e3 and 120e-1 are. */
function isWhole(source: string): boolean {
  const [, integer = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const significant = `${integer}${fraction}`.replace(/0+$/, '');
  const decimals = fraction.length - Number(exponent);
  return significant === '' || integer.length + fraction.length - significant.length >= decimals;
}
