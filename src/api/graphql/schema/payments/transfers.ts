import { maxAmount } from '../../../../core/checks.ts';
import { transferIn } from '../../../../domain/transfers/transfer-in.ts';
import { transferInternal } from '../../../../domain/transfers/transfer-internal.ts';
import { transferOut } from '../../../../domain/transfers/transfer-out.ts';
import { mutation } from '../mutation.ts';
import { Transaction } from '../nouns.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';
import { MetadataInput, metadataOf, newMetadata } from '../values/metadata.ts';

mutation('transferOut', {
  description:
    'Sends money in one currency from an internal to an external account (specification 4.12). No rate is involved.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'InternalAccount:…' }),
    destinationAccountId: t.id({ required: true, description: 'ExternalAccount:…' }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description: `What is sent: 1 to ${maxAmount} smallest units of the accounts' currency.`,
    }),
    description: t.string({ description: 'Memo.' }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  scenario: 'what shall happen to it.',
  isKeyRequired: true,
  success: { transaction: { type: Transaction, description: 'The payment, PENDING.' } },
  refusals: ['NotFoundError', 'InsufficientFundsError', 'LimitExceededError'],
  resolve: async ({ idempotencyKey, amount, metadata, ...input }, { payments, viewer }) => {
    const result = await transferOut(
      payments,
      viewer,
      { ...input, amount: givenAmount(amount), metadata: metadataOf(metadata) },
      idempotencyKey,
    );
    return { transaction: result.row, replayed: result.replayed };
  },
});

mutation('transferIn', {
  description: 'Pulls money in one currency from an external to an internal account (specification 4.6).',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'ExternalAccount:…' }),
    destinationAccountId: t.id({ required: true, description: 'InternalAccount:…' }),
    amount: t.field({
      type: AmountInput,
      description:
        'What is pulled, no more than the destination may hold. Without it the provider pulls what the account offers; the sandbox pulls 10000 smallest units.',
    }),
    description: t.string({ description: 'Memo.' }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  scenario: 'what shall happen to it.',
  isKeyRequired: true,
  success: { transaction: { type: Transaction, description: 'The payment, PENDING.' } },
  refusals: ['NotFoundError', 'LimitExceededError'],
  resolve: async ({ idempotencyKey, amount, metadata, ...input }, { payments, viewer }) => {
    const result = await transferIn(
      payments,
      viewer,
      { ...input, amount: amount && givenAmount(amount), metadata: metadataOf(metadata) },
      idempotencyKey,
    );
    return { transaction: result.row, replayed: result.replayed };
  },
});

mutation('transferInternal', {
  description:
    'Moves money in one currency between internal accounts of different owners: a customer and the platform, or two customers. It is COMPLETED at once, and the receiver has an INCOMING transaction of its own.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'InternalAccount:…' }),
    destinationAccountId: t.id({
      required: true,
      description:
        "InternalAccount:… in the same currency. To the platform's own account, money also comes from a customer who may move none.",
    }),
    amount: t.field({
      type: AmountInput,
      required: true,
      description: 'What is moved, no more than the destination may hold.',
    }),
    description: t.string({ description: 'Memo.' }),
    metadata: t.field({
      type: [MetadataInput],
      description: `${newMetadata} The receiver's transaction does not have it.`,
    }),
  }),
  isKeyRequired: true,
  success: { transaction: { type: Transaction, description: "The payment on the source's side, COMPLETED." } },
  refusals: ['NotFoundError', 'InsufficientFundsError', 'LimitExceededError'],
  resolve: async ({ idempotencyKey, amount, metadata, ...input }, { payments, viewer }) => {
    const result = await transferInternal(
      payments,
      viewer,
      { ...input, amount: givenAmount(amount), metadata: metadataOf(metadata) },
      idempotencyKey,
    );
    return { transaction: result.row, replayed: result.replayed };
  },
});
