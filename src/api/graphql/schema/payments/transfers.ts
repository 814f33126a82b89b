import { maxAmount } from '../../../../core/checks.ts';
import { transferIn, transferInternal, transferOut } from '../../../../domain/transfers/transfers.ts';
import { mutation } from '../mutation.ts';
import { Transaction } from '../nouns.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';
import { MetadataInput, metadataOf, newMetadata } from '../values/metadata.ts';

mutation('transferOut', {
  description: 'Sends money from an internal to an external account in one currency, without an exchange rate.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'The account to debit: InternalAccount:…' }),
    destinationAccountId: t.id({ required: true, description: 'The account to pay: ExternalAccount:…' }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description: `The amount to send: 1 to ${maxAmount} smallest units of the accounts' currency.`,
    }),
    description: t.string({ description: 'A note for the payment.' }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  scenario: 'how the payment turns out.',
  isKeyRequired: true,
  success: { row: { as: 'transaction', type: Transaction, description: 'The new payment, PENDING.' } },
  refusals: ['NotFoundError', 'InsufficientFundsError', 'LimitExceededError'],
  validates: true,
  resolve: ({ amount, metadata, ...input }, { payments, viewer }, key) =>
    transferOut(payments, viewer, { ...input, amount: givenAmount(amount), metadata: metadataOf(metadata) }, key),
});

mutation('transferIn', {
  description:
    'Pulls money from an external to an internal account in one currency. The internal account is credited when the money has arrived.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'The account to pull from: ExternalAccount:…' }),
    destinationAccountId: t.id({ required: true, description: 'The account to credit: InternalAccount:…' }),
    amount: t.field({
      type: AmountInput,
      description:
        'The amount to pull, no more than the destination may hold. When left out, the provider pulls what the account offers; the sandbox pulls 10000 smallest units.',
    }),
    description: t.string({ description: 'A note for the payment.' }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  scenario: 'how the payment turns out.',
  isKeyRequired: true,
  success: { row: { as: 'transaction', type: Transaction, description: 'The new payment, PENDING.' } },
  refusals: ['NotFoundError', 'LimitExceededError'],
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
    'Moves money in one currency between internal accounts of different owners: a customer and the platform, or two customers. The payment is COMPLETED immediately, and the receiver gets an INCOMING transaction of its own.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'The account to debit: InternalAccount:…' }),
    destinationAccountId: t.id({
      required: true,
      description:
        "The account to credit, in the same currency: InternalAccount:… The platform's own account can also receive money from a customer who may not move money.",
    }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description: 'The amount to move, no more than the destination may hold.',
    }),
    description: t.string({ description: 'A note for the payment.' }),
    metadata: t.field({
      type: [MetadataInput],
      description: `${newMetadata} The receiver's transaction does not get them.`,
    }),
  }),
  isKeyRequired: true,
  success: {
    row: {
      as: 'transaction',
      type: Transaction,
      description: 'The OUTGOING payment of the source, which is COMPLETED.',
    },
  },
  refusals: ['NotFoundError', 'InsufficientFundsError', 'LimitExceededError'],
  validates: true,
  resolve: ({ amount, metadata, ...input }, { payments, viewer }, key) =>
    transferInternal(payments, viewer, { ...input, amount: givenAmount(amount), metadata: metadataOf(metadata) }, key),
});
