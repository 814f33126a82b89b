import type { Metadata } from '../../domain/commands/metadata.ts';
import type { Address } from '../../domain/commands/people.ts';
import { trustedJson } from '../../infra/database/rows.ts';

/** The fields that several records have in the same form. Unknown ones are left out (decision 13). */

/** Returns an object without its null fields. */
export function withoutNulls<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], null> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], null>;
  };
}

/** Returns since when a customer or an account is frozen; nothing where it is not (decision 78). */
export function frozenRecord({ frozenAt }: { readonly frozenAt: Date | null }): { readonly frozenAt?: string } {
  return frozenAt === null ? {} : { frozenAt: frozenAt.toISOString() };
}

/** Returns the metadata of a row; nothing where it has none. */
export function metadataRecord({ metadata }: { readonly metadata: unknown }): { readonly metadata?: Metadata } {
  // checkMetadata has checked that it has this form.
  const noted = trustedJson<Metadata | null>(metadata);
  return noted ? { metadata: noted } : {};
}

/** Converts a postal address to its record (specification 2.8). */
export function addressRecord(address: Address) {
  return withoutNulls(address);
}
