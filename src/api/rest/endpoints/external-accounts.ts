import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { AccountDetails } from '../../../core/account-fields.ts';
import { dotted, Refusal, translatePath } from '../../../core/refusal.ts';
import { accountWarnings } from '../../../domain/accounts/account-details.ts';
import { deleteExternalAccount, updateExternalAccount } from '../../../domain/accounts/external-account-changes.ts';
import { createExternalAccount } from '../../../domain/accounts/external-accounts.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
  ExternalAccountType,
} from '../../../infra/database/generated/client/client.ts';
import { externalAccountRecord } from '../../records/account-record.ts';
import type { RestApp } from '../app.ts';
import { body, command, commandEndpoint, commandErrors, commandResponse, noQuery, viewEndpoint } from '../endpoint.ts';
import type { RestEnvironment } from '../environment.ts';
import { externalAccountPaths, samePaths } from '../input-paths.ts';
import { anyOf, pagedEndpoint, pageHandler, wholeEndpoint } from '../lists.ts';
import { AccountInfoInputSchema, AccountInfoSchema } from '../schemas/account-info.ts';
import { changedMetadata, id, metadata, newMetadata, ownKey, time } from '../schemas/fields.ts';
import { accountLists } from './internal-accounts.ts';

const tags = ['External accounts'];

const filters = {
  currency: z.string().optional().openapi({ description: 'The code of the currency.', example: 'EUR' }),
  status: anyOf(ExternalAccountStatus, 'Only accounts with any of these values.'),
  accountType: anyOf(ExternalAccountType, 'Only accounts with any of these values.'),
  beneficiaryVerificationStatus: anyOf(BeneficiaryVerificationStatus, 'Only accounts with any of these values.'),
};

const ExternalAccountSchema = z
  .object({
    id: id('ExternalAccount', 'The id of the account.'),
    status: z.enum(ExternalAccountStatus).describe('Its status. Only an ACTIVE account can make or receive payments.'),
    statusReason: z
      .string()
      .optional()
      .describe(
        'Why the account has its status and verification result, including the compared names if they differ; absent if there is nothing to explain.',
      ),
    currency: z.string().openapi({ description: 'The code of the currency.', example: 'EUR' }),
    accountInfo: AccountInfoSchema,
    customerId: id('Customer', 'The customer who owns the account; null if the platform itself does.').nullable(),
    platformAccountId: z.string().optional().describe("The platform's own id of the account."),
    defaultUmaDepositAccount: z
      .boolean()
      .describe(
        'Whether incoming UMA payments of the customer go to this account. At most one account of a customer has this.',
      ),
    beneficiaryVerificationStatus: z
      .enum(BeneficiaryVerificationStatus)
      .optional()
      .describe('Whether the owner of the account is the beneficiary that the platform named.'),
    beneficiaryVerifiedData: z
      .object({ fullName: z.string().describe('The name of the owner as the bank has it.') })
      .optional()
      .describe('What the payment rail reported about the owner.'),
    frozenAt: time('When the operator of the service froze the account; absent if it is not frozen.').optional(),
    metadata,
  })
  .openapi('ExternalAccount', { description: 'A bank account or wallet outside this service.' });

const accountFields = {
  currency: z.string().openapi({ description: 'The ISO 4217 or asset code of the currency.', example: 'EUR' }),
  accountInfo: AccountInfoInputSchema,
  platformAccountId: ownKey().optional().describe("The platform's own id of the account."),
  metadata: newMetadata,
};

const warnings = z
  .array(
    z.object({
      field: z.string().describe('The path of the field in the request.'),
      message: z.string().describe('What is wrong with the field.'),
    }),
  )
  .optional()
  .describe(
    'What to know before paying to the account: how SEPA or ACH transmits the name of its owner, and in the sandbox what production would refuse, such as wrong check digits.',
  );

const PlatformAccountBody = z.strictObject(accountFields).openapi('CreatePlatformExternalAccount');

const CustomerAccountBody = z
  .strictObject({
    ...accountFields,
    customerId: id('Customer', 'The customer who owns the account; by default, the platform itself does.').optional(),
    defaultUmaDepositAccount: z
      .boolean()
      .optional()
      .describe(
        'Whether incoming UMA payments of the customer go to this account; false by default. It replaces an earlier default.',
      ),
  })
  .openapi('CreateExternalAccount');

const created = {
  201: commandResponse(
    z.object({ ...ExternalAccountSchema.shape, warnings }).openapi('CreatedExternalAccount'),
    'The new account; in the sandbox it is ACTIVE immediately.',
  ),
};

const createForCustomer = createRoute({
  ...commandEndpoint('createExternalAccount', {
    tags,
    summary: 'Register an external account of a customer or the platform',
    description:
      'Once the account is ACTIVE, money can be sent to it and, if it is a bank account, pulled from it. An account that the owner has already registered in this currency is refused with CONFLICT, which names it.',
  }),
  method: 'post',
  path: '/customers/external-accounts',
  request: { query: noQuery, body: body(CustomerAccountBody) },
  responses: { ...created, ...commandErrors(404) },
});

const createForPlatform = createRoute({
  ...commandEndpoint('createExternalAccount', {
    operationId: 'createPlatformExternalAccount',
    tags,
    summary: "Register an external account of the platform's own",
    description: 'Like an account of a customer, for money of the platform itself.',
  }),
  method: 'post',
  path: '/platform/external-accounts',
  request: { query: noQuery, body: body(PlatformAccountBody) },
  responses: { ...created, ...commandErrors() },
});

const listOfCustomers = pagedEndpoint({
  access: viewEndpoint({
    operationId: 'listCustomerExternalAccounts',
    tags,
    summary: "List customers' external accounts",
    description: 'The bank accounts and wallets of customers, in pages, without deleted ones.',
  }),
  path: '/customers/external-accounts',
  filters: { ...filters, customerId: id('Customer', 'Only accounts of this customer.').optional() },
  item: ExternalAccountSchema,
  name: 'ExternalAccountPage',
});

const listOfPlatform = wholeEndpoint({
  access: viewEndpoint({
    operationId: 'listPlatformExternalAccounts',
    tags,
    summary: "List the platform's external accounts",
    description: "The platform's own bank accounts and wallets, without deleted ones.",
  }),
  path: '/platform/external-accounts',
  filters,
  item: ExternalAccountSchema,
  name: 'ExternalAccountList',
});

const accountPath = z.object({ accountId: id('ExternalAccount', 'The id of the account.') });

const update = createRoute({
  ...commandEndpoint('updateExternalAccount', {
    tags,
    summary: 'Change an external account of a customer or the platform',
    description:
      'Fields that are left out stay unchanged. The details that identify the account at its bank cannot change.',
  }),
  method: 'patch',
  path: '/customers/external-accounts/{accountId}',
  request: {
    params: accountPath,
    query: noQuery,
    body: body(
      z
        .strictObject({
          platformAccountId: ownKey()
            .nullable()
            .optional()
            .describe("The platform's own id of the account; null removes it."),
          defaultUmaDepositAccount: z
            .boolean()
            .nullish()
            .describe('Whether incoming UMA payments of the customer go to this account. Replaces an earlier default.'),
          metadata: changedMetadata,
        })
        .openapi('UpdateExternalAccount'),
    ),
  },
  responses: { 200: commandResponse(ExternalAccountSchema, 'The account as it is now.'), ...commandErrors(404, 412) },
});

const remove = createRoute({
  ...commandEndpoint('deleteExternalAccount', {
    tags,
    summary: 'Delete an external account of a customer or the platform',
    description:
      'The account becomes INACTIVE for good and disappears from lists. Existing payments still show it and continue; new ones cannot use it. The same account can be registered again.',
  }),
  method: 'delete',
  path: '/customers/external-accounts/{accountId}',
  request: { params: accountPath, query: noQuery },
  responses: { 200: commandResponse(ExternalAccountSchema, 'The account, deleted.'), ...commandErrors(404, 412) },
});

/** Adds the endpoints of external accounts (specification 4.8 to 4.10, decisions 54 and 68). */
export function externalAccountEndpoints(app: RestApp, payments: Payments): void {
  const lists = accountLists(payments.database, 'EXTERNAL', externalAccountRecord);

  const create = async (context: Context<RestEnvironment>, input: z.infer<typeof CustomerAccountBody>) => {
    const { accountInfo, platformAccountId, defaultUmaDepositAccount = false, ...rest } = input;
    const { accountType, beneficiary, platformAccountId: nestedId, ...details } = accountInfo;
    if (platformAccountId !== undefined && nestedId !== undefined && platformAccountId !== nestedId) {
      throw new Refusal('INVALID_INPUT', 'this value is given twice, with different contents', {
        path: ['platformAccountId'],
      });
    }
    const row = await command(context, externalAccountPaths, (key, viewer) =>
      createExternalAccount(
        payments,
        viewer,
        // The schema of the type allows only text.
        {
          ...rest,
          defaultUmaDepositAccount,
          accountType,
          details: details as AccountDetails,
          beneficiary,
          platformAccountId: platformAccountId ?? nestedId,
        },
        key,
      ),
    );
    const found = accountWarnings(
      { accountType, details: details as AccountDetails, beneficiary },
      context.get('viewer').environment,
      row.createdAt,
    );
    return {
      ...externalAccountRecord(row),
      ...(found.length > 0 && {
        warnings: found.map(({ path, message }) => ({
          field: dotted(translatePath(path, externalAccountPaths)),
          message,
        })),
      }),
    };
  };

  app.openapi(createForCustomer, async (context) =>
    context.json(await create(context, context.req.valid('json')), 201),
  );

  app.openapi(createForPlatform, async (context) =>
    context.json(await create(context, { ...context.req.valid('json'), defaultUmaDepositAccount: false }), 201),
  );

  app.openapi(listOfCustomers, pageHandler(lists.ofCustomers));

  app.openapi(listOfPlatform, async (context) =>
    context.json(await lists.ofPlatform(context.get('viewer'), context.req.valid('query')), 200),
  );

  changeEndpoints(app, payments);
}

function changeEndpoints(app: RestApp, payments: Payments): void {
  app.openapi(update, async (context) => {
    const input = { ...context.req.valid('param'), ...context.req.valid('json') };
    const row = await command(context, samePaths, (key, viewer, expecting) =>
      updateExternalAccount(payments, viewer, { ...input, ...expecting }, key),
    );
    return context.json(externalAccountRecord(row), 200);
  });

  app.openapi(remove, async (context) => {
    const { accountId } = context.req.valid('param');
    const row = await command(context, samePaths, (key, viewer, expecting) =>
      deleteExternalAccount(payments, viewer, { accountId, ...expecting }, key),
    );
    return context.json(externalAccountRecord(row), 200);
  });
}
