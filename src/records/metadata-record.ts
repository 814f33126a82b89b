import { trustedJson } from '../database/trusted-json.ts';
import type { Metadata } from '../payments/metadata.ts';

/** Returns the metadata of a row as a field of its record; no field where nothing was noted (decision 13). */
export function metadataRecord({ metadata }: { readonly metadata: unknown }): { readonly metadata?: Metadata } {
  // checkMetadata has checked that it has this form.
  const noted = trustedJson<Metadata | null>(metadata);
  return noted ? { metadata: noted } : {};
}
