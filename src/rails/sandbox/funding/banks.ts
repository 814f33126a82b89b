import { clabe } from 'clabe-validator';
import { composeIBAN } from 'ibantools';
import { pixKeyForms } from '../../../core/account-fields.ts';
import type { FundingRequest, PaymentInstruction } from '../../rail.ts';
import { digitsOf, seedOf } from './seed.ts';

/**
 * The sandbox's bank accounts: one per quote and account. Numbers have the check digits of their formats, so that
 * clients' validation accepts them. Bank codes belong to no real bank.
 */

const bankName = 'Sandbox Bank';
const swiftBic = 'SBOXMTMT';

/** Creates a US account. The routing number is a well-known one with a valid checksum. */
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

/** Creates an IBAN for euros. It is Maltese, because an account number of 18 digits gives every quote its own. */
export function ibanAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const iban = composeIBAN({ countryCode: 'MT', bban: `SBOX00001${digitsOf(seedOf(owner, 'IBAN'), 18)}` });
  if (iban === null) throw new Error('the sandbox bank code does not make a valid IBAN');
  return { accountType: 'IBAN', iban, swiftBic, reference };
}

/** The codes of the clearing house of many Mexican virtual accounts, and of Mexico City. */
const clabeBank = 646;
const clabeCity = 180;

export function clabeAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const account = Number(digitsOf(seedOf(owner, 'CLABE'), 11));
  return { accountType: 'CLABE', clabeNumber: clabe.calculate(clabeBank, clabeCity, account), reference };
}

/** Creates a random PIX key for Brazilian reais. It belongs to one payment, and needs no reference. */
export function pixKey({ owner }: FundingRequest): PaymentInstruction {
  return {
    accountType: 'PIX',
    pixKey: pixKeyForms.RANDOM.canonical(seedOf(owner, 'PIX').toString('hex').slice(0, 32)),
    pixKeyType: 'RANDOM',
    taxId: '12345678000195',
  };
}

/** Creates a UPI address for Indian rupees. It belongs to one payment, and needs no reference. */
export function upiAddress({ owner }: FundingRequest): PaymentInstruction {
  return { accountType: 'UPI', vpa: `pay.${seedOf(owner, 'UPI').toString('hex').slice(0, 24)}@sandbox` };
}

/** A bank code that no list of Nigerian banks contains. */
const ngnBank = '999';

/** Creates an account for Nigerian naira: nine digits, and the check digit of the central bank's NUBAN standard. */
export function ngnAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const serial = digitsOf(seedOf(owner, 'NGN_ACCOUNT'), 9);
  const weights = [3, 7, 3];
  const sum = [...ngnBank, ...serial].reduce(
    (total, digit, position) => total + Number(digit) * (weights[position % 3] ?? 0),
    0,
  );
  return { accountType: 'NGN_ACCOUNT', accountNumber: `${serial}${(10 - (sum % 10)) % 10}`, bankName, reference };
}

export function gbpAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const accountNumber = digitsOf(seedOf(owner, 'GBP_ACCOUNT'), 8);
  return { accountType: 'GBP_ACCOUNT', sortCode: '99-99-99', accountNumber, bankName, reference };
}

export function cadAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const accountNumber = digitsOf(seedOf(owner, 'CAD_ACCOUNT'), 12);
  return { accountType: 'CAD_ACCOUNT', bankCode: '999', branchCode: '00001', accountNumber, bankName, reference };
}

export function phpAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  return {
    accountType: 'PHP_ACCOUNT',
    accountNumber: digitsOf(seedOf(owner, 'PHP_ACCOUNT'), 16),
    bankName,
    reference,
  };
}

export function sgdAccount({ owner, reference }: FundingRequest): PaymentInstruction {
  const accountNumber = digitsOf(seedOf(owner, 'SGD_ACCOUNT'), 12);
  return { accountType: 'SGD_ACCOUNT', accountNumber, swiftCode: 'SBOXSGSG', bankName, reference };
}
