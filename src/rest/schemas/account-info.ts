import { z } from '@hono/zod-openapi';
import type { ExternalAccountType } from '../../database/generated/client/client.ts';
import type { AccountField } from '../../payments/accounts/account-fields.ts';
import { type AccountType, accountTypes } from '../../payments/accounts/account-types.ts';
import type { AccountInfoRecord } from '../../records/account-record.ts';
import { day } from './money.ts';
import { AddressSchema, countryCode } from './people.ts';

/** The schemas of the kinds of accounts outside, made from the domain's table of them. */

const IndividualBeneficiary = z
  .strictObject({
    beneficiaryType: z.literal('INDIVIDUAL').openapi({ description: 'A person.' }),
    fullName: z.string().min(1).openapi({ description: 'Full name.' }),
    birthDate: day('Day of birth.').optional(),
    nationality: countryCode('ISO 3166-1 alpha-2.').optional(),
    address: AddressSchema.optional(),
  })
  .openapi('IndividualBeneficiary');

const BusinessBeneficiary = z
  .strictObject({
    beneficiaryType: z.literal('BUSINESS').openapi({ description: 'A company.' }),
    legalName: z.string().min(1).openapi({ description: 'Legal name.' }),
    registrationNumber: z.string().optional().openapi({ description: 'Number in the company register.' }),
    taxId: z.string().optional().openapi({ description: 'Tax number.' }),
    address: AddressSchema.optional(),
  })
  .openapi('BusinessBeneficiary');

const BeneficiarySchema = z
  .discriminatedUnion('beneficiaryType', [IndividualBeneficiary, BusinessBeneficiary])
  .openapi('Beneficiary', { description: 'Who owns a bank account.' });

/** Who owns a bank account, in a request. */
export type BeneficiaryInput = z.infer<typeof BeneficiarySchema>;

/** The details of an account in a request: its kind, the details of that kind, and for a bank account its owner. */
export interface AccountInfoInput {
  readonly accountType: ExternalAccountType;
  readonly beneficiary?: BeneficiaryInput;
  readonly platformAccountId?: string;
  readonly [detail: string]: unknown;
}

const table = Object.entries(accountTypes) as [ExternalAccountType, AccountType][];

function detail(rule: AccountField): z.ZodType {
  const schema = rule.values ? z.enum(rule.values) : formed(rule.pattern ?? /^.+$/s, `must be ${rule.form ?? 'given'}`);
  const described = schema.openapi({ description: rule.description });
  return rule.optional ? described.optional() : described;
}

/** A document's patterns have no flags, so a pattern with flags is checked but told in words only. */
function formed(pattern: RegExp, message: string): z.ZodString {
  return pattern.flags === ''
    ? z.string().regex(pattern, message)
    : z.string().refine((text) => pattern.test(text), message);
}

type Kinds = [z.ZodObject<{ accountType: z.ZodLiteral<string> }>];

/** One schema per kind. In a request the platform's own id of the account may stand here too (decision 25). */
function kinds(suffix: 'Input' | '', more: (type: AccountType) => Record<string, z.ZodType>): Kinds {
  const members = table.map(([accountType, type]) =>
    z
      .strictObject({
        accountType: z.literal(accountType).openapi({ description: type.description }),
        ...Object.fromEntries(Object.entries(type.fields).map(([name, rule]) => [name, detail(rule)])),
        ...more(type),
      })
      .openapi(`${type.graphql.type}${suffix}`, { description: type.description }),
  );
  // A union wants to know of at least one; the table has them.
  return members as unknown as Kinds;
}

// The compiler cannot follow schemas that are made from a table: the types of the two below are stated with them.

/** The details of an account in a request. */
export const AccountInfoInputSchema = z
  .discriminatedUnion(
    'accountType',
    kinds('Input', (type) => ({
      ...(type.beneficiary && { beneficiary: BeneficiarySchema }),
      platformAccountId: z.string().optional().openapi({ description: "The platform's own id of the account." }),
    })),
  )
  .openapi('ExternalAccountInfoInput', {
    description: 'The details of an account, by its kind.',
  }) as unknown as z.ZodType<AccountInfoInput>;

/** The details of an account in an answer. */
export const AccountInfoSchema = z
  .discriminatedUnion(
    'accountType',
    kinds('', (type) => ({ ...(type.beneficiary && { beneficiary: BeneficiarySchema }) })),
  )
  .openapi('ExternalAccountInfo', {
    description: 'The details of an account, by its kind.',
  }) as unknown as z.ZodType<AccountInfoRecord>;
