import { money } from '../../../../core/currencies.ts';
import type { Validated } from '../../../../domain/commands/command.ts';
import { serverTime, ValidatedPayment } from '../mutation.ts';
import { PolicyLimit, shownLimit } from '../platform/policies.ts';

/** Returns the amounts from the quote or transaction that would have been created. */
function amountsOf({ row }: Validated) {
  if ('totalSendingAmount' in row)
    return {
      sent: money(row.totalSendingAmount, row.sendingCurrency),
      received: money(row.totalReceivingAmount, row.receivingCurrency),
      fees: money(row.feesIncluded, row.sendingCurrency),
      exchangeRate: row.exchangeRate,
    };
  // A transfer has both amounts, but neither fees nor a rate.
  if (!('sentAmount' in row) || row.sentAmount === null || row.sentCurrency === null || row.receivedAmount === null)
    throw new Error('a dry run has made no payment');
  return {
    sent: money(row.sentAmount, row.sentCurrency),
    received: money(row.receivedAmount, row.receivedCurrency),
    fees: money(0n, row.sentCurrency),
    exchangeRate: null,
  };
}

const amount = (of: 'sent' | 'received' | 'fees', description: string) =>
  ({ type: 'Money', description, resolve: (validated: Validated) => amountsOf(validated)[of] }) as const;

ValidatedPayment.implement({
  description:
    "The result of a dry run: the amounts that the payment would have if it were made now. The rate can still change, and the rail's provider was not consulted.",
  fields: (t) => ({
    sentAmount: t.field(amount('sent', 'The amount that would be debited from the source, fees included.')),
    receivedAmount: t.field(amount('received', 'The amount that the destination would receive.')),
    feesIncluded: t.field(amount('fees', "The payment's total fees, which `sentAmount` includes.")),
    exchangeRate: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Units of the sending currency per unit of the receiving currency, in major units and without fees; null for a transfer.',
      resolve: (validated) => amountsOf(validated).exchangeRate,
    }),
    limits: t.field({
      type: [PolicyLimit],
      description:
        'The policy limits toward which the payment would count, with the resulting usage. Only limits that the viewer may see are included. Empty for a new quote unless it is to be executed immediately or funded by a deposit.',
      resolve: ({ limits }) => limits.map(shownLimit),
    }),
    approvalDueAt: t.optional('approvalDueAt', 'DateTime', {
      description:
        'The deadline by which a second person would have to approve the payment; null if the payment needs no approval.',
    }),
    serverTime: t.field(serverTime),
  }),
});
