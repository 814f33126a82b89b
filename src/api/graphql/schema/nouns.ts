import { maxAmount } from '../../../core/checks.ts';
import {
  visibleAccounts,
  visibleCustomers,
  visibleQuotes,
  visibleTransactions,
} from '../../../domain/access/visible.ts';
import { builder } from './builder.ts';
import { node, variantsBy } from './words.ts';

/**
 * The nouns of the schema that refer to one another, with who may see their rows. Each has its fields in a file of its own. A
 * value of a noun is a whole row (the result of a command, a snapshot of the feed), or an object that a plan has read
 * (reading/planned.ts).
 */

export const Transaction = builder.prismaNode('Transaction', {
  ...node(visibleTransactions),
  description: 'A payment, out or in (specification 2.6).',
});

export const Quote = builder.prismaNode('Quote', {
  ...node(visibleQuotes),
  description: 'A locked rate with its fees, until it expires (specification 2.3).',
});

export const Customer = builder.prismaNode('Customer', {
  ...node(visibleCustomers),
  description: 'Somebody for whom the platform moves money (specification 2.8).',
});

export const Account = builder.prismaInterface('Account', {
  description: 'An internal account (a balance held here) or an external account (a bank account or wallet elsewhere).',
  interfaces: [builder.nodeInterfaceRef()],
  ...variantsBy('kind', { INTERNAL: 'InternalAccount', EXTERNAL: 'ExternalAccount' }),
});

export const InternalAccount = builder.prismaNode('Account', {
  variant: 'InternalAccount',
  ...node(visibleAccounts),
  description: `A balance held here, in one currency (specification 2.11). New money brings it to at most ${maxAmount} smallest units; what would bring it beyond is refused with AMOUNT_OUT_OF_RANGE or, where it is under way already, given back. Only refunds and the platform’s fees may go beyond.`,
  interfaces: [Account],
});

export const ExternalAccount = builder.prismaNode('Account', {
  variant: 'ExternalAccount',
  ...node(visibleAccounts),
  description: 'A bank account or wallet elsewhere (specification 2.9).',
  interfaces: [Account],
});
