import type { Context } from 'hono';
import { Refusal } from '../../core/refusal.ts';
import type { RestEnvironment } from './environment.ts';

// Implements entity tags (RFC 9110, 8.8.3) of records with versions, and If-Match (13.1.1).

/** The header with the tag of the record that a request changes, as named in errors. */
export const ifMatch = 'If-Match';

/** Sets the response's strong entity tag. */
export function setTag(context: Context<RestEnvironment>, tag: string | number): void {
  context.header('ETag', `"${tag}"`);
}

/**
 * Returns the entity tag that a request requires; undefined for none or `*`. Weak tags never match. Several are
 * refused.
 */
export function demandedTag(context: Context<RestEnvironment>): string | undefined {
  const field = context.req.header(ifMatch)?.trim();
  if (field === undefined || field === '*') return undefined;
  const [, tag] = /^"([\x21\x23-\x7e]*)"$/.exec(field) ?? [];
  if (tag !== undefined) return tag;
  if (/^(W\/)?"[\x21\x23-\x7e]*"$/.test(field)) return '';
  throw new Refusal('INVALID_INPUT', 'expected a single entity tag, as returned in ETag, or *', { path: [ifMatch] });
}

/** Returns the version that a request requires of its record; 0, which no record has, for a tag without a version. */
export function demandedVersion(context: Context<RestEnvironment>): number | undefined {
  const tag = demandedTag(context);
  return tag === undefined ? undefined : /^[1-9]\d{0,8}$/.test(tag) ? Number(tag) : 0;
}
