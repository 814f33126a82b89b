import { z } from '@hono/zod-openapi';
import type { Payments } from '../../../domain/commands/command.ts';
import {
  fundAccount,
  maxFunding,
  sandboxReceiveUma,
  sandboxSend,
  setKycStatus,
} from '../../../domain/sandbox/sandbox.ts';
import { KycStatus } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import type { Transaction } from '../../../infra/database/rows.ts';
import { instructionRecords, internalAccountRecord } from '../../records/account-record.ts';
import { customerRecord } from '../../records/customer-record.ts';
import { readPaymentParties, transactionRecord } from '../../records/payment-records.ts';
import type { Endpoints } from '../endpoint.ts';
import { amountInput, id, oneOf, requestObject, string } from '../schemas/fields.ts';
import { TransactionSchema } from '../schemas/payment-schemas.ts';
import { InternalAccountSchema } from './accounts.ts';
import { CustomerSchema } from './customers.ts';

/** Adds the sandbox endpoints. */
export function sandboxEndpoints(endpoints: Endpoints, payments: Payments): void {
  const { database } = payments;
  const record = async (row: Transaction) => transactionRecord(row, await readPaymentParties(database.pool, row));

  endpoints.command('sandboxSend', {
    summary: 'Simulate the deposit for a quote',
    description: 'Sandbox only. Simulates the arrival of the deposit that funds a real-time funded quote.',
    at: 'post /sandbox/send',
    body: requestObject('SandboxSend', {
      quoteId: id('Quote', 'The quote to fund.'),
      currencyCode: string('The currency of the deposit.', 'USDC'),
      currencyAmount: amountInput(
        "The amount, in the smallest unit of its currency; by default, exactly the quote's amount.",
      ).optional(),
    }),
    answer: [200, TransactionSchema, 'The payment that the deposit funds.'],
    errors: [404, 410],
    run: (input, { viewer, key }) => sandboxSend(payments, viewer, input, key),
    record: async (row) => {
      const { platformId, quoteId } = row;
      const [payment, quote] = await Promise.all([
        record(row),
        quoteId === null ? null : readRow(database, 'Quote', { platformId, id: quoteId }),
      ]);
      return { ...payment, paymentInstructions: instructionRecords(quote?.paymentInstructions ?? []) };
    },
  });

  endpoints.command('sandboxFundAccount', {
    summary: 'Simulate a deposit to an internal account',
    description: 'Sandbox only. Credits an internal account as if a deposit had arrived.',
    at: 'post /sandbox/internal-accounts/{accountId}/fund',
    params: z.object({ accountId: id('InternalAccount', 'The id of the account.') }),
    body: requestObject('FundAccount', {
      amount: amountInput("The amount, in the currency's smallest unit.", maxFunding),
    }),
    answer: [200, InternalAccountSchema, 'The account with its new balance.'],
    errors: [404, 410],
    run: (input, { viewer, key }) => fundAccount(payments, viewer, input, key),
    record: internalAccountRecord,
  });

  endpoints.command('sandboxReceiveUma', {
    summary: 'Simulate an incoming payment from a UMA address',
    description: 'Sandbox only. The payment is PENDING until it is approved or rejected.',
    at: 'post /sandbox/uma/receive',
    body: requestObject('SandboxReceiveUma', {
      senderUmaAddress: string("The sender's UMA address, $name@domain."),
      receivingCurrencyCode: string('The currency that the customer receives.', 'USD'),
      receivingCurrencyAmount: amountInput("The amount that arrives, in the currency's smallest unit."),
      receiverUmaAddress: string("The receiving customer's UMA address. Set this or customerId.").optional(),
      customerId: id('Customer', 'The receiving customer. Set this or receiverUmaAddress.').optional(),
    }),
    answer: [200, TransactionSchema, 'The payment, which is PENDING.'],
    run: (input, { viewer, key }) => sandboxReceiveUma(payments, viewer, input, key),
    record,
  });

  endpoints.command('sandboxSetKycStatus', {
    summary: "Decide a customer's identity check",
    description:
      "Sandbox only. Any status may follow any other. When the customer's name changes, the check is decided again.",
    at: 'post /sandbox/customers/{customerId}/kyc-status',
    params: z.object({ customerId: id('Customer', 'The id of the customer.') }),
    body: requestObject('SetKycStatus', { kycStatus: oneOf(KycStatus, 'The new KYC status.') }),
    answer: [200, CustomerSchema, 'The changed customer.'],
    errors: [404, 410],
    run: (input, { viewer, key }) => setKycStatus(payments, viewer, input, key),
    record: customerRecord,
  });
}
