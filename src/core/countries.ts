import { countrySpecs } from 'ibantools';

/** The ISO 3166-1 codes. The library also contains XK, which no standard assigns. */
const countries: ReadonlySet<string> = new Set(Object.keys(countrySpecs).filter((code) => code !== 'XK'));

const meant: Readonly<Record<string, string>> = {
  UK: 'GB',
  EN: 'GB',
  EL: 'GR',
  SP: 'ES',
  JA: 'JP',
  SF: 'FI',
  TP: 'TL',
  BU: 'MM',
  FX: 'FR',
  USA: 'US',
  GBR: 'GB',
  DEU: 'DE',
  FRA: 'FR',
};

/** Returns what is wrong with a country code (ISO 3166-1 alpha-2), as the end of a sentence; undefined if valid. */
export function countryFault(code: string): string | undefined {
  if (countries.has(code)) return undefined;
  const capitals = code.trim().toUpperCase();
  const hint = countries.has(capitals) ? capitals : meant[capitals];
  const isCode = /^[A-Z]{2}$/.test(code);
  const rule = isCode ? 'must be an ISO 3166-1 country code' : 'must be a two-letter country code such as US';
  return hint === undefined ? rule : `${rule}; did you mean ${hint}?`;
}
