import { maxAmount } from '../../../../core/checks.ts';
import { approveTransaction, rejectTransaction } from '../../../../domain/approvals/approvals.ts';
import { sandboxReceiveUma } from '../../../../domain/sandbox/sandbox-receive.ts';
import { builder } from '../builder.ts';
import { mutation } from '../mutation.ts';
import { Transaction } from '../nouns.ts';
import { SandboxScenarioInput } from '../scenario.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';
import { CustomerReferenceInput } from '../values/customer-reference.ts';
import { InformationFieldInput, RequiredField } from '../values/information.ts';

/** Incoming payments that wait for their platform's approval. */

builder.prismaObjectFields(Transaction, (t) => ({
  approvalDueAt: t.expose('approvalDueAt', {
    type: 'DateTime',
    nullable: true,
    description:
      'Until when the platform must approve or reject an incoming payment. Null where no approval is needed.',
  }),
  requestedReceiverInformation: t.json('requestedInformation', [RequiredField], {
    description:
      'The facts about the receiver that the sending side requires or accepts. approveTransaction gives them.',
  }),
}));

mutation('approveTransaction', {
  description:
    'Approves an incoming payment before its approvalDueAt. Facts in the customer record count as given; a mandatory field that is missing ends the payment FAILED with MISSING_MANDATORY_PAYEE_DATA. A payment that does not wait for approval is a ConflictError, TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'Transaction:…, INCOMING and PENDING.' }),
    receiverCustomerInfo: t.field({
      type: [InformationFieldInput],
      description: 'The facts that requestedReceiverInformation names.',
    }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment, PROCESSING.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await approveTransaction(payments, viewer, input, idempotencyKey);
    return { transaction: result.row, replayed: result.replayed };
  },
});

mutation('rejectTransaction', {
  description:
    'Rejects an incoming payment before its approvalDueAt: it ends REJECTED, and the sender has the money back.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'Transaction:…, INCOMING and PENDING.' }),
    reason: t.string({ description: 'Why, for the timeline.' }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment, REJECTED.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await rejectTransaction(payments, viewer, input, idempotencyKey);
    return { transaction: result.row, replayed: result.replayed };
  },
});

mutation('sandboxReceiveUma', {
  description:
    'Sandbox only: announces a payment from a UMA address outside to a customer. It is PENDING until approved or rejected.',
  input: (t) => ({
    senderUmaAddress: t.string({
      required: true,
      description:
        'Any; of sandbox.uma.money, $pending.long.usd takes long, $fail.compliance.usd and $fail.timeout.usd fail after approval.',
    }),
    receiver: t.field({ type: CustomerReferenceInput, required: true, description: 'The receiving customer.' }),
    currency: t.field({ type: 'CurrencyCode', required: true, description: 'The currency that arrives.' }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description: `What arrives: 1 to ${maxAmount} smallest units of the currency.`,
    }),
    requestedReceiverFields: t.stringList({
      description: 'More facts about the receiver that the sender requires: TAX_ID, …',
    }),
    sandboxScenario: t.field({ type: SandboxScenarioInput, description: 'What shall happen to it once approved.' }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment, PENDING.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, receiver, currency, amount, ...input }, { payments, viewer }) => {
    const received = {
      ...input,
      customerId: receiver.customerId,
      receiverUmaAddress: receiver.umaAddress,
      receivingCurrencyCode: currency,
      receivingCurrencyAmount: givenAmount(amount),
    };
    const result = await sandboxReceiveUma(payments, viewer, received, idempotencyKey);
    return { transaction: result.row, replayed: result.replayed };
  },
});
