import { maySee } from '../../../../domain/access/visible.ts';
import type { Context } from '../../context.ts';
import { builder } from '../builder.ts';

const Owner = builder.enumType('Owner', {
  description: 'Who owns an account, or whose payment it is.',
  values: {
    PLATFORM: { description: 'The platform itself.' },
    CUSTOMER: { description: 'A customer: `customer`.' },
    HIDDEN: { description: 'A customer whom the viewer may not see.' },
  },
});

/** The options of the field that tells why `customer` is null. */
export const owner = {
  type: Owner,
  description:
    'Whether it belongs to the platform itself or to a customer, and whether the viewer may see that customer.',
  select: { customerId: true },
  resolve: ({ customerId }: { readonly customerId: string | null }, _args: object, { viewer }: Context) => {
    if (customerId === null) return 'PLATFORM';
    return maySee('customer', viewer, { id: customerId }) ? 'CUSTOMER' : 'HIDDEN';
  },
} as const;
