import { z } from '@hono/zod-openapi';
import { type AccountField, formFault } from '../../../core/account-fields.ts';
import { type AccountType, accountTypes } from '../../../core/account-types.ts';
import { longest } from '../../../core/texts.ts';
import type { ExternalAccountType } from '../../../infra/database/generated/client/client.ts';
import type { AccountInfoRecord } from '../../records/account-record.ts';
import { AddressSchema, companyFields, ownKey, personFields, requestObject, text, variants } from './fields.ts';

// Builds the schemas of the external account types from the domain's table.

const IndividualBeneficiary = requestObject('IndividualBeneficiary', {
  beneficiaryType: z.literal('INDIVIDUAL').describe('The owner type: a person.'),
  fullName: text(longest.name).describe('Full name.'),
  ...personFields,
});

const BusinessBeneficiary = requestObject('BusinessBeneficiary', {
  beneficiaryType: z.literal('BUSINESS').describe('The owner type: a company.'),
  ...companyFields,
  address: AddressSchema.optional(),
});

const BeneficiarySchema = variants('Beneficiary', 'beneficiaryType', [
  IndividualBeneficiary,
  BusinessBeneficiary,
]).describe('The owner of a bank account.');

export type BeneficiaryInput = z.infer<typeof BeneficiarySchema>;

/** The details of an account in a request: its type, the fields of that type, and the owner of a bank account. */
export interface AccountInfoInput {
  readonly accountType: ExternalAccountType;
  readonly beneficiary?: BeneficiaryInput;
  readonly platformAccountId?: string;
  readonly [detail: string]: unknown;
}

const table = Object.entries(accountTypes) as [ExternalAccountType, AccountType][];

/** Creates the schema of a detail. The domain's rule checks its values and explains refusals. */
function detail(field: AccountField): z.ZodType {
  const schema = field.values ? z.enum(field.values) : formSchema(field);
  const documented = schema.describe(field.description);
  return field.optional ? documented.optional() : documented;
}

function formSchema(field: AccountField) {
  const { pattern, maxLength } = field;
  return z
    .string()
    .superRefine((value, context) => {
      const message = formFault(field, value, {});
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .openapi({ pattern: pattern.source, maxLength });
}

type TypeSchemas = [z.ZodObject<{ accountType: z.ZodLiteral<string> }>];

/** Creates one schema per account type, with the additional fields of `more`. */
function typeSchemas(suffix: 'Input' | '', more: (type: AccountType) => Record<string, z.ZodType>): TypeSchemas {
  const members = table.map(([accountType, type]) =>
    z
      .strictObject({
        accountType: z.literal(accountType).describe(type.description),
        ...Object.fromEntries(Object.entries(type.fields).map(([name, rule]) => [name, detail(rule)])),
        ...more(type),
      })
      .openapi(`${type.graphql.type}${suffix}`, { description: type.description }),
  );
  // zod's union type requires at least one member; the table has several.
  return members as unknown as TypeSchemas;
}

// The compiler cannot infer the types of schemas built from a table, so the two below declare theirs.

export const AccountInfoInputSchema = variants(
  'ExternalAccountInfoInput',
  'accountType',
  typeSchemas('Input', (type) => ({
    ...(type.beneficiary && { beneficiary: BeneficiarySchema }),
    // Requests can send this field here or next to accountInfo (decision 25).
    platformAccountId: ownKey().optional().describe("The platform's own id for the account."),
  })),
).describe('The details of an account, which depend on its type.') as unknown as z.ZodType<AccountInfoInput>;

export const AccountInfoSchema = variants(
  'ExternalAccountInfo',
  'accountType',
  typeSchemas('', (type) => ({ ...(type.beneficiary && { beneficiary: BeneficiarySchema }) })),
).describe('The details of an account, which depend on its type.') as unknown as z.ZodType<AccountInfoRecord>;
