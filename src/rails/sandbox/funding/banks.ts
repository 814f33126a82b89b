import { clabe } from 'clabe-validator';
import { composeIBAN } from 'ibantools';
import type { FundingRequest, PaymentInstruction } from '../../rail.ts';
import { digitsOf, seedOf } from './seed.ts';

/**
 * Bank accounts of the sandbox, one of its own for each quote and account. Numbers have their formats' check digits, so
 * that a client's validation accepts them; banks that need a code have one that no bank was given.
 */

const bankName = 'Sandbox Bank';
const swiftBic = 'SBOXMTMT';

/** US dollars. The routing number is a well-known one whose checksum holds. */
export function usAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const accountNumber = digitsOf(seedOf(owner, 'US_ACCOUNT'), 17);
  return {
    accountType: 'US_ACCOUNT',
    accountNumber,
    routingNumber: '021000021',
    accountCategory: 'CHECKING',
    bankName,
    reference,
  };
}

/** Euro. Malta's IBAN, since its 18 digits of account number give every quote its own. */
export function ibanAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const iban = composeIBAN({ countryCode: 'MT', bban: `SBOX00001${digitsOf(seedOf(owner, 'IBAN'), 18)}` });
  if (iban === null) throw new Error('the sandbox bank code makes no IBAN');
  return { accountType: 'IBAN', iban, swiftBic, reference };
}

/** The clearing house that many Mexican virtual accounts belong to, and Mexico City. */
const clabeBank = 646;
const clabeCity = 180;

/** Mexican pesos. */
export function clabeAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const account = Number(digitsOf(seedOf(owner, 'CLABE'), 11));
  return { accountType: 'CLABE', clabeNumber: clabe.calculate(clabeBank, clabeCity, account), reference };
}

/** Brazilian reais: a random key, which is the payment's own and needs no reference. */
export function pixKey({ owner }: FundingRequest): PaymentInstruction {
  return {
    accountType: 'PIX',
    pixKey: seedOf(owner, 'PIX').toString('hex').slice(0, 32),
    pixKeyType: 'RANDOM',
    taxId: '12345678000195',
  };
}

/** Indian rupees: an address of the payment's own, which needs no reference. */
export function upiAddress({ owner }: FundingRequest): PaymentInstruction {
  return { accountType: 'UPI', vpa: `pay.${seedOf(owner, 'UPI').toString('hex').slice(0, 24)}@sandbox` };
}

/** A bank code that is in no list of Nigerian banks. */
const ngnBank = '999';

/** Nigerian naira: nine digits and the check digit that the central bank's NUBAN standard asks for. */
export function ngnAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const serial = digitsOf(seedOf(owner, 'NGN_ACCOUNT'), 9);
  const weights = [3, 7, 3];
  const sum = [...ngnBank, ...serial].reduce(
    (total, digit, position) => total + Number(digit) * (weights[position % 3] ?? 0),
    0,
  );
  return { accountType: 'NGN_ACCOUNT', accountNumber: `${serial}${(10 - (sum % 10)) % 10}`, bankName, reference };
}

/** Pounds sterling. */
export function gbpAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const accountNumber = digitsOf(seedOf(owner, 'GBP_ACCOUNT'), 8);
  return { accountType: 'GBP_ACCOUNT', sortCode: '99-99-99', accountNumber, bankName, reference };
}

/** Canadian dollars. */
export function cadAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const accountNumber = digitsOf(seedOf(owner, 'CAD_ACCOUNT'), 12);
  return { accountType: 'CAD_ACCOUNT', bankCode: '999', branchCode: '00001', accountNumber, bankName, reference };
}

/** Philippine pesos. */
export function phpAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  return {
    accountType: 'PHP_ACCOUNT',
    accountNumber: digitsOf(seedOf(owner, 'PHP_ACCOUNT'), 16),
    bankName,
    reference,
  };
}

/** Singapore dollars. */
export function sgdAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const accountNumber = digitsOf(seedOf(owner, 'SGD_ACCOUNT'), 12);
  return { accountType: 'SGD_ACCOUNT', accountNumber, swiftCode: 'SBOXSGSG', bankName, reference };
}
