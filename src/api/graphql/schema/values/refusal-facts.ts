import { money } from '../../../../core/currencies.ts';
import type { CustomerUse } from '../../../../domain/commands/plan-refusals.ts';
import { readNode } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { nodeTypes } from '../node.ts';
import { memberTypes, type UserError } from '../refusals.ts';

/** Defines the fields of refusals that have details, such as the available balance or the time of expiry. */

/** Returns the money in a detail of a refusal (digits of smallest units); null if the refusal does not show it. */
function moneyFact({ refusal }: UserError, fact: 'spendable' | 'needed') {
  const { [fact]: digits, currency } = refusal.details;
  return typeof digits === 'string' && typeof currency === 'string' ? money(BigInt(digits), currency) : null;
}

builder.objectFields(memberTypes.InsufficientFundsError, (t) => ({
  available: t.field({
    type: 'Money',
    nullable: true,
    description: 'The amount that the source can spend; null for viewers who may not see its balance.',
    resolve: (error) => moneyFact(error, 'spendable'),
  }),
  required: t.field({
    type: 'Money',
    nullable: true,
    description: 'The amount that the payment would take from the source; null if `available` is null.',
    resolve: (error) => moneyFact(error, 'needed'),
  }),
}));

builder.objectField(memberTypes.QuoteExpiredError, 'expiredAt', (t) =>
  t.field({
    type: 'DateTime',
    description: 'When the quote expired.',
    resolve: ({ refusal }) => new Date(String(refusal.details.expiresAt)),
  }),
);

builder.objectField(memberTypes.ConflictError, 'existing', (t) =>
  t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description:
      'The current state of the object that the request conflicts with, such as an account that already exists or a quote that was already executed. Null if there is no such object or the viewer may not see it. Needs VIEW.',
    extensions: { isOnlyPlanned: true },
    resolve: ({ refusal }, _args, context, info) => {
      const { existingId } = refusal.details;
      return typeof existingId === 'string' ? readNode(existingId, nodeTypes, context, info) : null;
    },
  }),
);

/** Returns the details of a CUSTOMER_IN_USE refusal; none for a caller who may not read them. */
function useOf({ refusal }: { readonly refusal: { readonly details: object } }): Partial<CustomerUse> {
  return refusal.details;
}

builder.objectFields(memberTypes.CustomerInUseError, (t) => ({
  balances: t.field({
    type: ['Money'],
    nullable: true,
    description: "The balances of the customer's internal accounts that are not empty. Null without VIEW.",
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
