import { createRoute, z } from '@hono/zod-openapi';
import type { Payments } from '../../../domain/commands/command.ts';
import { fundAccount, maxFunding, sandboxSend } from '../../../domain/sandbox/sandbox.ts';
import { sandboxReceiveUma } from '../../../domain/sandbox/sandbox-receive.ts';
import { setKycStatus } from '../../../domain/sandbox/set-kyc-status.ts';
import { KycStatus } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import { internalAccountRecord } from '../../records/account-record.ts';
import { customerRecord } from '../../records/customer-record.ts';
import { instructionRecords } from '../../records/instruction-record.ts';
import { readPaymentParties } from '../../records/payment-parties.ts';
import { transactionRecord } from '../../records/transaction-record.ts';
import type { RestApp } from '../app.ts';
import { body, command, commandEndpoint, commandErrors, commandResponse, noQuery } from '../endpoint.ts';
import { samePaths } from '../input-paths.ts';
import { CustomerSchema } from '../schemas/customer-schemas.ts';
import { amountInput, id } from '../schemas/fields.ts';
import { TransactionSchema } from '../schemas/payment-schemas.ts';
import { InternalAccountSchema } from './internal-accounts.ts';

const tags = ['Sandbox'];

const send = createRoute({
  ...commandEndpoint('sandboxSend', {
    tags,
    summary: 'Simulate the deposit for a quote',
    description: 'Sandbox only. The deposit for a real-time funded quote arrives.',
  }),
  method: 'post',
  path: '/sandbox/send',
  request: {
    query: noQuery,
    body: body(
      z
        .strictObject({
          quoteId: id('Quote', 'The quote to fund.'),
          currencyCode: z.string().openapi({ description: 'The currency of the deposit.', example: 'USDC' }),
          currencyAmount: amountInput(
            'The amount, in the smallest unit of its currency; by default exactly the amount of the quote.',
          ).optional(),
        })
        .openapi('SandboxSend'),
    ),
  },
  responses: {
    200: commandResponse(TransactionSchema, 'The payment that the deposit funds.'),
    ...commandErrors(404, 410),
  },
});

const fund = createRoute({
  ...commandEndpoint('sandboxFundAccount', {
    tags,
    summary: 'Simulate a deposit to an internal account',
    description: 'Sandbox only. Money arrives in an internal account.',
  }),
  method: 'post',
  path: '/sandbox/internal-accounts/{accountId}/fund',
  request: {
    query: noQuery,
    params: z.object({ accountId: id('InternalAccount', 'The id of the account.') }),
    body: body(
      z
        .strictObject({ amount: amountInput('The amount, in the smallest unit of the currency.', maxFunding) })
        .openapi('FundAccount'),
    ),
  },
  responses: {
    200: commandResponse(InternalAccountSchema, 'The account with its new balance.'),
    ...commandErrors(404, 410),
  },
});

const receive = createRoute({
  ...commandEndpoint('sandboxReceiveUma', {
    tags,
    summary: 'Simulate an incoming payment from a UMA address',
    description: 'Sandbox only. The payment is PENDING until it is approved or rejected.',
  }),
  method: 'post',
  path: '/sandbox/uma/receive',
  request: {
    query: noQuery,
    body: body(
      z
        .strictObject({
          senderUmaAddress: z.string().describe('The UMA address of the sender, $name@domain.'),
          receivingCurrencyCode: z.string().openapi({ description: 'The currency that arrives.', example: 'USD' }),
          receivingCurrencyAmount: amountInput('The amount that arrives, in the smallest unit of the currency.'),
          receiverUmaAddress: z
            .string()
            .optional()
            .describe("The receiving customer's UMA address. Set this or customerId."),
          customerId: id('Customer', 'The receiving customer. Set this or receiverUmaAddress.').optional(),
        })
        .openapi('SandboxReceiveUma'),
    ),
  },
  responses: { 200: commandResponse(TransactionSchema, 'The payment, PENDING.'), ...commandErrors(404) },
});

const kyc = createRoute({
  ...commandEndpoint('sandboxSetKycStatus', {
    tags,
    summary: "Decide a customer's identity check",
    description: 'Sandbox only. Any status may follow any other; a new name of the customer decides the check again.',
  }),
  method: 'post',
  path: '/sandbox/customers/{customerId}/kyc-status',
  request: {
    query: noQuery,
    params: z.object({ customerId: id('Customer', 'The id of the customer.') }),
    body: body(
      z.strictObject({ kycStatus: z.enum(KycStatus).describe('The new KYC status.') }).openapi('SetKycStatus'),
    ),
  },
  responses: { 200: commandResponse(CustomerSchema, 'The customer as it is now.'), ...commandErrors(404, 410, 412) },
});

/** Adds the endpoints of the sandbox (specification 4.7, decision 53). */
export function sandboxEndpoints(app: RestApp, payments: Payments): void {
  const { database } = payments;

  app.openapi(send, async (context) => {
    const viewer = context.get('viewer');
    const { currencyAmount, ...input } = context.req.valid('json');
    const row = await command(context, samePaths, (key) =>
      sandboxSend(
        payments,
        viewer,
        { ...input, currencyAmount: currencyAmount === undefined ? undefined : BigInt(currencyAmount) },
        key,
      ),
    );
    const [parties, quote] = await Promise.all([
      readPaymentParties(database.pool, row),
      row.quoteId === null ? null : readRow(database, 'Quote', { platformId: row.platformId, id: row.quoteId }),
    ]);
    const paymentInstructions = instructionRecords(quote?.paymentInstructions ?? []);
    return context.json({ ...transactionRecord(row, parties), paymentInstructions }, 200);
  });

  app.openapi(fund, async (context) => {
    const { accountId } = context.req.valid('param');
    const amount = BigInt(context.req.valid('json').amount);
    const row = await command(context, samePaths, (key, viewer) =>
      fundAccount(payments, viewer, { accountId, amount }, key),
    );
    return context.json(internalAccountRecord(row), 200);
  });

  app.openapi(receive, async (context) => {
    const body = context.req.valid('json');
    const input = { ...body, receivingCurrencyAmount: BigInt(body.receivingCurrencyAmount) };
    const row = await command(context, samePaths, (key, viewer) => sandboxReceiveUma(payments, viewer, input, key));
    return context.json(transactionRecord(row, await readPaymentParties(database.pool, row)), 200);
  });

  app.openapi(kyc, async (context) => {
    const input = { ...context.req.valid('param'), ...context.req.valid('json') };
    const row = await command(context, samePaths, (key, viewer, expecting) =>
      setKycStatus(payments, viewer, { ...input, ...expecting }, key),
    );
    return context.json(customerRecord(row), 200);
  });
}
