import type { AccountDetails, AccountField } from '../../../../core/account-fields.ts';
import { type AccountType, accountTypes } from '../../../../core/account-types.ts';
import type { ExternalAccountType as AccountTypeName } from '../../../../infra/database/generated/client/client.ts';
import { leaf, reads, typeReads } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { ExternalAccountType } from '../enums.ts';

/** The output types and inputs of the account kinds, generated from the domain's table. */

interface AccountInfo {
  readonly accountType: AccountTypeName;
  readonly details: AccountDetails;
  readonly maskedNumber: string;
}

const table: [AccountTypeName, AccountType][] = Object.entries(accountTypes) as [AccountTypeName, AccountType][];

const enums = new Map(
  table
    .flatMap(([, type]) => Object.values(type.fields))
    .filter(
      (field): field is AccountField & { enumName: string; values: readonly string[] } => field.enumName !== undefined,
    )
    .map((field) => [
      field.enumName,
      builder.enumType(field.enumName, {
        description: field.description,
        values: Object.fromEntries(
          field.values.map((value) => [value, { description: `${value.toLowerCase().replaceAll('_', ' ')}.` }]),
        ),
      }),
    ]),
);

/** The fields that are optional in some kind of account: nullable in all, so that one document can select them on each. */
const optionalSomewhere = new Set(
  table.flatMap(([, type]) =>
    Object.entries(type.fields)
      .filter(([, field]) => field.optional)
      .map(([name]) => name),
  ),
);

/** Returns the enum of a field with a closed set of values, by its name in the table. */
export function accountEnum(name: string) {
  const found = enums.get(name);
  if (!found) throw new Error(`no account field has the enum ${name}`);
  return found;
}

const typeOf = (field: AccountField) => (field.enumName && enums.get(field.enumName)) || 'String';

export const ExternalAccountInfo = builder.interfaceRef<AccountInfo>('ExternalAccountInfo').implement({
  description: 'The details of an external account; each kind has fields of its own.',
  ...typeReads({
    variants: (env) =>
      table.map(([accountType, type]) => ({ type: type.graphql.type, when: `${env.accountType} = '${accountType}'` })),
  }),
  resolveType: ({ accountType }) => accountTypes[accountType].graphql.type,
  fields: (t) => ({
    accountType: t.expose('accountType', {
      type: ExternalAccountType,
      description: 'What kind of account.',
      ...reads(leaf.of(({ accountType }) => [`'"' || ${accountType} || '"'`])),
    }),
    maskedNumber: t.exposeString('maskedNumber', {
      description: 'The end of its number or address, for people: "•••• 6789".',
      ...reads(leaf.of(({ number }) => [`to_json(${number})::text`])),
    }),
  }),
});

for (const [, type] of table) {
  builder.objectRef<AccountInfo>(type.graphql.type).implement({
    description: type.description,
    interfaces: [ExternalAccountInfo],
    fields: (t) =>
      Object.fromEntries(
        Object.entries(type.fields).map(([name, field]) => [
          name,
          t.field({
            type: typeOf(field),
            nullable: optionalSomewhere.has(name),
            description: field.description,
            ...reads(leaf.member(name)),
            // The compiler does not know the types of generated fields; checkAccountInfo has checked the details by the same table.
            resolve: ({ details }) => details[name] as never,
          }),
        ]),
      ),
  });
}

const inputs = table.map(([accountType, type]) => {
  const ref = builder.inputRef<AccountDetails>(`${type.graphql.type.replace(/Info$/, '')}Input`).implement({
    description: type.description,
    fields: (t) =>
      Object.fromEntries(
        Object.entries(type.fields).map(([name, field]) => [
          name,
          t.field({ type: typeOf(field), required: field.optional !== true, description: field.description }),
        ]),
        // The compiler does not know the keys of a generated object.
      ) as never,
  });
  return { accountType, type, ref };
});

/** Exactly one field is given: the kind of the account, with its details. */
export type AccountInfoInput = Readonly<Record<string, AccountDetails | null | undefined>>;

export const ExternalAccountInfoInput = builder.inputRef<AccountInfoInput>('ExternalAccountInfoInput').implement({
  description: 'The details of an external account: exactly one field, its kind.',
  isOneOf: true,
  fields: (t) =>
    Object.fromEntries(
      inputs.map(({ type, ref }) => [type.graphql.input, t.field({ type: ref, description: type.description })]),
      // As above: generated.
    ) as never,
});

/** Returns the kind and the details in an input. */
export function readAccountInfo(input: AccountInfoInput): Omit<AccountInfo, 'maskedNumber'> {
  for (const { accountType, type } of inputs) {
    const details = input[type.graphql.input];
    if (details) return { accountType, details };
  }
  throw new Error('a @oneOf input has one field');
}
