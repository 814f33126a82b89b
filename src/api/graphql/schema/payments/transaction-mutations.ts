import { maxAmount } from '../../../../core/checks.ts';
import { publicId } from '../../../../core/ids.ts';
import { tokenOf } from '../../../../domain/access/caller.ts';
import { approveTransaction, rejectTransaction } from '../../../../domain/approvals/approvals.ts';
import { maxFacts } from '../../../../domain/commands/information.ts';
import { fundAccount, sandboxReceiveUma, sandboxSend, setKycStatus } from '../../../../domain/sandbox/sandbox.ts';
import { transferIn, transferInternal, transferOut } from '../../../../domain/transfers/transfers.ts';
import { builder, required } from '../builder.ts';
import { KycStatus } from '../enums.ts';
import { mutation, SandboxScenarioInput } from '../mutation.ts';
import { Customer, InternalAccount, Transaction } from '../nouns.ts';
import { InformationFieldInput, RequiredField } from '../values/information.ts';
import { MetadataInput, metadataOf, newMetadata } from '../values/metadata.ts';
import { AmountInput, givenAmount } from '../values/money.ts';
import { CustomerReferenceInput } from '../values/people.ts';

mutation('transferOut', {
  description: 'Sends money from an internal account to an external account in the same currency.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'The account to debit (`InternalAccount:…`).' }),
    destinationAccountId: t.id({ required: true, description: 'The account to pay (`ExternalAccount:…`).' }),
    amount: t.field(
      required(
        AmountInput,
        `The amount to send: between 1 and ${maxAmount} in the smallest unit of the accounts' currency.`,
      ),
    ),
    description: t.string({ description: 'A note for the payment.' }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  scenario: 'how the payment turns out.',
  isKeyRequired: true,
  success: {
    row: {
      as: 'transaction',
      type: Transaction,
      description: 'The new payment: PENDING, or CREATED if it needs approval.',
    },
  },
  refusals: ['InsufficientFundsError', 'LimitExceededError'],
  validates: true,
  resolve: ({ amount, metadata, ...input }, { payments, viewer }, key) =>
    transferOut(payments, viewer, { ...input, amount: givenAmount(amount), metadata: metadataOf(metadata) }, key),
});

mutation('transferIn', {
  description:
    'Pulls money from an external account to an internal account in the same currency. The internal account is credited when the money has arrived.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'The account to pull from (`ExternalAccount:…`).' }),
    destinationAccountId: t.id({ required: true, description: 'The account to credit (`InternalAccount:…`).' }),
    amount: t.field({
      type: AmountInput,
      description:
        "The amount to pull, which must not exceed what the destination can hold. If omitted, the provider determines the amount; the sandbox pulls 10000 of the currency's smallest units.",
    }),
    description: t.string({ description: 'A note for the payment.' }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  scenario: 'how the payment turns out.',
  isKeyRequired: true,
  success: {
    row: {
      as: 'transaction',
      type: Transaction,
      description: 'The new payment: PENDING, or CREATED if it needs approval.',
    },
  },
  refusals: ['LimitExceededError'],
  validates: true,
  resolve: ({ amount, metadata, ...input }, { payments, viewer }, key) =>
    transferIn(
      payments,
      viewer,
      { ...input, amount: amount && givenAmount(amount), metadata: metadataOf(metadata) },
      key,
    ),
});

mutation('transferInternal', {
  description:
    'Moves money in one currency between internal accounts of different owners: a customer and the platform, or two customers. The payment is COMPLETED immediately, and the receiver gets a separate INCOMING transaction.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'The account to debit (`InternalAccount:…`).' }),
    destinationAccountId: t.id({
      required: true,
      description:
        "The account to credit, in the same currency (`InternalAccount:…`). The platform's own account can receive money even from a customer who is not allowed to move money.",
    }),
    amount: t.field(required(AmountInput, 'The amount to move, which must not exceed what the destination can hold.')),
    description: t.string({ description: 'A note for the payment.' }),
    metadata: t.field({
      type: [MetadataInput],
      description: `${newMetadata} They are not stored with the receiver's transaction.`,
    }),
  }),
  isKeyRequired: true,
  success: {
    row: {
      as: 'transaction',
      type: Transaction,
      description: "The source's OUTGOING payment: COMPLETED, or CREATED if it needs approval.",
    },
  },
  refusals: ['InsufficientFundsError', 'LimitExceededError'],
  validates: true,
  resolve: ({ amount, metadata, ...input }, { payments, viewer }, key) =>
    transferInternal(payments, viewer, { ...input, amount: givenAmount(amount), metadata: metadataOf(metadata) }, key),
});

/** Defines approvals: by the platform for incoming payments, and by a second person for payments held by a policy. */

builder.prismaObjectFields(Transaction, (t) => ({
  approvalDueAt: t.optional('approvalDueAt', 'DateTime', {
    description:
      'The deadline for approving or rejecting the payment; null if it needs no approval, or if the approval required by a policy has been given.',
  }),
  createdById: t.id({
    nullable: true,
    description:
      'The token that requested the payment (`ApiToken:…` or `ClientToken:…`). Null if no token has requested it, for example before its quote is executed. An app sees only its own token.',
    select: { createdBy: true },
    resolve: ({ createdBy }, _args, { viewer }) =>
      viewer.kind === 'PLATFORM' || createdBy === tokenOf(viewer) ? createdBy : null,
  }),
  decidedById: t.id({
    nullable: true,
    description: 'The API token that approved or rejected the payment; null if no token did. Always null for apps.',
    select: { decidedById: true },
    resolve: ({ decidedById }, _args, { viewer }) =>
      viewer.kind === 'PLATFORM' && decidedById !== null ? publicId('ApiToken', decidedById) : null,
  }),
  requestedReceiverInformation: t.json('requestedInformation', [RequiredField], {
    description:
      'The receiver information that the sending side requires or accepts. Pass the values to approveTransaction.',
  }),
}));

mutation('approveTransaction', {
  description:
    'Approves a payment before its `approvalDueAt`. A payment that a policy holds back (CREATED) must be approved by a token that has the APPROVE permission and is not the token that requested the payment. The result is a ForbiddenError if one of these two tokens created the other, directly or indirectly, or if the approving token is itself limited by a token policy that requires approval. Approval repeats the checks that were made when the payment was requested. Approving an incoming payment (PENDING) needs TRANSACT. Information in the customer record need not be sent again. If mandatory information is missing, the payment fails with MISSING_MANDATORY_PAYEE_DATA. If the payment is not waiting for approval, the result is a ConflictError with the code TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'The payment that is waiting for approval (`Transaction:…`).' }),
    receiverCustomerInfo: t.field({
      type: [InformationFieldInput],
      description: `For an incoming payment: the receiver information that \`requestedReceiverInformation\` lists. At most ${maxFacts} fields.`,
    }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The payment after the approval.' } },
  refusals: ['InsufficientFundsError'],
  resolve: (input, { payments, viewer }, key) => approveTransaction(payments, viewer, input, key),
});

mutation('rejectTransaction', {
  description:
    'Rejects a payment before its `approvalDueAt`. It becomes REJECTED, and any money already taken is returned. Rejecting a payment that a policy holds back requires APPROVE; rejecting an incoming payment requires TRANSACT.',
  input: (t) => ({
    transactionId: t.id({ required: true, description: 'The payment that is waiting for approval (`Transaction:…`).' }),
    reason: t.string({ description: "The reason for the rejection, shown in the payment's timeline." }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The payment, which is now REJECTED.' } },
  resolve: (input, { payments, viewer }, key) => rejectTransaction(payments, viewer, input, key),
});

mutation('sandboxReceiveUma', {
  description:
    'Sandbox only: simulates an incoming payment from an external UMA address to a customer. It is PENDING until it is approved or rejected.',
  input: (t) => ({
    senderUmaAddress: t.string({
      required: true,
      description:
        "The sender's UMA address; any address is accepted. On the sandbox.uma.money domain, payments from $pending.long.usd take a long time, and those from $fail.compliance.usd and $fail.timeout.usd fail after approval.",
    }),
    receiver: t.field(required(CustomerReferenceInput, 'The customer who receives the payment.')),
    currency: t.field(required('CurrencyCode', 'The currency that the customer receives.')),
    amount: t.field(
      required(
        AmountInput,
        `The amount that arrives: between 1 and ${maxAmount} in the smallest unit of the currency.`,
      ),
    ),
    requestedReceiverFields: t.stringList({
      description: `The names of additional receiver fields that the sender requires, such as TAX_ID. At most ${maxFacts} names.`,
    }),
    sandboxScenario: t.field({
      type: SandboxScenarioInput,
      description: "How the payment turns out. The scenario's `approval` simulates the platform's decision.",
    }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The new payment, which is PENDING.' } },
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

mutation('sandboxFundAccount', {
  description: 'Sandbox only: simulates a deposit to an internal account.',
  input: (t) => ({
    accountId: t.id({ required: true, description: 'The account to fund (`InternalAccount:…`).' }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description:
        "The amount that arrives: between 1 and 100000000000 in the smallest unit of the account's currency, and no more than the account can hold.",
    }),
  }),
  success: { row: { as: 'account', type: InternalAccount, description: 'The account with its new balance.' } },
  resolve: ({ accountId, amount }, { payments, viewer }, key) =>
    fundAccount(payments, viewer, { accountId, amount: givenAmount(amount) }, key),
});

mutation('sandboxSend', {
  description:
    "Sandbox only: simulates the deposit for a real-time funded quote. A deposit of exactly the quoted amount is converted and delivered immediately. If the deposit is too small, too large or too late, the payment fails and the money is credited to the customer's account in the currency of the deposit. If the quote has already been paid, the request is refused with CONFLICT. If the customer was deleted, the request is refused with CUSTOMER_DELETED, and the money goes back to the payer.",
  input: (t) => ({
    quoteId: t.id({ required: true, description: 'The quote to fund (`Quote:…`).' }),
    currency: t.field(
      required('CurrencyCode', "The currency of the deposit, which must be the quote's sending currency."),
    ),
    amount: t.field({ type: AmountInput, description: "The deposit amount; by default, exactly the quote's amount." }),
    sandboxScenario: t.field({ type: SandboxScenarioInput, description: 'How the payment turns out.' }),
  }),
  success: { row: { as: 'transaction', type: Transaction, description: 'The payment that the deposit funds.' } },
  refusals: ['QuoteExpiredError'],
  resolve: ({ currency, amount, ...input }, { payments, viewer }, key) => {
    const sent = { ...input, currencyCode: currency, currencyAmount: amount && givenAmount(amount) };
    return sandboxSend(payments, viewer, sent, key);
  },
});

mutation('sandboxSetKycStatus', {
  description:
    "Sandbox only: sets the result of a customer's identity check, as the check's provider would. Any status may follow any other. When the customer's name changes, the check is repeated.",
  input: (t) => ({
    customerId: t.id({
      required: true,
      description: 'The customer whose identity check gets the new status (`Customer:…`).',
    }),
    kycStatus: t.field(
      required(KycStatus, 'The new status. Only APPROVED and MANUALLY_APPROVED let the customer move money.'),
    ),
  }),
  success: { row: { as: 'customer', type: Customer, description: 'The changed customer.' } },
  resolve: (input, { payments, viewer }, key) => setKycStatus(payments, viewer, input, key),
});
