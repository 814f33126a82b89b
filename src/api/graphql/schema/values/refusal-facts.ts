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
    description: 'What the source can spend. Null for a viewer who may not see its balance.',
    resolve: (error) => moneyFact(error, 'spendable'),
  }),
  required: t.field({
    type: 'Money',
    nullable: true,
    description: 'What the payment takes from it. Null where `available` is.',
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
      'What it collides with, as it is now: the account that exists already, the quote that was executed. Null where it collides with no record that the viewer may see. Needs VIEW.',
    extensions: { isOnlyPlanned: true },
    resolve: ({ refusal }, _args, context, info) => {
      const { existingId } = refusal.details;
      return typeof existingId === 'string' ? readNode(existingId, nodeTypes, context, info) : null;
    },
  }),
);
