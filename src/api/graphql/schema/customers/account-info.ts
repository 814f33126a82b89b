import type { AccountDetails, AccountField } from '../../../../core/account-fields.ts';
import { type AccountType, accountTypes, capitalized } from '../../../../core/account-types.ts';
import { givenCurrency, requiredCurrency } from '../../../../core/currencies.ts';
import { maskedNumber } from '../../../../domain/accounts/account-details.ts';
import type {
  Account,
  ExternalAccountType as AccountTypeName,
} from '../../../../infra/database/generated/client/client.ts';
import { alsoInDatabase } from '../../reading/computed.ts';
import { executed } from '../../reading/derive.ts';
import { variantsBy } from '../../reading/words.ts';
import { builder, enumOf } from '../builder.ts';
import { ExternalAccountType } from '../enums.ts';

/** Defines the output and input types of each account type, generated from the domain's table. */

const table = Object.entries(accountTypes) as [AccountTypeName, AccountType][];

const allFields = table.flatMap(([, { fields }]) => Object.entries(fields));

const enums = new Map(
  allFields.flatMap(([name, { values, description }]) =>
    values ? [[name, enumOf(capitalized(name), description, values)] as const] : [],
  ),
);

/** Returns the type of the detail with the given name: its enum if only certain values are allowed, else String. */
export const detailType = (name: string) => enums.get(name) ?? 'String';

/**
 * The fields that are optional in at least one account type. They are nullable in every type, so that one document can
 * select them for all types.
 */
const optionalSomewhere = new Set(allFields.filter(([, field]) => field.optional).map(([name]) => name));

export const ExternalAccountInfo = builder.prismaInterface('Account', {
  variant: 'ExternalAccountInfo',
  description: 'The details of an external account; each account type has its own fields.',
  ...variantsBy<Account>('accountType', Object.fromEntries(table.map(([name, { graphql }]) => [name, graphql.type]))),
  fields: (t) => ({
    accountType: t.required('accountType', ExternalAccountType, { description: "The account's type." }),
    maskedNumber: t.string({
      description: 'The account number or address, masked for display, such as "•••• 6789" or "al••••@example.com".',
      select: { kind: true, id: true, identifier: true },
      ...alsoInDatabase('account_number'),
      resolve: maskedNumber,
    }),
  }),
});

for (const [, type] of table) {
  builder.prismaObject('Account', {
    variant: type.graphql.type,
    description: type.description,
    interfaces: [ExternalAccountInfo],
    fields: (t) =>
      Object.fromEntries(
        Object.entries(type.fields).map(([name, field]) => [
          name,
          t.json(['accountInfo', name], detailType(name), {
            nullable: optionalSomewhere.has(name),
            description: field.description,
          }),
        ]),
      ),
  });
}

const inputs = table.map(([accountType, type]) => {
  const ref = builder.inputRef<AccountDetails>(`${type.graphql.type.replace(/Info$/, '')}Input`).implement({
    description: type.description,
    // A type with several alternative identifiers has no other fields.
    ...(type.identifier.length > 1 && { isOneOf: true }),
    fields: (t) =>
      Object.fromEntries(
        Object.entries(type.fields).map(([name, field]) => [
          name,
          t.field({ type: detailType(name), required: field.optional !== true, description: field.description }),
        ]),
        // The compiler does not know the keys of a generated object.
      ) as never,
  });
  return { accountType, type, ref };
});

/** An object with exactly one field, which is named after the account's type and contains the details. */
type AccountInfoInput = Readonly<Record<string, AccountDetails | null | undefined>>;

export const ExternalAccountInfoInput = builder.inputRef<AccountInfoInput>('ExternalAccountInfoInput').implement({
  description: "The details of an external account. Set only the field that matches the account's type.",
  isOneOf: true,
  fields: (t) =>
    Object.fromEntries(
      inputs.map(({ type, ref }) => [type.graphql.input, t.field({ type: ref, description: type.description })]),
    ) as never,
});

/** Returns the account type and the details from a `@oneOf` input. */
export function readAccountInfo(input: AccountInfoInput) {
  for (const { accountType, type } of inputs) {
    const details = input[type.graphql.input];
    if (details) return { accountType, details };
  }
  throw new Error('a @oneOf input has one field');
}

const formField = ([name, field]: [string, AccountField]) => ({
  name,
  description: field.description,
  required: !field.optional,
  allowedValues: field.values ? Object.keys(field.values) : null,
  format: field.values ? null : field.form,
  pattern: field.values ? null : field.pattern.source,
  formatDependsOn: field.formBy?.field ?? null,
  formatsByValue: Object.entries(field.formBy?.forms ?? {}).map(([value, { form, pattern }]) => ({
    value,
    format: form,
    pattern: pattern.source,
  })),
});

const forms = table.map(([accountType, type]) => ({
  accountType,
  description: type.description,
  inputField: type.graphql.input,
  currencies: type.currencies.map(requiredCurrency),
  beneficiaryRequired: type.beneficiary,
  exactlyOneOf: type.identifier.length > 1 ? [...type.identifier] : [],
  fields: Object.entries(type.fields).map(formField),
}));

type Form = (typeof forms)[number];
type FormField = Form['fields'][number];

const formatFields = {
  format: 'The format in words, such as "9 digits".',
  pattern:
    'The format as a JavaScript regular expression for use with the u or v flag, as in the HTML attribute `pattern`. It allows the spaces and dashes that people type. A matching value may still be refused if its check digits are wrong or the bank does not accept it.',
} as const;

const FormatByValue = builder.objectRef<FormField['formatsByValue'][number]>('ExternalAccountFieldFormat').implement({
  description: "A field's format for one particular value of another field.",
  fields: (t) => ({
    value: t.exposeString('value', { description: 'The value of the field named in `formatDependsOn`.' }),
    format: t.exposeString('format', { description: formatFields.format }),
    pattern: t.exposeString('pattern', { description: formatFields.pattern }),
  }),
});

const Field = builder.objectRef<FormField>('ExternalAccountFormField').implement({
  description: 'A field of the form for an external account.',
  fields: (t) => ({
    name: t.exposeString('name', { description: "The field's name in the input." }),
    description: t.exposeString('description', { description: 'A description of the field.' }),
    required: t.exposeBoolean('required', { description: 'Whether the field is required.' }),
    allowedValues: t.exposeStringList('allowedValues', {
      nullable: true,
      description: 'The values that the field accepts; null if it is not limited to a fixed set.',
    }),
    format: t.optional('format', 'String', {
      description: `${formatFields.format} Null for a field with \`allowedValues\`.`,
    }),
    pattern: t.optional('pattern', 'String', {
      description: `${formatFields.pattern} Null for a field with \`allowedValues\`.`,
    }),
    formatDependsOn: t.optional('formatDependsOn', 'String', {
      description:
        'The name of the field whose value determines the format (`formatsByValue`); null if the format is always the same.',
    }),
    formatsByValue: t.expose('formatsByValue', {
      type: [FormatByValue],
      description:
        'The format for each value of the field named in `formatDependsOn`; empty if there is no such field.',
    }),
  }),
});

const ExternalAccountForm = builder.objectRef<Form>('ExternalAccountForm').implement({
  description: 'The form for creating one type of external account with createExternalAccount.',
  fields: (t) => ({
    accountType: t.expose('accountType', {
      type: ExternalAccountType,
      description: 'The account type that the form is for.',
    }),
    description: t.exposeString('description', { description: 'A description of the account type.' }),
    inputField: t.exposeString('inputField', {
      description: 'The field of ExternalAccountInfoInput that takes the details of this type of account.',
    }),
    currencies: t.expose('currencies', {
      type: ['Currency'],
      description: 'The currencies that an account of this type can have.',
    }),
    beneficiaryRequired: t.exposeBoolean('beneficiaryRequired', {
      description: 'Whether the owner must be given as `beneficiary`: true for bank accounts, false for wallets.',
    }),
    exactlyOneOf: t.exposeStringList('exactlyOneOf', {
      description: 'Fields of which exactly one must be given. Empty if `required` says which fields are needed.',
    }),
    fields: t.expose('fields', { type: [Field], description: "The form's fields, in display order." }),
  }),
});

builder.queryField('externalAccountForms', (t) =>
  t.field({
    type: [ExternalAccountForm],
    ...executed,
    description:
      'The forms for createExternalAccount, one for each account type. An app can build its screens from them.',
    args: {
      currency: t.arg({
        type: 'CurrencyCode',
        description: 'Returns only the forms for account types that support the currency with this code.',
      }),
    },
    resolve: (_root, { currency: code }) => {
      if (code === null || code === undefined) return forms;
      const currency = givenCurrency(code, ['currency']);
      return forms.filter(({ currencies }) => currencies.includes(currency));
    },
  }),
);
