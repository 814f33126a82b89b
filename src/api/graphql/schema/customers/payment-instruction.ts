import type { PaymentInstruction as Shape } from '../../../../rails/rail.ts';
import { builder } from '../builder.ts';
import { ExternalAccountType } from '../enums.ts';
import { variantsBy } from '../words.ts';
import { accountEnum } from './account-info.ts';

type Kind = Shape['accountType'];
type FieldOf<K extends Kind> = Exclude<keyof Extract<Shape, { accountType: K }>, 'accountType' | 'reference'> & string;

interface Member<Field extends string> {
  readonly type: string;
  readonly description: string;
  readonly fields: Readonly<Record<Field, string>>;
}

const bankName = 'Name of the bank.';
const accountNumber = 'Account number to pay to.';
const address = 'Address to pay to, of this payment alone.';
const assetType = 'The asset to send.';

/** The type of each way to pay. The compiler reports a way or a field that is missing here. */
const members: { readonly [K in Kind]: Member<FieldOf<K>> } = {
  US_ACCOUNT: {
    type: 'UsAccountInstruction',
    description: 'Pay in by a US bank transfer.',
    fields: {
      accountNumber,
      routingNumber: 'ABA routing number, 9 digits.',
      accountCategory: 'What kind of bank account.',
      bankName,
    },
  },
  CLABE: {
    type: 'ClabeInstruction',
    description: 'Pay in by a Mexican bank transfer.',
    fields: { clabeNumber: 'CLABE to pay to, 18 digits.' },
  },
  IBAN: {
    type: 'IbanInstruction',
    description: 'Pay in by a bank transfer in euro.',
    fields: { iban: 'IBAN to pay to.', swiftBic: 'BIC of the bank.' },
  },
  NGN_ACCOUNT: {
    type: 'NgnAccountInstruction',
    description: 'Pay in by a Nigerian bank transfer.',
    fields: { accountNumber, bankName },
  },
  PHP_ACCOUNT: {
    type: 'PhpAccountInstruction',
    description: 'Pay in by a Philippine bank transfer.',
    fields: { accountNumber, bankName },
  },
  CAD_ACCOUNT: {
    type: 'CadAccountInstruction',
    description: 'Pay in by a Canadian bank transfer.',
    fields: {
      bankCode: 'Institution number, 3 digits.',
      branchCode: 'Transit number, 5 digits.',
      accountNumber,
      bankName,
    },
  },
  GBP_ACCOUNT: {
    type: 'GbpAccountInstruction',
    description: 'Pay in by a British bank transfer.',
    fields: { sortCode: 'Sort code, 6 digits with dashes.', accountNumber, bankName },
  },
  SGD_ACCOUNT: {
    type: 'SgdAccountInstruction',
    description: 'Pay in by a bank transfer in Singapore.',
    fields: { accountNumber, swiftCode: 'BIC of the bank.', bankName },
  },
  PIX: {
    type: 'PixInstruction',
    description: 'Pay in by Pix. The key is of this payment alone and needs no reference.',
    fields: {
      pixKey: 'The key to pay to.',
      pixKeyType: 'What kind of key.',
      taxId: "Tax number of the key's owner.",
    },
  },
  UPI: {
    type: 'UpiInstruction',
    description: 'Pay in by UPI. The address is of this payment alone and needs no reference.',
    fields: { vpa: 'Virtual payment address to pay to.' },
  },
  LIGHTNING: {
    type: 'LightningInstruction',
    description: 'Pay in over Lightning.',
    fields: { invoice: 'BOLT 11 invoice.' },
  },
  LAYER2_WALLET: {
    type: 'Layer2WalletInstruction',
    description: 'Pay in on the second-layer bitcoin network, to the address or by the invoice.',
    fields: { address, invoice: 'BOLT 11 invoice.', assetType },
  },
  SOLANA_WALLET: {
    type: 'SolanaWalletInstruction',
    description: 'Pay in on Solana.',
    fields: { address, assetType },
  },
  TRON_WALLET: { type: 'TronWalletInstruction', description: 'Pay in on Tron.', fields: { address, assetType } },
  POLYGON_WALLET: {
    type: 'PolygonWalletInstruction',
    description: 'Pay in on Polygon.',
    fields: { address, assetType },
  },
  BASE_WALLET: { type: 'BaseWalletInstruction', description: 'Pay in on Base.', fields: { address, assetType } },
};

/** The enums of fields with a closed set of values; the other fields are text. */
const enumOf: Readonly<Record<string, string>> = { accountCategory: 'AccountCategory', pixKeyType: 'PixKeyType' };

export const PaymentInstruction = builder.interfaceRef<Shape>('PaymentInstruction').implement({
  description: 'A way to pay money in; each kind has fields of its own. Where there are several, any one of them does.',
  ...variantsBy<Shape>(
    'accountType',
    Object.fromEntries(Object.entries<Member<string>>(members).map(([kind, { type }]) => [kind, type])),
  ),
  fields: (t) => ({
    accountType: t.expose('accountType', { type: ExternalAccountType, description: 'What is paid to.' }),
    reference: t.string({
      nullable: true,
      description: 'Must be given exactly so with the payment. Null where what is paid to is of this payment alone.',
      resolve: (instruction) => ('reference' in instruction ? instruction.reference : null),
    }),
  }),
});

for (const { type, description, fields } of Object.values<Member<string>>(members)) {
  builder.objectRef<Shape>(type).implement({
    description,
    interfaces: [PaymentInstruction],
    fields: (t) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, fieldDescription]) => [
          name,
          // The type of `members` makes sure that each field is one of the shape.
          t.json(name as keyof Shape, enumOf[name] === undefined ? 'String' : accountEnum(enumOf[name]), {
            description: fieldDescription,
          }),
        ]),
      ),
  });
}
