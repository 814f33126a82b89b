import { requiredCurrency } from '../../../../core/currencies.ts';
import { publicId } from '../../../../core/ids.ts';
import { visibleLookups } from '../../../../domain/access/visible.ts';
import {
  type LookupCurrency,
  lookUpReceiver,
  lookupCurrencies,
  lookupFields,
} from '../../../../domain/receivers/lookups.ts';
import type { Lookup as LookupRow } from '../../../../infra/database/rows.ts';
import { type Env, jsonList, leaf, reads, typeReads } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { LookupNetwork } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { RequiredField } from '../values/information.ts';
import { CurrencyType, currencyRead, MoneyType, money, moneyReadOf } from '../values/money.ts';

const code = ({ json }: Env) => `(${json} ->> 'code')`;
const amount =
  (name: 'minAmount' | 'maxAmount') =>
  ({ json }: Env) =>
    `(${json} ->> '${name}')::bigint`;

const ReceiverCurrency = builder.objectRef<LookupCurrency>('ReceiverCurrency').implement({
  description: 'A currency that a receiver takes, with its limits.',
  fields: (t) => ({
    currency: t.field({
      type: CurrencyType,
      description: 'The currency.',
      ...reads(currencyRead(code)),
      resolve: ({ code }) => requiredCurrency(code),
    }),
    estimatedExchangeRate: t.expose('estimatedExchangeRate', {
      type: 'Decimal',
      nullable: true,
      description: "Units of the platform's first currency per unit of this one. Not locked: a quote locks a rate.",
    }),
    minAmount: t.field({
      type: MoneyType,
      description:
        'The least that can be received, from whichever currency the sender holds (without a sender: any of the platform).',
      ...reads(moneyReadOf(amount('minAmount'), code)),
      resolve: ({ code, minAmount }) => money(BigInt(minAmount), code),
    }),
    maxAmount: t.field({
      type: MoneyType,
      description: 'The most that can be received, likewise.',
      ...reads(moneyReadOf(amount('maxAmount'), code)),
      resolve: ({ code, maxAmount }) => money(BigInt(maxAmount), code),
    }),
  }),
});

export const Lookup = builder.objectRef<LookupRow>('Lookup').implement({
  description:
    'What the receiver behind a UMA address can be paid (specification 2.10). A quote to the address names it.',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'Lookup', visible: visibleLookups }),
  fields: (t) => ({
    id: t.id({
      description: 'Its public id.',
      ...reads(leaf.id('Lookup')),
      resolve: (lookup) => publicId('Lookup', lookup.id),
    }),
    umaAddress: t.exposeString('umaAddress', { description: '$name@domain, in lower case.' }),
    vaspName: t.exposeString('vaspName', { nullable: true, description: "The receiver's institution." }),
    network: t.field({
      type: LookupNetwork,
      description: 'The network of the receiver.',
      ...reads(leaf.enumValue('network')),
      // lookUpReceiver knows no other.
      resolve: () => 'UMA' as const,
    }),
    supportedCurrencies: t.field({
      type: [ReceiverCurrency],
      description: 'What the receiver takes, the preferred one first.',
      ...reads(jsonList(({ row }) => `${row}.currencies`)),
      resolve: (lookup) => [...lookupCurrencies(lookup)],
    }),
    requiredPayerFields: t.field({
      type: [RequiredField],
      description: "The facts about the sender that a quote's senderCustomerInfo must or may have.",
      ...reads(jsonList(({ row }) => `${row}.required_fields`)),
      resolve: (lookup) => [...lookupFields(lookup)],
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
    customerId: t.id({ description: 'The customer who would send; of the app of a customer that one when left out.' }),
    senderUmaAddress: t.string({ description: 'The same customer, by its UMA address.' }),
  }),
  success: { lookup: { type: Lookup, description: 'What the receiver takes, for ten minutes.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await lookUpReceiver(payments, viewer, input, idempotencyKey);
    return { lookup: result.row, replayed: result.replayed };
  },
});
