import { z } from '@hono/zod-openapi';
import type { AccountDetails } from '../../../core/account-fields.ts';
import { maxAmount } from '../../../core/checks.ts';
import { accountNameIn, publicId } from '../../../core/ids.ts';
import { dotted, type FieldPath, invalid, type PathTable, Refusal, translatePath } from '../../../core/refusal.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { visibleAccounts } from '../../../domain/access/visible.ts';
import { accountWarnings } from '../../../domain/accounts/account-details.ts';
import {
  type CreateExternalAccount,
  createExternalAccount,
  deleteExternalAccount,
  updateExternalAccount,
} from '../../../domain/accounts/external-accounts.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { type AccountFilter, whereAccounts } from '../../../domain/commands/filters.ts';
import type { Database } from '../../../infra/database/database.ts';
import {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
  ExternalAccountType,
} from '../../../infra/database/generated/client/client.ts';
import { readRow, readRows } from '../../../infra/database/read-rows.ts';
import type { Account } from '../../../infra/database/rows.ts';
import { externalAccountRecord, internalAccountRecord } from '../../records/account-record.ts';
import type { Endpoints } from '../endpoint.ts';
import { addPagedList, addWholeList, anyOf, rowList } from '../lists.ts';
import { AccountInfoInputSchema, AccountInfoSchema } from '../schemas/account-info.ts';
import {
  AmountSchema,
  boolean,
  changedMetadata,
  id,
  listOf,
  metadata,
  newMetadata,
  oneOf,
  ownKey,
  requestObject,
  responseObject,
  string,
  time,
} from '../schemas/fields.ts';
import { PaymentInstructionSchema } from '../schemas/payment-schemas.ts';

const currency = string('The currency code.').optional();

export const InternalAccountSchema = responseObject('InternalAccount', {
  id: id('InternalAccount', 'The id of the account.'),
  customerId: id('Customer', 'The customer who owns the account; absent if the platform itself owns it.').optional(),
  balance: AmountSchema.describe('The amount that can be spent.'),
  fundingPaymentInstructions: listOf(PaymentInstructionSchema).describe(
    'The ways to pay money into the account. Use any one of them.',
  ),
  frozenAt: time("When the service's operator froze the account; absent if it is not frozen.").optional(),
  createdAt: time('When the account was created.'),
  updatedAt: time('When the account last changed.'),
}).describe(
  `A balance in one currency, held by this service. Deposits and payments can raise it to at most ${maxAmount} of the currency's smallest units; only refunds and the platform's fees can raise it further.`,
);

/** Adds the internal account endpoints. */
export function internalAccountEndpoints(endpoints: Endpoints, { database }: Payments): void {
  addAccountLists(endpoints, database, 'INTERNAL', {
    ofCustomers: 'The balances of all customers or of a single customer, paginated.',
    ofPlatform: "The platform's own balances, one in each of its currencies.",
    filters: { currency },
    item: InternalAccountSchema,
    record: internalAccountRecord,
  });
}

interface AccountLists<Item> {
  /** The descriptions of the two lists. */
  readonly ofCustomers: string;
  readonly ofPlatform: string;
  /** Parameters of AccountFilter. */
  readonly filters: z.ZodRawShape;
  readonly item: z.ZodType<Item>;
  readonly record: (row: Account) => Item;
}

/** Adds the endpoints that list one kind of account: the customers' (paginated) and all of the platform's own. */
function addAccountLists<Item>(
  endpoints: Endpoints,
  database: Database,
  kind: Account['kind'],
  { ofCustomers, ofPlatform, filters, item, record }: AccountLists<Item>,
): void {
  const name = { INTERNAL: 'Internal', EXTERNAL: 'External' }[kind];
  const word = name.toLowerCase();
  addPagedList(endpoints, `listCustomer${name}Accounts`, {
    summary: `List customers' ${word} accounts`,
    description: ofCustomers,
    at: `/customers/${word}-accounts`,
    filters: { ...filters, customerId: string('Only accounts of this customer.').optional() },
    item,
    name: `${name}AccountPage`,
    list: rowList(database, 'Account', {
      where: (viewer, filter: AccountFilter) => whereAccounts(viewer, { ...filter, kind, platformOwned: false }),
      record,
    }),
  });
  addWholeList(endpoints, `listPlatform${name}Accounts`, {
    summary: `List the platform's ${word} accounts`,
    description: ofPlatform,
    at: `/platform/${word}-accounts`,
    filters,
    item,
    name: `${name}AccountList`,
    read: async (viewer, filter: AccountFilter) => {
      const where = whereAccounts(viewer, { ...filter, kind, platformOwned: true });
      return (await readRows(database, 'Account', { where, orderBy: [{ id: 'desc' }] })).map(record);
    },
  });
}

const filters = {
  currency,
  status: anyOf(ExternalAccountStatus, 'Only accounts with any of these statuses.'),
  accountType: anyOf(ExternalAccountType, 'Only accounts of any of these types.'),
  beneficiaryVerificationStatus: anyOf(
    BeneficiaryVerificationStatus,
    'Only accounts whose verification has any of these statuses.',
  ),
};

const ExternalAccountSchema = responseObject('ExternalAccount', {
  id: id('ExternalAccount', 'The id of the account.'),
  status: oneOf(ExternalAccountStatus, "The account's status. Only an ACTIVE account can make or receive payments."),
  statusReason: string(
    'A human-readable explanation of the status and the verification result, including the compared names if they differ; absent if there is nothing to explain.',
  ).optional(),
  currency: string('The currency code.', 'EUR'),
  accountInfo: AccountInfoSchema,
  customerId: id('Customer', 'The customer who owns the account; null if the platform itself owns it.').nullable(),
  platformAccountId: string("The platform's own id for the account.").optional(),
  defaultUmaDepositAccount: boolean(
    'Whether incoming UMA payments to the customer go to this account. True for at most one account per customer.',
  ),
  beneficiaryVerificationStatus: oneOf(
    BeneficiaryVerificationStatus,
    "Whether the account's owner is the beneficiary named by the platform.",
  ).optional(),
  beneficiaryVerifiedData: z
    .object({ fullName: string("The owner's name in the bank's records.") })
    .optional()
    .describe("The owner's details, as reported by the payment rail."),
  frozenAt: time("When the service's operator froze the account; absent if it is not frozen.").optional(),
  metadata,
}).describe('A bank account or wallet held elsewhere.');

const accountFields = {
  currency: string("The currency's ISO 4217 or asset code.", 'EUR'),
  accountInfo: AccountInfoInputSchema,
  platformAccountId: ownKey().optional().describe("The platform's own id for the account."),
  metadata: newMetadata,
};

const warnings = z
  .array(
    z.object({
      field: string('The path of the field in the request.'),
      message: string('The problem with the field.'),
    }),
  )
  .optional()
  .describe(
    "Warnings that do not prevent the registration: how SEPA or ACH will show the owner's name and, in the sandbox, details that production would refuse, such as wrong check digits.",
  );

const CustomerAccountBody = requestObject('CreateExternalAccount', {
  ...accountFields,
  customerId: id('Customer', 'The customer who owns the account; if omitted, the platform itself owns it.').optional(),
  defaultUmaDepositAccount: boolean(
    'Whether incoming UMA payments to the customer go to this account, instead of an earlier default; false if omitted.',
  ).optional(),
});

type NewAccount = z.infer<typeof CustomerAccountBody>;

const externalAccountPaths: PathTable<CreateExternalAccount> = [
  [['details'], ['accountInfo']],
  [['accountType'], ['accountInfo', 'accountType']],
  [['beneficiary'], ['accountInfo', 'beneficiary']],
];

const params = z.object({ accountId: id('ExternalAccount', 'The id of the account.') });

/** Adds the external account endpoints. */
export function externalAccountEndpoints(endpoints: Endpoints, payments: Payments): void {
  const created = {
    answer: [
      201,
      responseObject('CreatedExternalAccount', { ...ExternalAccountSchema.shape, warnings }),
      'The new account; in the sandbox it is ACTIVE immediately.',
    ],
    paths: externalAccountPaths,
    record: createdRecord,
  } as const;

  endpoints.command('createExternalAccount', {
    summary: 'Register an external account for a customer or the platform',
    description:
      'Once the account is ACTIVE, money can be sent to it and, if it is a bank account, pulled from it. An account that the owner has already registered in this currency is refused with CONFLICT, and the error names the existing account.',
    at: 'post /customers/external-accounts',
    body: CustomerAccountBody,
    run: (input, { viewer, key }) => createAccount(payments, viewer, input, key),
    ...created,
  });

  endpoints.command('createExternalAccount', {
    operationId: 'createPlatformExternalAccount',
    summary: 'Register an external account for the platform',
    description: "Like a customer's external account, but for the platform's own money.",
    at: 'post /platform/external-accounts',
    body: requestObject('CreatePlatformExternalAccount', accountFields),
    errors: [],
    run: (input, { viewer, key }) => createAccount(payments, viewer, input, key),
    ...created,
  });

  addAccountLists(endpoints, payments.database, 'EXTERNAL', {
    ofCustomers: "Customers' bank accounts and wallets, paginated, excluding deleted ones.",
    ofPlatform: "The platform's own bank accounts and wallets, excluding deleted ones.",
    filters,
    item: ExternalAccountSchema,
    record: externalAccountRecord,
  });
  changeEndpoints(endpoints, payments);
}

function changeEndpoints(endpoints: Endpoints, payments: Payments): void {
  endpoints.command('updateExternalAccount', {
    summary: 'Change an external account of a customer or the platform',
    description: 'Omitted fields stay unchanged. The details that identify the account at its bank cannot change.',
    at: 'patch /customers/external-accounts/{accountId}',
    params,
    body: requestObject('UpdateExternalAccount', {
      platformAccountId: ownKey().nullish().describe("The platform's own id for the account; null removes it."),
      defaultUmaDepositAccount: boolean(
        'Whether incoming UMA payments to the customer go to this account. If true, the account replaces any earlier default.',
      ).nullish(),
      metadata: changedMetadata,
    }),
    answer: [200, ExternalAccountSchema, 'The changed account.'],
    run: (input, { viewer, key }) => updateExternalAccount(payments, viewer, input, key),
    record: externalAccountRecord,
  });

  endpoints.command('deleteExternalAccount', {
    summary: 'Delete an external account of a customer or the platform',
    description:
      'The account becomes permanently INACTIVE and no longer appears in lists. Existing payments still refer to it and continue, but new payments cannot use it. The same account can be registered again.',
    at: 'delete /customers/external-accounts/{accountId}',
    params,
    answer: [200, ExternalAccountSchema, 'The deleted account.'],
    run: (input, { viewer, key }) => deleteExternalAccount(payments, viewer, input, key),
    record: externalAccountRecord,
  });
}

/** Registers an account, and adds the warnings about it to the row. */
async function createAccount(payments: Payments, viewer: Viewer, given: NewAccount, key: string | undefined) {
  const { accountInfo, platformAccountId, defaultUmaDepositAccount = false, ...rest } = given;
  const { accountType, beneficiary, platformAccountId: nestedId, ...info } = accountInfo;
  if (platformAccountId !== undefined && nestedId !== undefined && platformAccountId !== nestedId) {
    throw invalid('this field is given twice, with different values', ['platformAccountId']);
  }
  // The type's schema allows only strings.
  const account = { accountType, details: info as AccountDetails, beneficiary };
  const input = { ...rest, defaultUmaDepositAccount, ...account, platformAccountId: platformAccountId ?? nestedId };
  const { row, replayed } = await createExternalAccount(payments, viewer, input, key);
  return { row: { ...row, warnings: accountWarnings(account, viewer.environment, row.createdAt) }, replayed };
}

function createdRecord({ warnings: found, ...row }: Awaited<ReturnType<typeof createAccount>>['row']) {
  const warnings = found.map(({ path, message }) => ({
    field: dotted(translatePath(path, externalAccountPaths)),
    message,
  }));
  return { ...externalAccountRecord(row), ...(warnings.length > 0 && { warnings }) };
}

/**
 * Checks the currency and owner that a request gives along with an account's id. Clients may copy both from a
 * response. Ignores an unknown account, because the command will refuse it.
 * @throws Refusal INVALID_CURRENCY, INVALID_INPUT
 */
export async function checkNamedAccount(
  database: Database,
  viewer: Viewer,
  path: { readonly currency: FieldPath; readonly customerId?: FieldPath },
  named: { readonly accountId: string; readonly currency?: string; readonly customerId?: string },
): Promise<void> {
  if (named.currency === undefined && named.customerId === undefined) return;
  const name = accountNameIn(named.accountId);
  const account = name ? await readRow(database, 'Account', { AND: [visibleAccounts(viewer), { ...name }] }) : null;
  if (!account) return;
  if (named.currency !== undefined && named.currency !== account.currency) {
    throw new Refusal('INVALID_CURRENCY', `the account is in ${account.currency}`, {
      path: path.currency,
      value: named.currency,
    });
  }
  const owner = account.customerId === null ? undefined : publicId('Customer', account.customerId);
  if (named.customerId !== undefined && named.customerId !== owner) {
    throw invalid('the account belongs to another customer or to the platform', {
      path: path.customerId,
      value: named.customerId,
    });
  }
}
