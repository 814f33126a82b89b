import { builder } from '../builder.ts';

export const InformationField = builder.objectRef<{ name: string; value: string }>('InformationField').implement({
  description: "A piece of information about a party to a payment, such as the party's full name.",
  fields: (t) => ({
    name: t.exposeString('name', { description: "The field's name, such as FULL_NAME, BIRTH_DATE or NATIONALITY." }),
    value: t.exposeString('value', { description: 'The value of the field, as a string.' }),
  }),
});

export const RequiredField = builder.objectRef<{ name: string; mandatory: boolean }>('RequiredField').implement({
  description: 'A piece of information about one side of a payment that the other side requires or accepts.',
  fields: (t) => ({
    name: t.exposeString('name', { description: "The field's name, such as FULL_NAME, BIRTH_DATE or NATIONALITY." }),
    mandatory: t.exposeBoolean('mandatory', {
      description: 'True if the information is required, false if it is optional.',
    }),
  }),
});

export const InformationFieldInput = builder.inputType('InformationFieldInput', {
  description: 'A piece of information about a party to a payment.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: "The field's name, such as FULL_NAME, BIRTH_DATE, NATIONALITY or PURPOSE_OF_PAYMENT.",
    }),
    value: t.string({
      required: true,
      description:
        'The value of the field. For PURPOSE_OF_PAYMENT: GIFT, SELF, GOODS_OR_SERVICES, EDUCATION, HEALTH_OR_MEDICAL, REAL_ESTATE_PURCHASE, TAX_PAYMENT, LOAN_PAYMENT, UTILITY_BILL, DONATION, TRAVEL or OTHER.',
    }),
  }),
});
