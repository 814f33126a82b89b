import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { isDay, parseTimestamp } from '../../../core/checks.ts';
import { builder } from '../builder.ts';

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

function malformed(message: string, node?: ValueNode): GraphQLError {
  return new GraphQLError(message, { nodes: node, extensions: { code: 'INVALID_INPUT' } });
}

/** Parses a BigInt. The type is checked before the pattern, which alone would accept a list of one. */
function parseBigInt(value: unknown): bigint {
  if (typeof value === 'bigint') return inRange(value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^-?(0|[1-9]\d{0,18})$/.test(value) && value !== '-0') return inRange(BigInt(value));
  throw malformed(
    'a BigInt is an integer or a string of digits, within 64 bits; write integers above 2^53 as a string',
  );
}

function inRange(value: bigint): bigint {
  if (value < int64.min || value > int64.max) throw malformed('a BigInt lies within 64 bits');
  return value;
}

function parseDateTime(value: unknown): Date {
  const moment = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (moment) return moment;
  throw malformed('a DateTime is written as RFC 3339 with a time zone, such as 2026-01-31T09:30:00Z');
}

function parseDate(value: unknown): string {
  if (typeof value === 'string' && isDay(value)) return value;
  throw malformed('a Date is a day of the calendar, written YYYY-MM-DD');
}

function parseDecimal(value: unknown): string {
  if (typeof value === 'string' && /^-?\d{1,30}(\.\d{1,30})?$/.test(value)) return value;
  throw malformed('a Decimal is a string of digits with an optional point');
}

/** Returns a parser of literals, which takes their text: an integer of any length stays exact, a float is refused like any other text. */
function literal<T>(parse: (value: unknown) => T, kinds: readonly Kind[]) {
  return (node: ValueNode): T => {
    try {
      return parse('value' in node && kinds.includes(node.kind) ? String(node.value) : undefined);
    } catch (error) {
      throw error instanceof GraphQLError ? malformed(error.message, node) : error;
    }
  };
}

builder.scalarType('BigInt', {
  description:
    'A 64-bit integer; amounts are in the smallest unit of their currency. Always answered as a string of digits. Accepted as an integer or a string of digits, nothing else.',
  // Pothos has one type for the resolver's value and the serialized one, which is text here.
  serialize: (value) => String(value) as never,
  parseValue: parseBigInt,
  parseLiteral: literal(parseBigInt, [Kind.INT, Kind.STRING]),
});

builder.scalarType('Decimal', {
  description: 'An exact decimal number, as a string: no float comes near it.',
  serialize: (value) => value,
  parseValue: parseDecimal,
  parseLiteral: literal(parseDecimal, [Kind.STRING]),
});

builder.scalarType('DateTime', {
  description: 'A moment in RFC 3339, answered in UTC with milliseconds: 2026-01-31T09:30:00.000Z.',
  // Serialized as text, as in BigInt; a plan reads it as text already.
  serialize: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()) as never,
  parseValue: parseDateTime,
  parseLiteral: literal(parseDateTime, [Kind.STRING]),
});

builder.scalarType('Date', {
  description: 'A day of the calendar, YYYY-MM-DD.',
  serialize: (value) => value,
  parseValue: parseDate,
  parseLiteral: literal(parseDate, [Kind.STRING]),
});
