import { money } from '../../../../core/currencies.ts';
import type { CustomerUse } from '../../../../domain/commands/plan-refusals.ts';
import { builder } from '../builder.ts';
import { memberTypes } from '../refusals.ts';

/** Returns the facts of a refusal CUSTOMER_IN_USE; none for a caller who may not read them. */
function useOf({ refusal }: { readonly refusal: { readonly details: object } }): Partial<CustomerUse> {
  return refusal.details;
}

builder.objectFields(memberTypes.CustomerInUseError, (t) => ({
  balances: t.field({
    type: ['Money'],
    nullable: true,
    description:
      "The amounts that the customer's internal accounts still hold, one for each that is not empty. Null without VIEW.",
    resolve: (error) => useOf(error).balances?.map(({ amount, currency }) => money(BigInt(amount), currency)),
  }),
  paymentsUnderWay: t.int({
    nullable: true,
    description: 'The number of payments from or to the customer that have not ended. Null without VIEW.',
    resolve: (error) => useOf(error).paymentsUnderWay,
  }),
  transactionIds: t.idList({
    nullable: true,
    description: 'The ids of the oldest 20 of these payments: Transaction:… Null without VIEW.',
    resolve: (error) => useOf(error).transactionIds?.slice(),
  }),
}));
