/** Parses an amount in a locale's notation: "1.234,56" as "1234.56". Returns undefined if invalid or ambiguous. */
export function decimalOf(text: string, locale: string): string | undefined {
  const written = new Intl.NumberFormat(locale, { useGrouping: 'always' });
  const parts = written.formatToParts(-1_234_567.8);
  const separator = (type: Intl.NumberFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  const digits = new Map(Array.from({ length: 10 }, (_none, digit) => [written.format(digit), String(digit)]));
  // Which space or apostrophe is typed depends on the keyboard.
  const alike = (one: string) => one.replace(/\s/gu, ' ').replace(/[’‘]/g, "'");
  // Japanese keyboards also type full-width digits.
  const typed = alike(text.trim().normalize('NFKC'));
  const own = Array.from(typed, (character) => digits.get(character) ?? character).join('');
  const [whole = '', fraction, ...rest] = own.split(separator('decimal'));
  const [first = '', ...groups] = (whole || '0').split(alike(separator('group')));
  const isGrouped =
    /^[1-9]\d{0,2}$/.test(first) && groups.every((group) => /^\d{2,3}$/.test(group)) && groups.at(-1)?.length === 3;
  if (own === '' || rest.length > 0 || !/^\d+$/.test(first) || (groups.length > 0 && !isGrouped)) return undefined;
  if (fraction === undefined) return first + groups.join('');
  return /^\d+$/.test(fraction) ? `${first}${groups.join('')}.${fraction}` : undefined;
}
