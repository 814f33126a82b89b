import { z } from '@hono/zod-openapi';
import { type AccountField, formFault } from '../../../core/account-fields.ts';
import { type AccountType, accountTypes } from '../../../core/account-types.ts';
import { longest } from '../../../core/texts.ts';
import type { ExternalAccountType } from '../../../infra/database/generated/client/client.ts';
import type { AccountInfoRecord } from '../../records/account-record.ts';
import {
  AddressSchema,
  checked,
  companyFields,
  ownKey,
  personFields,
  requestObject,
  text,
  variants,
} from './fields.ts';

// Builds the external account schemas from the domain's table of account types.

const BeneficiarySchema = variants('Beneficiary', 'beneficiaryType', [
  requestObject('IndividualBeneficiary', {
    beneficiaryType: z.literal('INDIVIDUAL').describe('The owner type: a person.'),
    fullName: text(longest.name).describe('Full name.'),
    ...personFields,
  }),
  requestObject('BusinessBeneficiary', {
    beneficiaryType: z.literal('BUSINESS').describe('The owner type: a company.'),
    ...companyFields,
    address: AddressSchema.optional(),
  }),
]).describe('The owner of a bank account.');

/** An account's details in a request: its type, the fields of that type and, for a bank account, its owner. */
interface AccountInfoInput {
  readonly accountType: ExternalAccountType;
  readonly beneficiary?: z.infer<typeof BeneficiarySchema>;
  readonly platformAccountId?: string;
  readonly [detail: string]: unknown;
}

/** Creates the schema for an account detail. The domain's rule validates its values and explains refusals. */
function detail(field: AccountField): z.ZodType {
  const { pattern, maxLength } = field;
  const written = checked((value) => formFault(field, value, {})).openapi({ pattern: pattern.source, maxLength });
  const schema = field.values ? z.enum(Object.keys(field.values)) : written;
  const documented = schema.describe(field.description);
  return field.optional ? documented.optional() : documented;
}

/** Creates one schema for all account types, each with the fields in `more`. The compiler cannot infer the type. */
function accountInfo(suffix: 'Input' | '', more: z.ZodRawShape): unknown {
  const types = Object.entries<AccountType>(accountTypes).map(([accountType, type]) =>
    requestObject(`${type.graphql.type}${suffix}`, {
      accountType: z.literal(accountType).describe(type.description),
      ...Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, detail(field)])),
      ...(type.beneficiary && { beneficiary: BeneficiarySchema }),
      ...more,
    }).describe(type.description),
  );
  // zod's type for unions requires at least one member. The table has several.
  return variants(`ExternalAccountInfo${suffix}`, 'accountType', types as [(typeof types)[0]]).describe(
    'The details of an account, which depend on its type.',
  );
}

export const AccountInfoInputSchema = accountInfo('Input', {
  // Requests may contain this field here or next to accountInfo.
  platformAccountId: ownKey().optional().describe("The platform's own id for the account."),
}) as z.ZodType<AccountInfoInput>;

export const AccountInfoSchema = accountInfo('', {}) as z.ZodType<AccountInfoRecord>;
