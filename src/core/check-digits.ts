import { clabe } from 'clabe-validator';
import { countrySpecs, isSEPACountry, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import { type AccountDetails, checkDigits, ibanForm } from './account-fields.ts';
import { foldedText } from './texts.ts';

// The check digits of bank account numbers. A check finds typing errors; it never proves that an account exists.

const weighted = (value: string, weights: readonly number[]) =>
  [...value].reduce((sum, digit, place) => sum + Number(digit) * (weights[place % weights.length] ?? 0), 0);

/** Checks an ABA routing number: its district, and its 9th digit, which makes the weighted sum a multiple of 10. */
export function routingNumberFault(value: string, details: AccountDetails): string | undefined {
  if (!/^(?:0[0-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(value) || /^0+$/.test(value)) {
    return 'no routing number begins like this';
  }
  return routingChecksum(value, details, value);
}
const routingChecksum = checkDigits(
  'its 9th digit, the check digit, does',
  (value) => weighted(value, [3, 7, 1]) % 10 === 0,
);

const isSound = (value: string) => validateIBAN(value).valid;
const ibanChecksum = checkDigits('its characters 3 and 4, the check digits, do', isSound);

const nationalDigits = checkDigits('the national check digits within the number do', isSound);

/** Checks an IBAN: country, length, letter positions, check digits, and the national check digits. */
export function ibanFault(value: string, details: AccountDetails): string | undefined {
  const { valid, errorCodes } = validateIBAN(value);
  if (valid) return /^..\d\d0+$/.test(value) ? 'its account number is all zeros' : undefined;
  const country = value.slice(0, 2);
  const length = countrySpecs[country]?.chars;
  if (errorCodes.includes(ValidationErrorsIBAN.NoIBANCountry)) return `no country with the code ${country} has IBANs`;
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANLength)) {
    return `an IBAN of ${country} has ${length} characters, not ${value.length}`;
  }
  if (!errorCodes.includes(ValidationErrorsIBAN.WrongIBANChecksum)) return nationalDigits(value, details, value);
  const reason = ibanChecksum(value, details, value);
  return errorCodes.includes(ValidationErrorsIBAN.WrongBBANFormat)
    ? reason?.replace(
        /^.*?(; |$)/,
        `it has a letter where an IBAN of ${country} has a digit, or a digit where it has a letter$1`,
      )
    : reason;
}

/** Returns why an IBAN requires a BIC: outside SEPA, the BIC identifies the bank. */
export function bicNeeded({ iban }: AccountDetails): string | undefined {
  const country = ibanForm.canonical(iban ?? '').slice(0, 2);
  // A value that is not an IBAN is refused for that reason alone.
  if (!countrySpecs[country]?.chars || isSEPACountry(country)) return undefined;
  return `an IBAN of ${country}, which is outside SEPA, needs the BIC of its bank`;
}

const clabeChecksum = checkDigits(
  'its 18th digit, the check digit, does',
  (value) => clabe.computeChecksum(value) === Number(value.at(-1)),
);

/** Checks a CLABE: its bank and its check digit, but not its city, because many accounts have unlisted city codes. */
export function clabeFault(value: string, details: AccountDetails): string | undefined {
  const reason = clabeChecksum(value, details, value);
  if (reason !== undefined) return reason;
  return clabe.validate(value).valid.bank ? undefined : `no bank has the code ${value.slice(0, 3)}`;
}

/** Nigeria's commercial banks and their codes (Central Bank of Nigeria), without the words that most names share. */
const nigerianBanks: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '011': ['first'],
    '023': ['citi', 'citibank'],
    '032': ['union'],
    '033': ['uba', 'united bank for africa'],
    '035': ['wema'],
    '044': ['access'],
    '050': ['ecobank'],
    '057': ['zenith'],
    '058': ['guaranty trust', 'gt', 'gtbank'],
    '068': ['standard chartered'],
    '070': ['fidelity'],
    '076': ['polaris'],
    '082': ['keystone'],
    '100': ['suntrust'],
    '101': ['providus'],
    '102': ['titan', 'titan trust'],
    '103': ['globus'],
    '105': ['premiumtrust', 'premium trust'],
    '214': ['first city monument', 'fcmb'],
    '215': ['unity'],
    '221': ['stanbic ibtc'],
    '232': ['sterling'],
    '301': ['jaiz'],
  }).flatMap(([code, names]) => names.map((name) => [name, code])),
);

const nubanChecksum = checkDigits('its 10th digit, the check digit, does', (value, { bankName }) => {
  const bank = nigerianBanks.get(nameOfBank(bankName ?? ''));
  if (bank === undefined) return true;
  return (10 - (weighted(`${bank}${value.slice(0, 9)}`, [3, 7, 3]) % 10)) % 10 === Number(value.at(-1));
});

const nameOfBank = (name: string) => {
  const words = foldedText(name)
    .replace(/[^a-z ]/g, '')
    .trim();
  if (nigerianBanks.has(words)) return words;
  return words
    .replace(/\b(?:bank|of|nigeria|plc|ltd|limited|the)\b/g, '')
    .replace(/ +/g, ' ')
    .trim();
};

/** Checks a Nigerian account number (NUBAN). Its 10th digit depends on the bank code, if that is known. */
export function nubanFault(value: string, details: AccountDetails): string | undefined {
  return /^0+$/.test(value) ? 'it is all zeros' : nubanChecksum(value, details, value);
}
