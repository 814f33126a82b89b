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
      'The time until which the platform must approve or reject the incoming payment; null if it needs no approval.',
  }),
  requestedReceiverInformation: t.json('requestedInformation', [RequiredField], {
    description:
      'The information about the receiver that the sending side requires or accepts, to be given to approveTransaction.',
  }),
}));

mutation('approveTransaction', {
  description:
    'Approves an incoming payment before its `approvalDueAt`. Information in the customer record counts as given; if mandatory information is missing, the payment fails with MISSING_MANDATORY_PAYEE_DATA. A payment that is not waiting for approval: ConflictError, TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'The incoming payment, which must be PENDING: Transaction:…' }),
    receiverCustomerInfo: t.field({
      type: [InformationFieldInput],
      description: 'The information about the receiver that `requestedReceiverInformation` lists.',
    }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment, which is now PROCESSING.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await approveTransaction(payments, viewer, input, idempotencyKey);
    return { transaction: result.row, replayed: result.replayed };
  },
});

mutation('rejectTransaction', {
  description:
    'Rejects an incoming payment before its `approvalDueAt`: it becomes REJECTED, and the sender gets the money back.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'The incoming payment, which must be PENDING: Transaction:…' }),
    reason: t.string({ description: 'Why the payment is rejected, for its timeline.' }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment, which is now REJECTED.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await rejectTransaction(payments, viewer, input, idempotencyKey);
    return { transaction: result.row, replayed: result.replayed };
  },
});

mutation('sandboxReceiveUma', {
  description:
    'Sandbox only: simulates an incoming payment from an outside UMA address to a customer. It is PENDING until it is approved or rejected.',
  input: (t) => ({
    senderUmaAddress: t.string({
      required: true,
      description:
        'The UMA address of the sender: any. At sandbox.uma.money, $pending.long.usd takes long, and $fail.compliance.usd and $fail.timeout.usd fail after approval.',
    }),
    receiver: t.field({
      type: CustomerReferenceInput,
      required: true,
      description: 'The customer who receives the payment.',
    }),
    currency: t.field({ type: 'CurrencyCode', required: true, description: 'The currency that arrives.' }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description: `The amount that arrives: 1 to ${maxAmount} smallest units of the currency.`,
    }),
    requestedReceiverFields: t.stringList({
      description: 'The names of further information about the receiver that the sender requires: TAX_ID, …',
    }),
    sandboxScenario: t.field({
      type: SandboxScenarioInput,
      description: 'How the payment turns out once it is approved.',
    }),
  }),
  success: { transaction: { type: Transaction, description: 'The new payment, PENDING.' } },
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
