import { Kind, type ValueNode } from 'graphql';
import { isDay, parseTimestamp } from '../../../../core/checks.ts';
import { WrongValue } from '../../wrong-value.ts';
import { builder } from '../builder.ts';

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** Parses a BigInt. The type is checked before the pattern, which alone would accept a list of one. */
function parseBigInt(value: unknown): bigint | WrongValue {
  const parsed = integerIn(value);
  if (parsed === undefined) {
    return new WrongValue(
      'INVALID_AMOUNT',
      'expected a 64-bit integer, or a string of digits; write integers above 2^53 as a string',
    );
  }
  return parsed >= int64.min && parsed <= int64.max
    ? parsed
    : new WrongValue('AMOUNT_OUT_OF_RANGE', 'an integer must be within 64 bits');
}

function integerIn(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  const isInteger = typeof value === 'string' && /^-?(0|[1-9]\d{0,99})$/.test(value) && value !== '-0';
  return isInteger ? BigInt(value) : undefined;
}

function parseDateTime(value: unknown): Date | WrongValue {
  const moment = typeof value === 'string' ? parseTimestamp(value) : undefined;
  return (
    moment ??
    new WrongValue('INVALID_INPUT', 'expected an RFC 3339 time with a time zone, such as 2026-01-31T09:30:00Z')
  );
}

function parseDate(value: unknown): string | WrongValue {
  if (typeof value === 'string' && isDay(value)) return value;
  return new WrongValue('INVALID_INPUT', 'expected a calendar date, YYYY-MM-DD');
}

function parseDecimal(value: unknown): string | WrongValue {
  if (typeof value === 'string' && /^-?\d{1,30}(\.\d{1,30})?$/.test(value)) return value;
  return new WrongValue(
    'INVALID_AMOUNT',
    'expected a decimal as a string of digits with an optional point, such as "12.50"',
  );
}

/** Parses a currency code: any text. The commands and filters that receive it check whether it is known. */
function parseCurrencyCode(value: unknown): string | WrongValue {
  return typeof value === 'string'
    ? value
    : new WrongValue('INVALID_CURRENCY', 'expected a currency code such as "USD"');
}

/** Returns a parser of literals that takes their text: integers of any length stay exact, floats are refused. */
function literal<T>(parse: (value: unknown) => T, kinds: readonly Kind[]) {
  return (node: ValueNode): T => parse('value' in node && kinds.includes(node.kind) ? String(node.value) : undefined);
}

/** Creates a scalar's parsers from one that may return a WrongValue, which is checked before a resolver runs. */
function parsers<T>(parse: (value: unknown) => T | WrongValue, kinds: readonly Kind[]) {
  const known = parse as (value: unknown) => T;
  return { parseValue: known, parseLiteral: literal(known, kinds) };
}

builder.scalarType('BigInt', {
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#long',
  description:
    'A 64-bit integer. Amounts are in the smallest unit of their currency. Returned as a string of digits; accepted as an integer or a string of digits.',
  // Pothos uses one type for the resolver's value and the serialized one, which is text here.
  serialize: (value) => String(value) as never,
  ...parsers(parseBigInt, [Kind.INT, Kind.STRING]),
});

builder.scalarType('Decimal', {
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#decimal',
  description: 'An exact decimal number as a string, never a float: "12.50".',
  serialize: (value) => (typeof value === 'string' ? value : value.toFixed()),
  ...parsers(parseDecimal, [Kind.STRING]),
});

builder.scalarType('CurrencyCode', {
  description: 'The code of a currency: an ISO 4217 code, or an asset code such as USDC or BTC, in capitals.',
  serialize: (code) => code,
  ...parsers(parseCurrencyCode, [Kind.STRING]),
});

builder.scalarType('PathSegment', {
  description: 'A step of a path into an input: the name of a field, or a position in a list, from 0.',
  serialize: (step) => step,
});

builder.scalarType('DateTime', {
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  description: 'A point in time in RFC 3339 format. Returned in UTC with milliseconds: 2026-01-31T09:30:00.000Z.',
  // Serialized as text, like BigInt; a plan already reads it as text.
  serialize: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()) as never,
  ...parsers(parseDateTime, [Kind.STRING]),
});

builder.scalarType('Date', {
  specifiedByURL: 'https://scalars.graphql.org/andimarek/local-date.html',
  description: 'A calendar date: YYYY-MM-DD.',
  serialize: (value) => (typeof value === 'string' ? value : value.toISOString().slice(0, 10)),
  ...parsers(parseDate, [Kind.STRING]),
});
