import { countrySpecs } from 'ibantools';

/** The codes of ISO 3166-1. The library has XK besides, which no standard assigns. */
const countries: ReadonlySet<string> = new Set(Object.keys(countrySpecs).filter((code) => code !== 'XK'));

/** Common mistakes for countries, with the right codes. */
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

/** Returns why text is no country of ISO 3166-1 (alpha-2), as the end of a sentence; undefined for one that is. */
export function countryFault(code: string): string | undefined {
  if (countries.has(code)) return undefined;
  const capitals = code.trim().toUpperCase();
  const hint = countries.has(capitals) ? capitals : meant[capitals];
  const isCode = /^[A-Z]{2}$/.test(code);
  const rule = isCode ? 'must be a country code of ISO 3166-1' : 'must be a two-letter country code such as US';
  return hint === undefined ? rule : `${rule}; did you mean ${hint}?`;
}
