import type { AccountField } from '../../../../core/account-fields.ts';
import { type AccountType, accountTypes } from '../../../../core/account-types.ts';
import { currencyOf, requiredCurrency } from '../../../../core/currencies.ts';
import { Refusal } from '../../../../core/refusal.ts';
import type { ExternalAccountType as AccountTypeName } from '../../../../infra/database/generated/client/client.ts';
import { executed } from '../../reading/derive.ts';
import { builder } from '../builder.ts';
import { ExternalAccountType } from '../enums.ts';

/** What a form for a new external account asks for, from the domain's table of account types. */

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
  format: 'The form in words: "9 digits".',
  pattern:
    'The form as a regular expression of JavaScript with the flag u or v, such as the attribute pattern of HTML, of what people write: with spaces and dashes where print has them. What fits may still be refused for its check digits, or by the bank.',
} as const;

const FormatBy = builder.objectRef<FormatByValue>('ExternalAccountFieldFormat').implement({
  description: 'The form of a field where another field has a certain value.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'The value of the other field.' }),
    format: t.exposeString('format', { description: formatFields.format }),
    pattern: t.string({ description: formatFields.pattern, resolve: ({ pattern }) => pattern.source }),
  }),
});

const Field = builder
  .objectRef<{ readonly name: string; readonly field: AccountField }>('ExternalAccountFormField')
  .implement({
    description: 'A field of a form for an external account.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'Its name in the input.' }),
      description: t.string({ description: 'What it is.', resolve: ({ field }) => field.description }),
      isRequired: t.boolean({ description: 'Whether it must be given.', resolve: ({ field }) => !field.optional }),
      allowedValues: t.stringList({
        nullable: true,
        description: 'The closed set that it takes a value of; null where there is none.',
        resolve: ({ field }) => (field.values ? [...field.values] : null),
      }),
      format: t.string({
        nullable: true,
        description: `${formatFields.format} Null for a closed set.`,
        resolve: ({ field }) => (field.values ? null : field.form),
      }),
      pattern: t.string({
        nullable: true,
        description: `${formatFields.pattern} Null for a closed set.`,
        resolve: ({ field }) => (field.values ? null : field.pattern.source),
      }),
      formatDependsOn: t.string({
        nullable: true,
        description: 'The field whose value decides its form besides, as formatsByValue says; null where none does.',
        resolve: ({ field }) => field.formBy?.field ?? null,
      }),
      formatsByValue: t.field({
        type: [FormatBy],
        description: 'Its form for each value of the field that decides it.',
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
  description: 'What a form for an external account of one type asks for.',
  fields: (t) => ({
    accountType: t.expose('accountType', { type: ExternalAccountType, description: 'The type of the account.' }),
    description: t.string({ description: 'The type in words.', resolve: ({ type }) => type.description }),
    inputField: t.string({
      description: 'The field of ExternalAccountInfoInput that takes its details.',
      resolve: ({ type }) => type.graphql.input,
    }),
    currencies: t.field({
      type: ['Currency'],
      description: 'The currencies that such an account can have.',
      resolve: ({ type }) => type.currencies.map(requiredCurrency),
    }),
    isBeneficiaryRequired: t.boolean({
      description: 'Whether the owner must be given: a bank account has one, a wallet has none.',
      resolve: ({ type }) => type.beneficiary,
    }),
    exactlyOneOf: t.stringList({
      description: 'The fields of which exactly one must be given; empty where that follows from `isRequired`.',
      resolve: ({ type }) => (type.identifier.length > 1 ? [...type.identifier] : []),
    }),
    fields: t.field({
      type: [Field],
      description: 'Its fields, in the order of a form.',
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
    description: 'What createExternalAccount asks for, for each type of account: a screen can make its form of it.',
    args: {
      currency: t.arg({
        type: 'CurrencyCode',
        description: 'Only the types of account that can have this currency.',
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
