import type { PaymentInstruction as Shape } from '../rails/rail.ts';
import { builder } from './builder.ts';
import { ExternalAccountType } from './enums.ts';

const UsAccountInstruction = builder
  .objectRef<Extract<Shape, { accountType: 'US_ACCOUNT' }>>('UsAccountInstruction')
  .implement({
    description: 'Pay in by a US bank transfer.',
    fields: (t) => ({
      accountType: t.expose('accountType', { type: ExternalAccountType, description: 'US_ACCOUNT.' }),
      accountNumber: t.exposeString('accountNumber', { description: 'Account number to pay to.' }),
      routingNumber: t.exposeString('routingNumber', { description: 'ABA routing number, 9 digits.' }),
      bankName: t.exposeString('bankName', { description: 'Name of the bank.' }),
      reference: t.exposeString('reference', { description: 'Must be given exactly so with the payment.' }),
    }),
  });

export const PaymentInstruction = builder.unionType('PaymentInstruction', {
  description: 'A way to pay money in. Where there are several, any one of them does.',
  types: [UsAccountInstruction],
  resolveType: () => 'UsAccountInstruction',
});
