import { accountTypes, capitalized } from '../../../../core/account-types.ts';
import type { PaymentInstruction as Shape } from '../../../../rails/rail.ts';
import { variantsBy } from '../../reading/words.ts';
import { builder } from '../builder.ts';
import { ExternalAccountType } from '../enums.ts';
import { detailType } from './account-info.ts';

type Kind = Shape['accountType'];
type FieldOf<K extends Kind> = Exclude<keyof Extract<Shape, { accountType: K }>, 'accountType' | 'reference'> & string;

interface Member<Field extends string> {
  readonly description: string;
  readonly fields: Readonly<Record<Field, string>>;
}

const bankName = 'The name of the bank to pay to.';
const accountNumber = 'The account number to pay to.';
const address = 'The address to pay to, which is unique to the account or payment.';
const assetType = 'The code of the asset to send, such as USDC.';

/** The fields of each payment method's type. The compiler reports any method or field that is missing here. */
const members: { readonly [K in Kind]: Member<FieldOf<K>> } = {
  US_ACCOUNT: {
    description: 'How to pay in by US bank transfer.',
    fields: {
      accountNumber,
      routingNumber: "The bank's ABA routing number (9 digits).",
      accountCategory: 'The category of the bank account to pay to.',
      bankName,
    },
  },
  CLABE: {
    description: 'How to pay in by Mexican bank transfer.',
    fields: { clabeNumber: 'The CLABE to pay to (18 digits).' },
  },
  IBAN: {
    description: 'How to pay in by bank transfer in euros.',
    fields: { iban: 'The IBAN to pay to.', swiftBic: 'The BIC of the bank to pay to.' },
  },
  NGN_ACCOUNT: { description: 'How to pay in by Nigerian bank transfer.', fields: { accountNumber, bankName } },
  PHP_ACCOUNT: { description: 'How to pay in by Philippine bank transfer.', fields: { accountNumber, bankName } },
  CAD_ACCOUNT: {
    description: 'How to pay in by Canadian bank transfer.',
    fields: {
      bankCode: "The bank's institution number (3 digits).",
      branchCode: "The branch's transit number (5 digits).",
      accountNumber,
      bankName,
    },
  },
  GBP_ACCOUNT: {
    description: 'How to pay in by British bank transfer.',
    fields: { sortCode: "The bank's sort code (6 digits with dashes).", accountNumber, bankName },
  },
  SGD_ACCOUNT: {
    description: 'How to pay in by Singapore bank transfer.',
    fields: { accountNumber, swiftCode: 'The BIC of the bank to pay to.', bankName },
  },
  PIX: {
    description: 'How to pay in by Pix. The key is unique to the account or payment, so no reference is needed.',
    fields: {
      pixKey: 'The Pix key to pay to.',
      pixKeyType: 'The Pix key type.',
      taxId: "The Pix key owner's tax number.",
    },
  },
  UPI: {
    description: 'How to pay in by UPI. The address is unique to the account or payment, so no reference is needed.',
    fields: { vpa: 'The virtual payment address (VPA) to pay to.' },
  },
  LIGHTNING: { description: 'How to pay in over Lightning.', fields: { invoice: 'The BOLT 11 invoice to pay.' } },
  LAYER2_WALLET: {
    description: 'How to pay in over the second-layer Bitcoin network, using the address or the invoice.',
    fields: { address, invoice: 'A BOLT 11 invoice to pay instead of the address.', assetType },
  },
  SOLANA_WALLET: { description: 'How to pay in on Solana.', fields: { address, assetType } },
  TRON_WALLET: { description: 'How to pay in on Tron.', fields: { address, assetType } },
  POLYGON_WALLET: { description: 'How to pay in on Polygon.', fields: { address, assetType } },
  BASE_WALLET: { description: 'How to pay in on Base.', fields: { address, assetType } },
};

/** Returns the name of a payment method's type, such as UsAccountInstruction for US_ACCOUNT. */
const typeNameOf = (kind: Kind) => `${capitalized(accountTypes[kind].graphql.input)}Instruction`;

// Object.keys returns strings, but the keys of `members` are kinds.
const kinds = Object.keys(members) as Kind[];

export const PaymentInstruction = builder.interfaceRef<Shape>('PaymentInstruction').implement({
  description: 'A way to pay money in; each kind has its own fields. If several are listed, use any one of them.',
  ...variantsBy<Shape>('accountType', Object.fromEntries(kinds.map((kind) => [kind, typeNameOf(kind)]))),
  fields: (t) => ({
    accountType: t.expose('accountType', {
      type: ExternalAccountType,
      description: 'The type of account to pay to. It determines the other fields.',
    }),
    reference: t.string({
      nullable: true,
      description: 'The reference that the payer must give, exactly as written; null if none is needed.',
      resolve: (instruction) => ('reference' in instruction ? instruction.reference : null),
    }),
  }),
});

for (const kind of kinds) {
  const { description, fields }: Member<string> = members[kind];
  builder.objectRef<Shape>(typeNameOf(kind)).implement({
    description,
    interfaces: [PaymentInstruction],
    fields: (t) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, fieldDescription]) => [
          name,
          t.json(name as keyof Shape, detailType(name), { description: fieldDescription }),
        ]),
      ),
  });
}
