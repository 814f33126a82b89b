import { visibleLookups } from '../../../../domain/access/visible.ts';
import { type LookupCurrency, lookUpReceiver } from '../../../../domain/receivers/lookups.ts';
import { builder } from '../builder.ts';
import { LookupNetwork } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { CustomerReferenceInput } from '../values/customer-reference.ts';
import { RequiredField } from '../values/information.ts';
import { node } from '../words.ts';

const ReceiverCurrency = builder.objectRef<LookupCurrency>('ReceiverCurrency').implement({
  description: 'A currency that a receiver takes, with its limits.',
  fields: (t) => ({
    currency: t.currency('code', { description: 'The currency.' }),
    estimatedExchangeRate: t.expose('estimatedExchangeRate', {
      type: 'Decimal',
      nullable: true,
      description: "Units of the platform's first currency per unit of this one. Not locked: a quote locks a rate.",
    }),
    minAmount: t.money('minAmount', 'code', {
      description:
        'The least that can be received, from whichever currency the sender holds (without a sender: any of the platform).',
    }),
    maxAmount: t.money('maxAmount', 'code', { description: 'The most that can be received, likewise.' }),
  }),
});

export const Lookup = builder.prismaNode('Lookup', {
  ...node(visibleLookups),
  description:
    'What the receiver behind a UMA address can be paid (specification 2.10). A quote to the address names it.',
  fields: (t) => ({
    umaAddress: t.exposeString('umaAddress', { description: '$name@domain, in lower case.' }),
    vaspName: t.exposeString('vaspName', { nullable: true, description: "The receiver's institution." }),
    network: t.field({
      type: LookupNetwork,
      description: 'The network of the receiver.',
      select: {},
      // lookUpReceiver knows no other.
      resolve: () => 'UMA' as const,
    }),
    supportedCurrencies: t.json('currencies', [ReceiverCurrency], {
      description: 'What the receiver takes, the preferred one first.',
    }),
    requiredPayerFields: t.json('requiredFields', [RequiredField], {
      description: "The facts about the sender that a quote's senderCustomerInfo must or may have.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when a quote can name it: ten minutes.' }),
  }),
});

mutation('lookUpReceiver', {
  description:
    'Asks what the receiver behind a UMA address can be paid (specification 4.14). Nobody there: a NotFoundError with the code UMA_NOT_FOUND. The app of a customer may where its token has the grant LOOK_UP_RECEIVERS, for that customer.',
  input: (t) => ({
    umaAddress: t.string({ required: true, description: '$name@domain.' }),
    sender: t.field({
      type: CustomerReferenceInput,
      description: 'The customer who would send. The app of a customer may leave it out: then it is that customer.',
    }),
  }),
  success: { lookup: { type: Lookup, description: 'What the receiver takes, for ten minutes.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, umaAddress, sender }, { payments, viewer }) => {
    const input = { umaAddress, customerId: sender?.customerId, senderUmaAddress: sender?.umaAddress };
    const result = await lookUpReceiver(payments, viewer, input, idempotencyKey);
    return { lookup: result.row, replayed: result.replayed };
  },
});
