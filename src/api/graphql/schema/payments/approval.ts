import { maxAmount } from '../../../../core/checks.ts';
import { publicId } from '../../../../core/ids.ts';
import { tokenOf } from '../../../../domain/access/caller.ts';
import { approveTransaction, rejectTransaction } from '../../../../domain/approvals/approvals.ts';
import { maxFacts } from '../../../../domain/commands/information.ts';
import { sandboxReceiveUma } from '../../../../domain/sandbox/sandbox-receive.ts';
import { builder } from '../builder.ts';
import { mutation } from '../mutation.ts';
import { Transaction } from '../nouns.ts';
import { SandboxScenarioInput } from '../scenario.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';
import { CustomerReferenceInput } from '../values/customer-reference.ts';
import { InformationFieldInput, RequiredField } from '../values/information.ts';

/** Payments that await approval: incoming ones by their platform, others by a second person. */

builder.prismaObjectFields(Transaction, (t) => ({
  approvalDueAt: t.expose('approvalDueAt', {
    type: 'DateTime',
    nullable: true,
    description:
      'The time until which the payment must be approved or rejected; null if it needs no approval, or if an approval that a policy required was given.',
  }),
  createdById: t.id({
    nullable: true,
    description:
      'The token that began the payment, by making the transfer or executing the quote: ApiToken:… or ClientToken:… Null for payments from outside, and for quotes that were not executed. An app sees only its own token.',
    select: { createdBy: true },
    resolve: ({ createdBy }, _args, { viewer }) =>
      viewer.kind === 'PLATFORM' || createdBy === tokenOf(viewer) ? createdBy : null,
  }),
  decidedById: t.id({
    nullable: true,
    description: 'The API token that approved or rejected the payment; null if no token did, and always null for apps.',
    select: { decidedById: true },
    resolve: ({ decidedById }, _args, { viewer }) =>
      viewer.kind === 'PLATFORM' && decidedById !== null ? publicId('ApiToken', decidedById) : null,
  }),
  requestedReceiverInformation: t.json('requestedInformation', [RequiredField], {
    description:
      'The information about the receiver that the sending side requires or accepts, to be given to approveTransaction.',
  }),
}));

mutation('approveTransaction', {
  description:
    'Approves a payment before its `approvalDueAt`. A payment that a policy holds back (CREATED) needs a token with APPROVE other than the token that requested it. Neither of the two may have created the other, directly or indirectly, and the approving token may not be limited by a token policy that requires the approval; otherwise the result is a ForbiddenError. The requirements of the payment are checked again. An incoming payment (PENDING) needs TRANSACT. Information in the customer record counts as given; if mandatory information is missing, the payment fails with MISSING_MANDATORY_PAYEE_DATA. If the payment is not waiting for approval, the result is a ConflictError with the code TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'The payment that waits for an approval: Transaction:…' }),
    receiverCustomerInfo: t.field({
      type: [InformationFieldInput],
      description: `For an incoming payment: the information about the receiver that \`requestedReceiverInformation\` lists. At most ${maxFacts}.`,
    }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The payment, which has now begun.' } },
  refusals: ['NotFoundError', 'InsufficientFundsError'],
  resolve: (input, { payments, viewer }, key) => approveTransaction(payments, viewer, input, key),
});

mutation('rejectTransaction', {
  description:
    'Rejects a payment before its `approvalDueAt`. It becomes REJECTED, and money that was already taken is returned. A payment that a policy holds back needs APPROVE; an incoming payment needs TRANSACT.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'The payment that waits for an approval: Transaction:…' }),
    reason: t.string({ description: 'Why the payment is rejected, for its timeline.' }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The payment, which is now REJECTED.' } },
  refusals: ['NotFoundError'],
  resolve: (input, { payments, viewer }, key) => rejectTransaction(payments, viewer, input, key),
});

mutation('sandboxReceiveUma', {
  description:
    'Sandbox only: simulates an incoming payment from an outside UMA address to a customer. It is PENDING until it is approved or rejected.',
  input: (t) => ({
    senderUmaAddress: t.string({
      required: true,
      description:
        'The UMA address of the sender; any address is accepted. At sandbox.uma.money, payments from $pending.long.usd take a long time, and those from $fail.compliance.usd and $fail.timeout.usd fail after approval.',
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
      description: `The names of further information about the receiver that the sender requires: TAX_ID, … At most ${maxFacts}.`,
    }),
    sandboxScenario: t.field({
      type: SandboxScenarioInput,
      description: 'How the payment turns out once it is approved.',
    }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The new payment, which is PENDING.' } },
  refusals: ['NotFoundError'],
  resolve: ({ receiver, currency, amount, ...input }, { payments, viewer }, key) => {
    const received = {
      ...input,
      customerId: receiver.customerId,
      receiverUmaAddress: receiver.umaAddress,
      receivingCurrencyCode: currency,
      receivingCurrencyAmount: givenAmount(amount),
    };
    return sandboxReceiveUma(payments, viewer, received, key);
  },
});
