/**
 * Reads JSON with every number as it was written, or as none: `1.99999999999999999999` is not 2. A byte order mark at
 * the start is ignored (RFC 8259, section 8.1).
 * @throws SyntaxError for what is not JSON
 */
export function parseJson(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return mayRound.test(json) ? JSON.parse(json, notRounded) : JSON.parse(json);
}

/**
 * A number with a fraction or an exponent, as the value of a key or of a list. Cheap, and at times true of a text within
 * a string; an integer without either is exact up to 2^53, and beyond that no integer of ours.
 */
const mayRound = /(?:"\s*:|[[,])\s*-?\d+(?:\.\d|[eE])/;

/**
 * For `JSON.parse`: NaN, which no schema takes, in place of a number that was rounded to an integer. Other fractions are
 * read as the nearest number there is, as everywhere. (Node before 21 does not tell how a number was written.)
 */
export function notRounded(_key: string, value: unknown, written?: { readonly source?: string }): unknown {
  const isRounded = Number.isSafeInteger(value) && written?.source !== undefined && !isWhole(written.source);
  return isRounded ? Number.NaN : value;
}

/** Whether a JSON number is an integer as it is written: 1, 1.0, 1e3 and 120e-1 are. */
function isWhole(source: string): boolean {
  const [, integer = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const significant = `${integer}${fraction}`.replace(/0+$/, '');
  const decimals = fraction.length - Number(exponent);
  return significant === '' || integer.length + fraction.length - significant.length >= decimals;
}
