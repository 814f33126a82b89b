import type { AccountField } from '../../../../core/account-fields.ts';
import { type AccountType, accountTypes } from '../../../../core/account-types.ts';
import { currencyOf, requiredCurrency } from '../../../../core/currencies.ts';
import { Refusal } from '../../../../core/refusal.ts';
import type { ExternalAccountType as AccountTypeName } from '../../../../infra/database/generated/client/client.ts';
import { executed } from '../../reading/derive.ts';
import { builder } from '../builder.ts';
import { ExternalAccountType } from '../enums.ts';

/** Defines the fields that a form for a new external account needs, from the domain's table of account types. */

interface Form {
  readonly accountType: AccountTypeName;
  readonly type: AccountType;
}

interface FormatByValue {
  readonly value: string;
  readonly format: string;
  readonly pattern: RegExp;
}

const formatFields = {
  format: 'The format as text, such as "9 digits".',
  pattern:
    'The format as a JavaScript regular expression for the flag u or v, as in the HTML attribute `pattern`. It accepts input as people write it, with spaces and dashes. A matching value may still be refused, because of its check digits or by the bank.',
} as const;

const FormatBy = builder.objectRef<FormatByValue>('ExternalAccountFieldFormat').implement({
  description: 'The format of a field for one value of another field.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'The value of the other field, which `formatDependsOn` names.' }),
    format: t.exposeString('format', { description: formatFields.format }),
    pattern: t.string({ description: formatFields.pattern, resolve: ({ pattern }) => pattern.source }),
  }),
});

const Field = builder
  .objectRef<{ readonly name: string; readonly field: AccountField }>('ExternalAccountFormField')
  .implement({
    description: 'A field in the form of an external account.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'The name of the field in the input.' }),
      description: t.string({ description: 'A description of the field.', resolve: ({ field }) => field.description }),
      required: t.boolean({
        description: 'Whether the field must be given.',
        resolve: ({ field }) => !field.optional,
      }),
      allowedValues: t.stringList({
        nullable: true,
        description: 'The values that the field can have; null if they are not a fixed set.',
        resolve: ({ field }) => (field.values ? [...field.values] : null),
      }),
      format: t.string({
        nullable: true,
        description: `${formatFields.format} Null for a field with \`allowedValues\`.`,
        resolve: ({ field }) => (field.values ? null : field.form),
      }),
      pattern: t.string({
        nullable: true,
        description: `${formatFields.pattern} Null for a field with \`allowedValues\`.`,
        resolve: ({ field }) => (field.values ? null : field.pattern.source),
      }),
      formatDependsOn: t.string({
        nullable: true,
        description:
          'The name of the field whose value determines the format (`formatsByValue`); null if the format is always the same.',
        resolve: ({ field }) => field.formBy?.field ?? null,
      }),
      formatsByValue: t.field({
        type: [FormatBy],
        description: 'The format for each value of the field that `formatDependsOn` names; empty if it names none.',
        resolve: ({ field }) =>
          Object.entries(field.formBy?.forms ?? {}).map(([value, { form, pattern }]) => ({
            value,
            format: form,
            pattern,
          })),
      }),
    }),
  });

const ExternalAccountForm = builder.objectRef<Form>('ExternalAccountForm').implement({
  description: 'The form of createExternalAccount for one type of account.',
  fields: (t) => ({
    accountType: t.expose('accountType', {
      type: ExternalAccountType,
      description: 'The type of account that the form is for.',
    }),
    description: t.string({
      description: 'A description of the type of account.',
      resolve: ({ type }) => type.description,
    }),
    inputField: t.string({
      description: 'The field of ExternalAccountInfoInput that takes the details of such an account.',
      resolve: ({ type }) => type.graphql.input,
    }),
    currencies: t.field({
      type: ['Currency'],
      description: 'The currencies that an account of this type can have.',
      resolve: ({ type }) => type.currencies.map(requiredCurrency),
    }),
    beneficiaryRequired: t.boolean({
      description: 'Whether the owner must be given as `beneficiary`: true for bank accounts, false for wallets.',
      resolve: ({ type }) => type.beneficiary,
    }),
    exactlyOneOf: t.stringList({
      description: 'The fields of which exactly one must be given; empty if `required` says which are needed.',
      resolve: ({ type }) => (type.identifier.length > 1 ? [...type.identifier] : []),
    }),
    fields: t.field({
      type: [Field],
      description: 'The fields of the form, in the order to show them.',
      resolve: ({ type }) => Object.entries(type.fields).map(([name, field]) => ({ name, field })),
    }),
  }),
});

const forms = (Object.entries(accountTypes) as [AccountTypeName, AccountType][]).map(
  ([accountType, type]): Form => ({ accountType, type }),
);

builder.queryField('externalAccountForms', (t) =>
  t.field({
    type: [ExternalAccountForm],
    ...executed,
    description:
      'The forms of createExternalAccount, one for each type of account, from which an app can build its screens.',
    args: {
      currency: t.arg({
        type: 'CurrencyCode',
        description: 'Returns only the types of account that can have the currency with this code.',
      }),
    },
    resolve: (_root, { currency: code }) => {
      if (code === null || code === undefined) return forms;
      const currency = currencyOf(code);
      if (!currency) {
        throw new Refusal('INVALID_CURRENCY', `unknown currency ${JSON.stringify(code)}`, { path: ['currency'] });
      }
      return forms.filter(({ type }) => type.currencies.includes(currency.code));
    },
  }),
);
