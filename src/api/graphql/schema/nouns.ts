import { maxAmount } from '../../../core/checks.ts';
import {
  visibleAccounts,
  visibleCustomers,
  visibleQuotes,
  visibleTransactions,
} from '../../../domain/access/visible.ts';
import { typeReads } from '../reading/reads.ts';
import { builder } from './builder.ts';

/**
 * The nouns of the schema, with the tables of their rows and the conditions on what a caller may see. Each has its fields in a file
 * of its own. A value of a noun is a whole row (the result of a command, a snapshot of the feed), or an object that a plan has
 * read (reading/planned.ts).
 *
 * Prisma's plugin only gives them their types. Without `select` it reads nothing: plans do.
 */

export const Transaction = builder.prismaObject('Transaction', {
  description: 'A payment, out or in (specification 2.6).',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'Transaction', visible: visibleTransactions }),
});

export const Quote = builder.prismaObject('Quote', {
  description: 'A locked rate with its fees, until it expires (specification 2.3).',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'Quote', visible: visibleQuotes }),
});

export const Customer = builder.prismaObject('Customer', {
  description: 'Somebody for whom the platform moves money (specification 2.8).',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'Customer', visible: visibleCustomers }),
});

export const Account = builder.prismaInterface('Account', {
  description: 'An internal account (a balance held here) or an external account (a bank account or wallet elsewhere).',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({
    model: 'Account',
    variants: ({ row }) => [
      { type: 'InternalAccount', when: `${row}.kind = 'INTERNAL'` },
      { type: 'ExternalAccount', when: 'true' },
    ],
  }),
  resolveType: (account) => (account.kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount'),
});

export const InternalAccount = builder.prismaObject('Account', {
  variant: 'InternalAccount',
  ...typeReads({ model: 'Account', visible: visibleAccounts, only: (alias) => [`${alias}.kind = 'INTERNAL'`] }),
  description: `A balance held here, in one currency (specification 2.11). New money brings it to at most ${maxAmount} smallest units; what would bring it beyond is refused with AMOUNT_OUT_OF_RANGE or, where it is under way already, given back. Only refunds and the platform’s fees may go beyond.`,
  interfaces: [Account, builder.nodeInterfaceRef()],
});

export const ExternalAccount = builder.prismaObject('Account', {
  variant: 'ExternalAccount',
  ...typeReads({ model: 'Account', visible: visibleAccounts, only: (alias) => [`${alias}.kind = 'EXTERNAL'`] }),
  description: 'A bank account or wallet elsewhere (specification 2.9).',
  interfaces: [Account, builder.nodeInterfaceRef()],
});
