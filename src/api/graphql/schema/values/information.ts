import { builder } from '../builder.ts';

/** The facts that the two sides of a payment to or from a UMA address exchange. */

export const InformationField = builder.objectRef<{ name: string; value: string }>('InformationField').implement({
  description: 'One fact about a party, by its name (specification 2.6).',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'FULL_NAME, BIRTH_DATE, NATIONALITY, …' }),
    value: t.exposeString('value', { description: 'The value.' }),
  }),
});

export const RequiredField = builder.objectRef<{ name: string; mandatory: boolean }>('RequiredField').implement({
  description: 'A fact about one side of a payment that the other side requires or accepts.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'FULL_NAME, BIRTH_DATE, NATIONALITY, …' }),
    mandatory: t.exposeBoolean('mandatory', { description: 'Whether the payment fails without it.' }),
  }),
});

export const InformationFieldInput = builder.inputType('InformationFieldInput', {
  description: 'One fact about a party.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'FULL_NAME, BIRTH_DATE, NATIONALITY, PURPOSE_OF_PAYMENT, …' }),
    value: t.string({
      required: true,
      description:
        'The value. Of PURPOSE_OF_PAYMENT: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL or OTHER.',
    }),
  }),
});
