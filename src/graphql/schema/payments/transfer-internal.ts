import { transferInternal } from '../../../payments/transfers/transfer-internal.ts';
import { mutation } from '../mutation.ts';
import { Transaction } from '../nouns.ts';
import { decimalForm, requiredAmount } from '../values/given-amount.ts';

mutation('transferInternal', {
  description:
    'Moves money in one currency between internal accounts of different owners (decision 63): a customer and the platform, or two customers. It is COMPLETED at once, and the receiver has an INCOMING transaction of its own.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'InternalAccount:…' }),
    destinationAccountId: t.id({
      required: true,
      description:
        "InternalAccount:… in the same currency. To the platform's own account, money also comes from a customer who may move none, or is deleted.",
    }),
    amount: t.field({
      type: 'BigInt',
      description: "In the currency's smallest unit, no more than the destination may hold. This or amountDecimal.",
    }),
    amountDecimal: t.field({ type: 'Decimal', description: decimalForm }),
    description: t.string({ description: 'Memo.' }),
  }),
  success: { transaction: { type: Transaction, description: "The payment on the source's side, COMPLETED." } },
  refusals: ['NotFoundError', 'InsufficientFundsError'],
  resolve: async ({ idempotencyKey, amountDecimal, ...input }, { payments, viewer }) => {
    const amount = requiredAmount(input.amount, amountDecimal, ['amount']);
    const result = await transferInternal(payments, viewer, { ...input, amount }, idempotencyKey);
    return { transaction: result.row, replayed: result.replayed };
  },
});
