import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';
import type { AccountDetails } from './account-fields.ts';

interface Examples {
  readonly taken: readonly AccountDetails[];
  readonly refused: readonly AccountDetails[];
}

const us = (routingNumber: string, accountNumber = '000123456789') => ({
  accountNumber,
  routingNumber,
  accountCategory: 'CHECKING',
});
const clabe = (clabeNumber: string) => ({ clabeNumber });
const pix = (pixKeyType: string, pixKey: string, taxId = '529.982.247-25') => ({ pixKey, pixKeyType, taxId });
const iban = (number: string, swiftBic?: string) => ({ iban: number, swiftBic });
const ngn = (accountNumber: string, bankName: string) => ({ accountNumber, bankName, purposeOfPayment: 'GIFT' });
const cad = (bankCode: string, branchCode: string, accountNumber: string) => ({ bankCode, branchCode, accountNumber });
const gbp = (sortCode: string, accountNumber: string) => ({ sortCode, accountNumber });
const php = (bankName: string, accountNumber: string) => ({ bankName, accountNumber });
const sgd = (swiftCode: string, accountNumber: string) => ({ bankName: 'DBS Bank', swiftCode, accountNumber });
const wallet = (address: string) => ({ address });

/**
 * `expired` is BOLT 11's first example with an amount. `invoice` is the same invoice with an expiry of a hundred years,
 * signed with the key from BOLT 11. `offer` is BOLT 12's first example.
 */
const expired =
  'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh';
const invoice =
  'lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypq9qrsgqxq8z7pwf77dq5xysxxatsyp3k7enxv4jssp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygsnp4q0n326hr8v9zprg8gsvezcch06gfaqqhde2aj730yg0durunfhv6632lammg04gytdeu56vu6ft60ytk559xh2lqsm354garfkvuu83rp3nj6qjsmae7qw7r4yjyjy0nwh5lpgu2yn3jsxazsjjc9asghpkcqr0h3l0';
const offer = 'lno1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg';

const evm: Examples = {
  taken: [
    wallet('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
    wallet('0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359'),
    wallet('0XDBF03B407C01E7CD3CBEA99509D93F8DDDC8C6FB'),
  ],
  refused: [
    wallet('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'),
    wallet('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeO'),
    wallet('0x0000000000000000000000000000000000000000'),
  ],
};

/** Examples for each account type, from standards, central banks and libraries. docs/accounts.md shows them. */
export const accountExamples: Readonly<Record<ExternalAccountType, Examples>> = {
  US_ACCOUNT: {
    taken: [us('021000021'), us('0260-0959-3', '0001 2345 6789'), us('121000358', '1234')],
    refused: [us('021000022'), us('02l000021', '00012345678O'), us('000000000'), us('０21000021')],
  },
  CLABE: {
    taken: [
      clabe('032180000118359719'),
      clabe('002 010 07777777777 1'),
      clabe('646180110400000007'),
      clabe('715180000118359719'),
    ],
    refused: [clabe('032180000118359791'), clabe('03218000011835971O'), clabe('000000000000000000')],
  },
  PIX: {
    taken: [
      pix('CPF', '529.982.247-25'),
      pix('CNPJ', '12.abc.345/01de-35', '12ABC34501DE35'),
      pix('PHONE', '+55 (61) 91234-5678'),
      pix('EMAIL', 'Fulano_da_Silva.Recebedor@Example.com'),
      pix('RANDOM', '123E4567-E12B-12D1-A456-426655440000'),
    ],
    refused: [
      pix('CPF', '111.111.111-11'),
      pix('CNPJ', '12.ABC.345/O1DE-35'),
      pix('PHONE', '(61) 91234-5678'),
      pix('EMAIL', 'fulano@silva@example.com'),
      pix('RANDOM', '123e4567-e12b-12d1-a456-42665544000'),
      pix('RANDOM', '00000000-0000-0000-0000-000000000000'),
    ],
  },
  IBAN: {
    taken: [
      iban('DE89 3704 0044 0532 0130 00'),
      iban('IBAN: gb29nwbk60161331926819', 'nwbkgb2lxxx'),
      iban('TR33 0006 1005 1978 6457 8413 26', 'TCZBTR2A'),
    ],
    refused: [
      iban('DE00 3704 0044 0532 0130 00'),
      iban('DE89 37O4 OO44 0532 0130 00'),
      iban('FR14 2004 1010 0505 0001 3M02 60'),
      iban('XX89 3704 0044 0532 0130 00'),
      iban('DE36 0000 0000 0000 0000 00'),
      iban('TR33 0006 1005 1978 6457 8413 26'),
    ],
  },
  UPI: {
    taken: [{ vpa: 'grace.hopper@okhdfcbank' }, { vpa: 'Grace-1906@YBL' }, { vpa: ' 9876543210@paytm ' }],
    refused: [{ vpa: 'grace.hopper' }, { vpa: 'grace hopper@ybl' }, { vpa: 'grace@1bank' }, { vpa: 'grace@ybl.' }],
  },
  NGN_ACCOUNT: {
    taken: [
      ngn('0000014579', 'First Bank of Nigeria Plc'),
      ngn('00000 14579', 'FIRST BANK'),
      ngn('0000014578', 'Somewhere Microfinance Bank'),
    ],
    refused: [ngn('0000014578', 'First Bank'), ngn('000001457O', 'First Bank'), ngn('00014579', 'First Bank')],
  },
  CAD_ACCOUNT: {
    taken: [cad('001', '00012', '1234567'), cad('002', '12-345', '012 345 678 901'), cad('010', '09002', '7654321')],
    refused: [cad('O01', '00012', '1234567'), cad('001', '0012', '1234567'), cad('000', '00012', '1234567')],
  },
  GBP_ACCOUNT: {
    taken: [gbp('20-00-00', '55779911'), gbp('404784', '7087 2490'), gbp('20 41 50', '10038815')],
    refused: [gbp('2O-00-00', '55779911'), gbp('20-00-00', '5577991'), gbp('00-00-00', '55779911')],
  },
  PHP_ACCOUNT: {
    taken: [php('BDO Unibank', '001234567890'), php('BPI', '1234-5678-90'), php('Metrobank', '123 4 12345678 9')],
    refused: [
      php('BDO Unibank', '00000000'),
      php('BDO Unibank', '123'),
      php('BDO Unibank', '00123456789o'),
      php(' ', '001234567890'),
    ],
  },
  SGD_ACCOUNT: {
    taken: [sgd('DBSSSGSG', '0012345678'), sgd('dbsssgsgxxx', '001-234567-8'), sgd('OCBCSGSGXXX', '501 123456 001')],
    refused: [
      sgd('DBSSSGSG1', '0012345678'),
      sgd('DBSSXXSG', '0012345678'),
      sgd('D8SSSGSG', '0012345678'),
      sgd('DBSSSGSG', 'OO12345678'),
    ],
  },
  LAYER2_WALLET: {
    taken: [
      wallet('abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx'),
      wallet('SPLIT1CHECKUPSTAGEHANDSHAKEUPSTREAMERRANTERREDCAPERREDLC445V'),
      wallet('abcdef1l7aum6echk45nj3s0 wdvt2fg8x9yrzpqzd3ryx'),
    ],
    refused: [
      wallet('abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3rxy'),
      wallet('Abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx'),
      wallet('BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'),
      wallet('abcdef1l7aum6echk45'),
    ],
  },
  LIGHTNING: {
    taken: [
      { invoice },
      { invoice: `lightning:${invoice.toUpperCase()}` },
      { bolt12: `${offer.slice(0, 40)}+\n ${offer.slice(40)}` },
      { lightningAddress: 'Satoshi@Example.com' },
    ],
    refused: [
      { invoice: expired },
      { invoice: invoice.replace('2500u', '2500m') },
      { bolt12: offer.replace('pgx9', 'pgb9') },
      { lightningAddress: 'satoshi@localhost' },
    ],
  },
  SOLANA_WALLET: {
    taken: [
      wallet('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
      wallet('7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'),
      wallet(' 7EcDhSYGxXyscszYEp35 KHN8vvw3svAuLKTzXwCFLtV'),
    ],
    refused: [
      wallet('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDtlv'),
      wallet('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTD'),
      wallet('11111111111111111111111111111111'),
      wallet('EPjFWdd5AufqSSqeM2qN1xzybapC8G'),
    ],
  },
  TRON_WALLET: {
    taken: [
      wallet('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'),
      wallet('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'),
      wallet(' TR7NHqjeKQxGTCi8 q8ZY4pL8otSzgjLj6t'),
    ],
    refused: [
      wallet('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T'),
      wallet('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLjO6'),
      wallet('0xdAC17F958D2ee523a2206206994597C13D831ec7'),
    ],
  },
  POLYGON_WALLET: evm,
  BASE_WALLET: evm,
};
