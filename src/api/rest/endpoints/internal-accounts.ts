import { z } from '@hono/zod-openapi';
import { maxAmount } from '../../../core/checks.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { type AccountFilter, whereAccounts } from '../../../domain/commands/filters.ts';
import type { Database } from '../../../infra/database/database.ts';
import { readRows } from '../../../infra/database/read-rows.ts';
import type { Account } from '../../../infra/database/rows.ts';
import { internalAccountRecord } from '../../records/account-record.ts';
import type { RestApp } from '../app.ts';
import { viewEndpoint } from '../endpoint.ts';
import { pagedEndpoint, pageHandler, rowList, wholeEndpoint } from '../lists.ts';
import { AmountSchema, id, listed, time } from '../schemas/fields.ts';
import { PaymentInstructionSchema } from '../schemas/payment-schemas.ts';

const tags = ['Internal accounts'];
const currency = z.string().optional().openapi({ description: 'The code of the currency.', example: 'USD' });

export const InternalAccountSchema = z
  .object({
    id: id('InternalAccount', 'The id of the account.'),
    customerId: id('Customer', 'The customer who owns the account; absent if the platform itself does.').optional(),
    balance: AmountSchema.describe('The amount that can be spent.'),
    fundingPaymentInstructions: listed(PaymentInstructionSchema).describe(
      'How to pay money into the account from outside, by any one of these ways.',
    ),
    frozenAt: time('When the operator of the service froze the account; absent if it is not frozen.').optional(),
    createdAt: time('When the account was created.'),
    updatedAt: time('When the account last changed.'),
  })
  .openapi('InternalAccount', {
    description: `A balance in one currency, held by this service. Deposits and payments can raise it to at most ${maxAmount} smallest units; only refunds and the platform's fees can exceed that.`,
  });

const ofCustomers = pagedEndpoint({
  access: viewEndpoint({
    operationId: 'listCustomerInternalAccounts',
    tags,
    summary: "List customers' internal accounts",
    description: 'The balances of all customers, or of one, in pages.',
  }),
  path: '/customers/internal-accounts',
  filters: { currency, customerId: id('Customer', 'Only accounts of this customer.').optional() },
  item: InternalAccountSchema,
  name: 'InternalAccountPage',
});

const ofPlatform = wholeEndpoint({
  access: viewEndpoint({
    operationId: 'listPlatformInternalAccounts',
    tags,
    summary: "List the platform's internal accounts",
    description: "The platform's own balances, one in each of its currencies.",
  }),
  path: '/platform/internal-accounts',
  filters: { currency },
  item: InternalAccountSchema,
  name: 'InternalAccountList',
});

/** Adds the endpoints of internal accounts (specification 4.13, decision 54). */
export function internalAccountEndpoints(app: RestApp, payments: Payments): void {
  const lists = accountLists(payments.database, 'INTERNAL', internalAccountRecord);

  app.openapi(ofCustomers, pageHandler(lists.ofCustomers));

  app.openapi(ofPlatform, async (context) =>
    context.json(await lists.ofPlatform(context.get('viewer'), context.req.valid('query')), 200),
  );
}

/** Creates the two lists of a kind of account: the customers' in pages, and the platform's own in full. */
export function accountLists<Item>(database: Database, kind: Account['kind'], record: (row: Account) => Item) {
  return {
    ofCustomers: rowList(database, 'Account', {
      where: (viewer: Viewer, filter: AccountFilter) =>
        whereAccounts(viewer, { ...filter, kind, platformOwned: false }),
      record,
    }),
    async ofPlatform(viewer: Viewer, filter: AccountFilter): Promise<{ data: Item[] }> {
      const where = whereAccounts(viewer, { ...filter, kind, platformOwned: true });
      return { data: (await readRows(database, 'Account', { where, orderBy: [{ id: 'desc' }] })).map(record) };
    },
  };
}
