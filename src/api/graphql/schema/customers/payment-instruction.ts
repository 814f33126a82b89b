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

const bankName = 'The name of the bank to pay to.';
const accountNumber = 'The account number to pay to.';
const address = 'The address to pay to, which is unique to the account or payment.';
const assetType = 'The code of the asset to send, such as USDC.';

/** The schema type for each payment method. The compiler reports any method or field that is missing here. */
const members: { readonly [K in Kind]: Member<FieldOf<K>> } = {
  US_ACCOUNT: {
    type: 'UsAccountInstruction',
    description: 'Pay in by US bank transfer.',
    fields: {
      accountNumber,
      routingNumber: 'The ABA routing number of the bank, 9 digits.',
      accountCategory: 'The category of the bank account to pay to.',
      bankName,
    },
  },
  CLABE: {
    type: 'ClabeInstruction',
    description: 'Pay in by Mexican bank transfer.',
    fields: { clabeNumber: 'The CLABE to pay to, 18 digits.' },
  },
  IBAN: {
    type: 'IbanInstruction',
    description: 'Pay in by bank transfer in euros.',
    fields: { iban: 'The IBAN to pay to.', swiftBic: 'The BIC of the bank to pay to.' },
  },
  NGN_ACCOUNT: {
    type: 'NgnAccountInstruction',
    description: 'Pay in by Nigerian bank transfer.',
    fields: { accountNumber, bankName },
  },
  PHP_ACCOUNT: {
    type: 'PhpAccountInstruction',
    description: 'Pay in by Philippine bank transfer.',
    fields: { accountNumber, bankName },
  },
  CAD_ACCOUNT: {
    type: 'CadAccountInstruction',
    description: 'Pay in by Canadian bank transfer.',
    fields: {
      bankCode: 'The institution number of the bank, 3 digits.',
      branchCode: 'The transit number of the branch, 5 digits.',
      accountNumber,
      bankName,
    },
  },
  GBP_ACCOUNT: {
    type: 'GbpAccountInstruction',
    description: 'Pay in by British bank transfer.',
    fields: { sortCode: 'The sort code of the bank, 6 digits with dashes.', accountNumber, bankName },
  },
  SGD_ACCOUNT: {
    type: 'SgdAccountInstruction',
    description: 'Pay in by Singapore bank transfer.',
    fields: { accountNumber, swiftCode: 'The BIC of the bank to pay to.', bankName },
  },
  PIX: {
    type: 'PixInstruction',
    description: 'Pay in by Pix. The key is unique to the account or payment, so no reference is needed.',
    fields: {
      pixKey: 'The Pix key to pay to.',
      pixKeyType: 'The Pix key type.',
      taxId: "The Pix key owner's tax number.",
    },
  },
  UPI: {
    type: 'UpiInstruction',
    description: 'Pay in by UPI. The address is unique to the account or payment, so no reference is needed.',
    fields: { vpa: 'The virtual payment address (VPA) to pay to.' },
  },
  LIGHTNING: {
    type: 'LightningInstruction',
    description: 'Pay in over Lightning.',
    fields: { invoice: 'The BOLT 11 invoice to pay.' },
  },
  LAYER2_WALLET: {
    type: 'Layer2WalletInstruction',
    description: 'Pay in over the second-layer Bitcoin network, to the address or with the invoice.',
    fields: { address, invoice: 'The BOLT 11 invoice to pay, instead of the address.', assetType },
  },
  SOLANA_WALLET: { type: 'SolanaWalletInstruction', description: 'Pay in on Solana.', fields: { address, assetType } },
  TRON_WALLET: { type: 'TronWalletInstruction', description: 'Pay in on Tron.', fields: { address, assetType } },
  POLYGON_WALLET: {
    type: 'PolygonWalletInstruction',
    description: 'Pay in on Polygon.',
    fields: { address, assetType },
  },
  BASE_WALLET: { type: 'BaseWalletInstruction', description: 'Pay in on Base.', fields: { address, assetType } },
};

/** The enums of fields with a closed set of values; all other fields are text. */
const enumNames: Readonly<Record<string, string>> = { accountCategory: 'AccountCategory', pixKeyType: 'PixKeyType' };

export const PaymentInstruction = builder.interfaceRef<Shape>('PaymentInstruction').implement({
  description: 'A way to pay money in; each kind has its own fields. If several are listed, use any one of them.',
  ...variantsBy<Shape>(
    'accountType',
    Object.fromEntries(Object.entries<Member<string>>(members).map(([kind, { type }]) => [kind, type])),
  ),
  fields: (t) => ({
    accountType: t.expose('accountType', {
      type: ExternalAccountType,
      description: 'The type of the account to pay to. It determines the other fields.',
    }),
    reference: t.string({
      nullable: true,
      description:
        'The reference that the payer must copy exactly; null if the account or address is used for this payment only.',
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
          // The type of `members` ensures that the shape has each field.
          t.json(name as keyof Shape, enumNames[name] === undefined ? 'String' : accountEnum(enumNames[name]), {
            description: fieldDescription,
          }),
        ]),
      ),
  });
}
