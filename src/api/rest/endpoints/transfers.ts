import { createRoute, z } from '@hono/zod-openapi';
import { longest } from '../../../core/texts.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { transferIn, transferInternal, transferOut } from '../../../domain/transfers/transfers.ts';
import type { Transaction } from '../../../infra/database/rows.ts';
import { readPaymentParties } from '../../records/payment-parties.ts';
import { transactionRecord } from '../../records/transaction-record.ts';
import type { RestApp } from '../app.ts';
import { body, command, commandEndpoint, commandErrors, commandResponse, noQuery } from '../endpoint.ts';
import { transferPaths } from '../input-paths.ts';
import { amountInput, id, newMetadata, text } from '../schemas/fields.ts';
import { TransactionSchema } from '../schemas/payment-schemas.ts';
import { checkNamedAccount } from './named-account.ts';

const tags = ['Transfers'];

/** Defines an account of a transfer. Its currency is optional: callers may send accounts as shown in responses. */
function account(type: string, description: string) {
  return {
    accountId: id(type, description),
    currency: z.string().optional().describe('The currency of the account; optional, and checked if given.'),
  };
}

function sourceAccount(type: string, description: string) {
  return z
    .strictObject({
      sourceType: z.literal('ACCOUNT').optional().describe('The type of the party: always ACCOUNT.'),
      ...account(type, description),
    })
    .openapi({ description });
}

function destinationAccount(type: string, description: string) {
  return z
    .strictObject({
      destinationType: z.literal('ACCOUNT').optional().describe('The type of the party: always ACCOUNT.'),
      ...account(type, description),
    })
    .openapi({ description });
}

const memo = text(longest.memo).optional().describe('A note for the payment, at most 500 characters.');

const TransferOutBody = z
  .strictObject({
    source: sourceAccount('InternalAccount', 'The internal account that pays.'),
    destination: destinationAccount('ExternalAccount', 'The external account that receives.'),
    amount: amountInput('The amount, in the smallest unit of the currency.'),
    description: memo,
    metadata: newMetadata,
  })
  .openapi('TransferOut');

const TransferInBody = z
  .strictObject({
    source: sourceAccount('ExternalAccount', 'The external account to pull from.'),
    destination: destinationAccount('InternalAccount', 'The internal account that receives.'),
    amount: amountInput(
      'The amount, in the smallest unit of the currency. Without it the provider pulls what the account offers; the sandbox pulls 10000.',
    ).optional(),
    description: memo,
    metadata: newMetadata,
  })
  .openapi('TransferIn');

const TransferInternalBody = z
  .strictObject({
    source: sourceAccount('InternalAccount', 'The internal account that pays.'),
    destination: destinationAccount('InternalAccount', "Another owner's internal account, which receives."),
    amount: amountInput('The amount, in the smallest unit of the currency.'),
    description: memo,
    metadata: newMetadata,
  })
  .openapi('TransferInternal');

const out = createRoute({
  ...commandEndpoint('transferOut', {
    tags,
    summary: 'Transfer to an external account, in one currency',
    description:
      'Debits an internal account immediately. The payment is PENDING until the external account has the money, or until it has failed and the money is back.',
  }),
  method: 'post',
  path: '/transfer-out',
  request: { query: noQuery, body: body(TransferOutBody) },
  responses: { 201: commandResponse(TransactionSchema, 'The payment, PENDING.'), ...commandErrors(404) },
});

const into = createRoute({
  ...commandEndpoint('transferIn', {
    tags,
    summary: 'Transfer from an external account, in one currency',
    description: 'Pulls money from an external account. The internal account is credited when the money has arrived.',
  }),
  method: 'post',
  path: '/transfer-in',
  request: { query: noQuery, body: body(TransferInBody) },
  responses: { 201: commandResponse(TransactionSchema, 'The payment, PENDING.'), ...commandErrors(404) },
});

const between = createRoute({
  ...commandEndpoint('transferInternal', {
    tags,
    summary: 'Transfer between internal accounts, in one currency',
    description:
      "Between a customer and the platform, or between customers. The platform's own account can also receive money from a customer who may not move money or is deleted. The receiver has an INCOMING transaction of its own.",
  }),
  method: 'post',
  path: '/transfer-internal',
  request: { query: noQuery, body: body(TransferInternalBody) },
  responses: {
    201: commandResponse(TransactionSchema, "The payment on the source's side, COMPLETED."),
    ...commandErrors(404),
  },
});

/** Adds the endpoints of transfers (specification 4.6, 4.12; decision 63). */
export function transferEndpoints(app: RestApp, payments: Payments): void {
  const { database } = payments;
  const record = async (row: Transaction) => transactionRecord(row, await readPaymentParties(database.pool, row));

  /** Returns the accounts of a request and the data of its transfer. The accounts must match their descriptions. */
  const partiesOf = async (viewer: Viewer, { source, destination, ...rest }: TransferParties) => {
    await checkNamedAccount(database, viewer, { currency: ['source', 'currency'] }, source);
    await checkNamedAccount(database, viewer, { currency: ['destination', 'currency'] }, destination);
    return { sourceAccountId: source.accountId, destinationAccountId: destination.accountId, ...rest };
  };

  app.openapi(out, async (context) => {
    const viewer = context.get('viewer');
    const { amount, ...parties } = context.req.valid('json');
    const input = { ...(await partiesOf(viewer, parties)), amount: BigInt(amount) };
    const row = await command(context, transferPaths, (key) => transferOut(payments, viewer, input, key));
    return context.json(await record(row), 201);
  });

  app.openapi(into, async (context) => {
    const viewer = context.get('viewer');
    const { amount, ...parties } = context.req.valid('json');
    const input = { ...(await partiesOf(viewer, parties)), amount: amount === undefined ? undefined : BigInt(amount) };
    const row = await command(context, transferPaths, (key) => transferIn(payments, viewer, input, key));
    return context.json(await record(row), 201);
  });

  app.openapi(between, async (context) => {
    const viewer = context.get('viewer');
    const { amount, ...parties } = context.req.valid('json');
    const input = { ...(await partiesOf(viewer, parties)), amount: BigInt(amount) };
    const row = await command(context, transferPaths, (key) => transferInternal(payments, viewer, input, key));
    return context.json(await record(row), 201);
  });
}

/** The fields of every transfer request. */
type TransferParties = Omit<z.infer<typeof TransferInBody>, 'amount'>;
