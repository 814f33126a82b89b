import { Kind, type ValueNode } from 'graphql';
import { isDay, parseTimestamp } from '../../../../core/checks.ts';
import { WrongValue } from '../../wrong-value.ts';
import { builder } from '../builder.ts';

/** Parses a BigInt. The type is checked first, because the pattern alone would also accept a list with one number. */
function parseBigInt(value: unknown): bigint | WrongValue {
  const parsed = integerIn(value);
  if (parsed === undefined) {
    return new WrongValue(
      'INVALID_AMOUNT',
      'expected a 64-bit integer, or a string of digits; write integers above 2^53 as a string',
    );
  }
  const isInRange = BigInt.asIntN(64, parsed) === parsed;
  return isInRange ? parsed : new WrongValue('AMOUNT_OUT_OF_RANGE', 'an integer must fit into 64 bits');
}

function integerIn(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  const isInteger = typeof value === 'string' && /^-?(0|[1-9]\d{0,99})$/.test(value) && value !== '-0';
  return isInteger ? BigInt(value) : undefined;
}

/**
 * Creates a scalar's parsers from a function that may return a WrongValue, which is reported before any resolver runs.
 * Literals are parsed from their text, so that integers of any length stay exact and floats are refused.
 */
function parsers<T>(parse: (value: unknown) => T | WrongValue, kinds: readonly Kind[]) {
  const parseValue = parse as (value: unknown) => T;
  const parseLiteral = (node: ValueNode) =>
    parseValue('value' in node && kinds.includes(node.kind) ? String(node.value) : undefined);
  return { parseValue, parseLiteral };
}

/** Creates the parsers for a scalar that is sent as a string. `read` returns undefined for a malformed string. */
function textParsers<T>(read: (text: string) => T | undefined, ...wrong: ConstructorParameters<typeof WrongValue>) {
  const parse = (value: unknown) => (typeof value === 'string' ? read(value) : undefined) ?? new WrongValue(...wrong);
  return parsers<T>(parse, [Kind.STRING]);
}

const textThat = (passes: (text: string) => boolean) => (text: string) => (passes(text) ? text : undefined);

builder.scalarType('BigInt', {
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#long',
  description:
    'A 64-bit integer. Amounts are in the smallest unit of their currency. Returned as a string of digits; accepted as an integer or a string of digits.',
  // Pothos uses one type for the resolver's value and the serialized one, which is a string here.
  serialize: (value) => String(value) as never,
  ...parsers(parseBigInt, [Kind.INT, Kind.STRING]),
});

builder.scalarType('Decimal', {
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#decimal',
  description: 'An exact decimal number, as a string such as "12.50".',
  serialize: (value) => (typeof value === 'string' ? value : value.toFixed()),
  ...textParsers(
    textThat((text) => /^-?\d{1,30}(\.\d{1,30})?$/.test(text)),
    'INVALID_AMOUNT',
    'expected a decimal as a string of digits with an optional point, such as "12.50"',
  ),
});

builder.scalarType('CurrencyCode', {
  description: 'A currency code: an ISO 4217 code, or an asset code such as USDC or BTC, in capital letters.',
  serialize: (code) => code,
  // Accepts any string. Commands check whether the currency is known, and filtering by an unknown one matches nothing.
  ...textParsers((text) => text, 'INVALID_CURRENCY', 'expected a currency code such as "USD"'),
});

builder.scalarType('PathSegment', {
  description: 'A step in the path to an input field: a field name, or a position in a list, counted from 0.',
  serialize: (step) => step,
});

builder.scalarType('DateTime', {
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  description:
    'A point in time in RFC 3339 format. Returned in UTC with milliseconds, such as 2026-01-31T09:30:00.000Z.',
  // Serialized as a string, like BigInt. A value read by a plan is already a string.
  serialize: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()) as never,
  ...textParsers(
    parseTimestamp,
    'INVALID_INPUT',
    'expected an RFC 3339 time with a time zone, such as 2026-01-31T09:30:00Z',
  ),
});

builder.scalarType('Date', {
  specifiedByURL: 'https://scalars.graphql.org/andimarek/local-date.html',
  description: 'A calendar date: YYYY-MM-DD.',
  serialize: (value) => (typeof value === 'string' ? value : value.toISOString().slice(0, 10)),
  ...textParsers(textThat(isDay), 'INVALID_INPUT', 'expected a calendar date, YYYY-MM-DD'),
});
