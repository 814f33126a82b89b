import { z } from '@hono/zod-openapi';
import { maxAmount } from '../../../core/checks.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { type AccountFilter, whereAccounts } from '../../../domain/commands/filters.ts';
import type { Database } from '../../../infra/database/database.ts';
import { readRows } from '../../../infra/database/read-rows.ts';
import type { Account } from '../../../infra/database/rows.ts';
import { internalAccountRecord } from '../../records/account-record.ts';
import type { RestApp } from '../app.ts';
import { Endpoints } from '../endpoint.ts';
import { addPagedList, addWholeList, rowList } from '../lists.ts';
import { AmountSchema, id, listed, time } from '../schemas/fields.ts';
import { PaymentInstructionSchema } from '../schemas/payment-schemas.ts';

const currency = z.string().optional().openapi({ description: 'The code of the currency.', example: 'USD' });

export const InternalAccountSchema = z
  .object({
    id: id('InternalAccount', 'The id of the account.'),
    customerId: id('Customer', 'The customer who owns the account; absent if the platform itself does.').optional(),
    balance: AmountSchema.describe('The amount that can be spent.'),
    fundingPaymentInstructions: listed(PaymentInstructionSchema).describe(
      'The ways to pay money into the account from outside. Use any one of them.',
    ),
    frozenAt: time('When the operator of the service froze the account; absent if it is not frozen.').optional(),
    createdAt: time('When the account was created.'),
    updatedAt: time('When the account last changed.'),
  })
  .openapi('InternalAccount', {
    description: `A balance in one currency, held by this service. Deposits and payments can raise it to at most ${maxAmount} smallest units; only refunds and the platform's fees can exceed that.`,
  });

/** Adds the endpoints of internal accounts (specification 4.13, decision 54). */
export function internalAccountEndpoints(app: RestApp, { database }: Payments): void {
  const endpoints = new Endpoints(app, 'Internal accounts');
  const shown = { item: InternalAccountSchema, record: internalAccountRecord };
  addAccountsOfCustomers(endpoints, database, 'INTERNAL', {
    description: 'The balances of all customers, or of one, in pages.',
    filters: { currency },
    ...shown,
  });
  addAccountsOfPlatform(endpoints, database, 'INTERNAL', {
    description: "The platform's own balances, one in each of its currencies.",
    filters: { currency },
    ...shown,
  });
}

interface AccountList<Item> {
  readonly description: string;
  /** Parameters of AccountFilter. */
  readonly filters: z.ZodRawShape;
  readonly item: z.ZodType<Item>;
  readonly record: (row: Account) => Item;
}

const names = { INTERNAL: 'Internal', EXTERNAL: 'External' } as const;

/** Adds the list of the customers' accounts of a kind, in pages. */
export function addAccountsOfCustomers<Item>(
  endpoints: Endpoints,
  database: Database,
  kind: Account['kind'],
  { description, filters, item, record }: AccountList<Item>,
): void {
  const name = names[kind];
  addPagedList(endpoints, `listCustomer${name}Accounts`, {
    summary: `List customers' ${name.toLowerCase()} accounts`,
    description,
    at: `/customers/${name.toLowerCase()}-accounts`,
    filters: { ...filters, customerId: id('Customer', 'Only accounts of this customer.').optional() },
    item,
    name: `${name}AccountPage`,
    list: rowList(database, 'Account', {
      where: (viewer, filter: AccountFilter) => whereAccounts(viewer, { ...filter, kind, platformOwned: false }),
      record,
    }),
  });
}

/** Adds the list of the platform's own accounts of a kind, in full. */
export function addAccountsOfPlatform<Item>(
  endpoints: Endpoints,
  database: Database,
  kind: Account['kind'],
  { description, filters, item, record }: AccountList<Item>,
): void {
  const name = names[kind];
  addWholeList(endpoints, `listPlatform${name}Accounts`, {
    summary: `List the platform's ${name.toLowerCase()} accounts`,
    description,
    at: `/platform/${name.toLowerCase()}-accounts`,
    filters,
    item,
    name: `${name}AccountList`,
    read: async (viewer, filter: AccountFilter) => {
      const where = whereAccounts(viewer, { ...filter, kind, platformOwned: true });
      return (await readRows(database, 'Account', { where, orderBy: [{ id: 'desc' }] })).map(record);
    },
  });
}
