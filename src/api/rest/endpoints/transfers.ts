import { z } from '@hono/zod-openapi';
import type { PathTable } from '../../../core/refusal.ts';
import { longest } from '../../../core/texts.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { type Transfer, transferIn, transferInternal, transferOut } from '../../../domain/transfers/transfers.ts';
import type { Transaction } from '../../../infra/database/rows.ts';
import { readPaymentParties, transactionRecord } from '../../records/payment-records.ts';
import type { RestApp } from '../context.ts';
import { Endpoints } from '../endpoint.ts';
import { amountInput, id, newMetadata, string, text } from '../schemas/fields.ts';
import { TransactionSchema } from '../schemas/payment-schemas.ts';
import { checkNamedAccount } from './accounts.ts';

const isAccount = z.literal('ACCOUNT').optional().describe('The party type: always ACCOUNT.');

/** Defines a party to a transfer. Its type and currency are optional. Callers may copy them from responses. */
function party<Type extends z.ZodRawShape>(type: Type, [idType, description]: Party) {
  return z
    .strictObject({
      ...type,
      accountId: id(idType, description),
      currency: string("The account's currency; optional, and checked if given.").optional(),
    })
    .openapi({ description });
}

type Party = readonly ['InternalAccount' | 'ExternalAccount', description: string];

const transferBody = <Amount extends z.ZodType>(name: string, source: Party, destination: Party, amount: Amount) =>
  z
    .strictObject({
      source: party({ sourceType: isAccount }, source),
      destination: party({ destinationType: isAccount }, destination),
      amount,
      description: text(longest.memo).optional().describe('A note for the payment, at most 500 characters.'),
      metadata: newMetadata,
    })
    .openapi(name);

const amount = amountInput("The amount, in the currency's smallest unit.");
const payer: Party = ['InternalAccount', 'The internal account that pays.'];
const receiver: Party = ['InternalAccount', 'The internal account that receives.'];
const otherOwner: Party = [
  'InternalAccount',
  'The internal account that receives the money, which must belong to another owner.',
];

const outside: Party = ['ExternalAccount', 'The external account that receives.'];
const TransferOutBody = transferBody('TransferOut', payer, outside, amount);

const TransferInBody = transferBody(
  'TransferIn',
  ['ExternalAccount', 'The external account to pull from.'],
  receiver,
  amountInput(
    "The amount, in the currency's smallest unit. If omitted, the provider determines the amount; the sandbox pulls 10000.",
  ).optional(),
);

const TransferInternalBody = transferBody('TransferInternal', payer, otherOwner, amount);

const paths: PathTable<Transfer> = [
  [['sourceAccountId'], ['source', 'accountId']],
  [['destinationAccountId'], ['destination', 'accountId']],
];

/** Adds the transfer endpoints (specification 4.6, 4.12; decision 63). */
export function transferEndpoints(app: RestApp, payments: Payments): void {
  const { database } = payments;
  const endpoints = new Endpoints(app, 'Transfers');
  const shared = {
    paths,
    record: async (row: Transaction) => transactionRecord(row, await readPaymentParties(database.pool, row)),
  } as const;

  /** Returns the input of a transfer, after checking the currencies that the request gives for its accounts. */
  const inputOf = async <Given extends Parties>(viewer: Viewer, { source, destination, ...rest }: Given) => {
    await checkNamedAccount(database, viewer, { currency: ['source', 'currency'] }, source);
    await checkNamedAccount(database, viewer, { currency: ['destination', 'currency'] }, destination);
    return { sourceAccountId: source.accountId, destinationAccountId: destination.accountId, ...rest };
  };

  endpoints.command('transferOut', {
    summary: 'Transfer to an external account, in one currency',
    description:
      'Debits an internal account immediately. The payment is PENDING until the money has arrived in the external account, or has been returned after a failure.',
    at: 'post /transfer-out',
    body: TransferOutBody,
    answer: [201, TransactionSchema, 'The payment, which is PENDING.'],
    run: async (given, { viewer, key }) => transferOut(payments, viewer, await inputOf(viewer, given), key),
    ...shared,
  });

  endpoints.command('transferIn', {
    summary: 'Transfer from an external account, in one currency',
    description: 'Pulls money from an external account. The internal account is credited when the money has arrived.',
    at: 'post /transfer-in',
    body: TransferInBody,
    answer: [201, TransactionSchema, 'The payment, which is PENDING.'],
    run: async (given, { viewer, key }) => transferIn(payments, viewer, await inputOf(viewer, given), key),
    ...shared,
  });

  endpoints.command('transferInternal', {
    summary: 'Transfer between internal accounts, in one currency',
    description:
      "Between a customer and the platform, or between customers. The platform's own account can receive money even from a customer who is not allowed to move money or was deleted. The receiver has an INCOMING transaction of its own.",
    at: 'post /transfer-internal',
    body: TransferInternalBody,
    answer: [201, TransactionSchema, "The source's OUTGOING payment, which is COMPLETED."],
    run: async (given, { viewer, key }) => transferInternal(payments, viewer, await inputOf(viewer, given), key),
    ...shared,
  });
}

type Parties = Pick<z.infer<typeof TransferInBody>, 'source' | 'destination'>;
