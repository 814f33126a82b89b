import { requiredCurrency } from '../../core/currencies.ts';
import type { Metadata } from '../../domain/commands/information.ts';
import { trustedJson } from '../../infra/database/rows.ts';

/** Defines the fields that several records have in common. Values that are null are omitted. */

/** Returns the `frozenAt` field of a customer or account, or no field if it is not frozen. */
export function frozenRecord({ frozenAt }: { readonly frozenAt: Date | null }): { readonly frozenAt?: string } {
  return frozenAt === null ? {} : { frozenAt: frozenAt.toISOString() };
}

/** Returns the `metadata` field for a row, or no field if the row has no metadata. */
export function metadataRecord({ metadata }: { readonly metadata: unknown }): { readonly metadata?: Metadata } {
  // checkMetadata validated the metadata before it was stored.
  const noted = trustedJson<Metadata | null>(metadata);
  return noted ? { metadata: noted } : {};
}

/** Thrown for an amount that a JSON number cannot represent exactly. Amounts are never rounded. */
export class UnrepresentableAmount extends RangeError {
  /** The public id of the record with this amount, if known. */
  readonly of: string | undefined;

  constructor(amount: bigint, of?: string) {
    const where = of === undefined ? '' : ` of ${of}`;
    super(`${amount}${where} is beyond 2^53, so a JSON number cannot represent it exactly; read it over GraphQL`);
    this.name = 'UnrepresentableAmount';
    this.of = of;
  }
}

/** Converts a record's amount, in the smallest unit, to a JSON integer. Throws UnrepresentableAmount beyond 2^53. */
export function jsonInteger(amount: bigint, of?: string): number {
  if (!isJsonInteger(amount)) throw new UnrepresentableAmount(amount, of);
  return Number(amount);
}

/** Returns whether a JSON number represents the amount exactly. */
export function isJsonInteger(amount: bigint): boolean {
  return Number.isSafeInteger(Number(amount));
}

/** Converts a decimal with at most 15 significant digits to a JSON number, which represents it exactly. */
export function jsonNumber(decimal: string): number {
  return Number(decimal);
}

/** Returns all four fields of the currency with the given code. A stored code is always known. */
export function currencyRecord(code: string) {
  return { ...requiredCurrency(code) };
}

/** Returns an amount with its currency. Throws UnrepresentableAmount beyond 2^53. */
export function amountRecord(amount: bigint, currency: string, of?: string) {
  return { amount: jsonInteger(amount, of), currency: currencyRecord(currency) };
}
