import { money } from '../../../../core/currencies.ts';
import { readNode } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { nodeTypes } from '../node.ts';
import { memberTypes, type UserError } from '../refusals.ts';

/** The facts of refusals: what is missing, since when, and what is there. */

/** Returns the money in a fact of a refusal (digits of smallest units); null where the refusal does not show it. */
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
      'The object that the request conflicts with, as it is now, such as the account that already exists or the quote that was executed. Null if there is none that the viewer may see. Needs VIEW.',
    extensions: { isOnlyPlanned: true },
    resolve: ({ refusal }, _args, context, info) => {
      const { existingId } = refusal.details;
      return typeof existingId === 'string' ? readNode(existingId, nodeTypes, context, info) : null;
    },
  }),
);
