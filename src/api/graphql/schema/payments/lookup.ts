import { visibleLookups } from '../../../../domain/access/visible.ts';
import { type LookupCurrency, lookUpReceiver } from '../../../../domain/receivers/lookups.ts';
import { node } from '../../reading/words.ts';
import { builder } from '../builder.ts';
import { LookupNetwork } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { RequiredField } from '../values/information.ts';
import { CustomerReferenceInput } from '../values/people.ts';

const bound = (extreme: 'smallest' | 'largest') => ({
  description: `The ${extreme} amount that the receiver can be paid in this currency, whichever of the sender's currencies is used. If the lookup names no sender, all of the platform's currencies are considered.`,
});

const ReceiverCurrency = builder.objectRef<LookupCurrency>('ReceiverCurrency').implement({
  description: 'A currency that a receiver accepts, with its limits.',
  fields: (t) => ({
    currency: t.currency('code', { description: 'The currency that the receiver accepts.' }),
    estimatedExchangeRate: t.optional('estimatedExchangeRate', 'Decimal', {
      description:
        "Units of the platform's first currency per unit of this currency, in major units; null if unknown. This is an estimate; only a quote locks a rate.",
    }),
    minAmount: t.money('minAmount', 'code', bound('smallest')),
    maxAmount: t.money('maxAmount', 'code', bound('largest')),
  }),
});

export const Lookup = builder.prismaNode('Lookup', {
  ...node(visibleLookups),
  description:
    'The result of looking up the receiver at a UMA address. A quote for a payment to the address must refer to the lookup by `lookupId`.',
  fields: (t) => ({
    ...t.columns({
      umaAddress: "The receiver's UMA address: $name@domain, in lower case.",
      vaspName: "The name of the receiver's institution; null if unknown.",
      createdAt: 'When the lookup was made.',
      expiresAt: 'When the lookup expires, ten minutes after it was made. Until then, quotes can refer to it.',
    }),
    network: t.field({
      type: LookupNetwork,
      description: 'The network through which the receiver is reached.',
      select: {},
      // lookUpReceiver accepts no other type.
      resolve: () => 'UMA' as const,
    }),
    supportedCurrencies: t.json('currencies', [ReceiverCurrency], {
      description: 'The currencies that the receiver accepts, starting with the preferred one.',
    }),
    requiredPayerFields: t.json('requiredFields', [RequiredField], {
      description: "The sender information that a quote's `senderCustomerInfo` must or may contain.",
    }),
  }),
});

mutation('lookUpReceiver', {
  description:
    'Looks up what the receiver at a UMA address accepts. If the address has no receiver, the result is a NotFoundError with the code UMA_NOT_FOUND. A client token that is bound to a customer needs the LOOK_UP_RECEIVERS grant and looks up receivers for that customer.',
  input: (t) => ({
    umaAddress: t.string({ required: true, description: 'The UMA address to look up: $name@domain.' }),
    sender: t.field({
      type: CustomerReferenceInput,
      description:
        'The customer who would send the money. For a client token, the default is the customer that it is bound to.',
    }),
  }),
  success: { row: { as: 'lookup', type: Lookup, description: 'The lookup, which is valid for ten minutes.' } },
  resolve: ({ umaAddress, sender }, { payments, viewer }, key) => {
    const input = { umaAddress, customerId: sender?.customerId, senderUmaAddress: sender?.umaAddress };
    return lookUpReceiver(payments, viewer, input, key);
  },
});
