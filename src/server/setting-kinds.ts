import { z } from 'zod';
import { parseRange } from '../core/address-ranges.ts';
import { parseRate, type Rate } from '../domain/access/rates.ts';
import { faultOfAddress } from '../infra/database/connections/address.ts';

/** The kinds of settings: parsers that report what is wrong with a text. */

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);

export const key = z
  .string()
  .regex(
    /^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/,
    'must be 32 bytes, in base64 (44 characters) or hex (64 characters)',
  )
  .transform((text): Buffer => Buffer.from(text, text.length === 64 ? 'hex' : 'base64'));

/** A key for client tokens. A semicolon would end it in a list. */
export const textKey = z
  .string()
  .min(32, 'must have at least 32 characters')
  .refine((text) => !text.includes(';'), 'must not contain a semicolon');

/** Defines a setting that is a list, separated by semicolons. */
export const listOf = <Key extends z.ZodType<unknown, string>>(kind: Key) =>
  z
    .string()
    .transform((list) =>
      list
        .split(';')
        .map((text) => text.trim())
        .filter((text) => text !== ''),
    )
    .pipe(z.array(kind));

export const address = z.string().superRefine((text, context) => {
  const fault = faultOfAddress(text);
  if (fault !== undefined) context.addIssue(fault);
});

/** Headers in OpenTelemetry's notation: `name=value`, separated by commas, with escapes as in URLs. */
export const headers = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const pairs = text.split(',').map((pair) => /^\s*([\w-]+)\s*=\s*((?:[^%\s]|%[0-9a-f]{2})+)\s*$/i.exec(pair));
  if (pairs.every((pair) => pair !== null))
    return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]));
  context.addIssue('must be headers such as authorization=Bearer%20secret, separated by commas');
  return z.NEVER;
});

export const onOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on');

/** A rate limit: `off`, or requests per second and burst. */
export const rate = z.string().transform((text, context): Rate | null => {
  if (text === 'off') return null;
  const parsed = parseRate(text);
  if (parsed) return parsed;
  context.addIssue('must be off, or requests per second and burst such as 100/500, each from 1 to 1000000');
  return z.NEVER;
});

/** The settings that production refuses unless the operator allows them. */
export const unsafeThings = ['any-origin', 'loopback-webhooks', 'owner-login', 'unverified-tls', 'weak-keys'] as const;
export type Unsafe = (typeof unsafeThings)[number];

export const unsafe = z
  .string()
  .transform((list) =>
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  )
  .pipe(z.array(z.enum(unsafeThings, { error: `must be some of ${unsafeThings.join(', ')}, separated by commas` })));

export const addressRanges = z.string().transform((list, context) => {
  try {
    return list
      .split(',')
      .map((range) => range.trim())
      .filter((range) => range !== '')
      .map(parseRange);
  } catch {
    context.addIssue('must be addresses or ranges such as 10.0.0.0/8, separated by commas');
    return z.NEVER;
  }
});
