/** The rows of `columns.test.ts`: an account here and one outside, a PENDING quote with its payment, and an incoming payment. */
export type Row = 'here' | 'outside' | 'quote' | 'payment' | 'incoming';

const most = '9000000000000000';
const here = (rest: string) => ['here', rest] as const;
const outside = (rest: string) => ['outside', rest] as const;
const quoted = (rest: string) => ['quote', rest] as const;
const paid = (rest: string) => ['payment', rest] as const;
const locked = (sent: string, received: string, reference: string) =>
  quoted(
    `platform_fee = 0, rate_lock = jsonb_build_object('sent', ${sent}, 'received', ${received}, 'reference', ${reference})`,
  );

/** What a row can hold at the edge of what is sound, and what it cannot right beyond it, as SQL of a change of it. */
export const edges = [
  ['an account that holds nothing', here('posted = 0'), here('posted = -1')],
  ['an account here without a status', here('status = null'), here(`status = 'ACTIVE'`)],
  ['an account here without a type', here('account_type = null'), here(`account_type = 'IBAN'`)],
  ['an account here without details', here('account_info = null'), here(`account_info = '{}'`)],
  ['an account here without a number', here('identifier = null'), here(`identifier = '1'`)],
  ['an account here without a beneficiary', here('beneficiary = null'), here(`beneficiary = '{}'`)],
  ['an account here that is no default', here('is_deleted = false'), here('default_uma_deposit_account = true')],
  ['an account here that is not deleted', here('is_deleted = false'), here('is_deleted = true')],
  ['an account outside with a status', outside(`status = 'PENDING'`), outside('status = null')],
  ['an account outside with a type', outside(`account_type = 'IBAN'`), outside('account_type = null')],
  ['an account outside with details', outside(`account_info = '{}'`), outside('account_info = null')],
  ['an account outside with a number', outside(`identifier = '1'`), outside('identifier = null')],
  ['an account outside without a balance', outside('posted = 0'), outside('posted = 1')],
  [
    'a deleted account outside that is INACTIVE',
    outside(`is_deleted = true, status = 'INACTIVE'`),
    outside('is_deleted = true'),
  ],
  [
    'a deleted account outside that is no default',
    outside(`is_deleted = true, status = 'INACTIVE', default_uma_deposit_account = false`),
    outside(`is_deleted = true, status = 'INACTIVE', default_uma_deposit_account = true`),
  ],
  [
    'a quote of the least amount to send',
    quoted('total_sending_amount = 1, fees_included = 0, platform_fee = 0'),
    quoted('total_sending_amount = 0, fees_included = 0, platform_fee = 0'),
  ],
  [
    'a quote of the most to send',
    quoted(`total_sending_amount = ${most}`),
    quoted(`total_sending_amount = ${most} + 1`),
  ],
  [
    'a quote of the least amount to receive',
    quoted('total_receiving_amount = 1'),
    quoted('total_receiving_amount = 0'),
  ],
  [
    'a quote of the most to receive',
    quoted(`total_receiving_amount = ${most}`),
    quoted(`total_receiving_amount = ${most} + 1`),
  ],
  [
    'a quote without fees',
    quoted('fees_included = 0, platform_fee = 0'),
    quoted('fees_included = -1, platform_fee = -1'),
  ],
  [
    'a quote whose fees are all that is sent',
    quoted('fees_included = total_sending_amount'),
    quoted('fees_included = total_sending_amount + 1'),
  ],
  ['a quote that earns its platform nothing', quoted('platform_fee = 0'), quoted('platform_fee = -1')],
  [
    'a quote whose fees are all of its platform',
    quoted('platform_fee = fees_included'),
    quoted('platform_fee = fees_included + 1'),
  ],
  ['a quote with the smallest rate', quoted('exchange_rate = 1e-15'), quoted('exchange_rate = 0')],
  [
    'a lock of all that is sent',
    locked('total_sending_amount', 'total_receiving_amount', `'r'`),
    locked('total_sending_amount - 1', 'total_receiving_amount', `'r'`),
  ],
  [
    'a lock of all that is received',
    locked('total_sending_amount', 'total_receiving_amount', `'r'`),
    locked('total_sending_amount', 'total_receiving_amount + 1', `'r'`),
  ],
  [
    'a lock with a reference',
    locked('total_sending_amount', 'total_receiving_amount', `'r'`),
    locked('total_sending_amount', 'total_receiving_amount', 'null'),
  ],
  ['a quote from an account', quoted(`source_kind = 'ACCOUNT'`), quoted('source_account_id = null')],
  [
    'a quote that is funded from outside',
    quoted(`source_kind = 'REALTIME_FUNDING', source_account_id = null`),
    quoted(`source_kind = 'REALTIME_FUNDING'`),
  ],
  ['a quote to an account', quoted(`destination_kind = 'ACCOUNT'`), quoted('destination_account_id = null')],
  [
    'a quote to a UMA address',
    quoted(`destination_kind = 'UMA_ADDRESS', destination_uma_address = '$a@b.test'`),
    quoted(`destination_kind = 'UMA_ADDRESS'`),
  ],
  ['a payment of the least amount sent', paid('sent_amount = 1'), paid('sent_amount = 0')],
  ['a payment of the most sent', paid(`sent_amount = ${most}`), paid(`sent_amount = ${most} + 1`)],
  ['a payment of the least amount received', paid('received_amount = 1'), paid('received_amount = 0')],
  ['a payment of the most received', paid(`received_amount = ${most}`), paid(`received_amount = ${most} + 1`)],
  ['a payment without fees', paid('fees = 0'), paid('fees = -1')],
  [
    'a payment that sends an amount of a currency',
    paid('sent_amount = null, sent_currency = null'),
    paid('sent_currency = null'),
  ],
  [
    'a FAILED payment with a reason',
    paid(`status = 'FAILED', failure_reason = 'QUOTE_EXPIRED'`),
    paid(`status = 'FAILED'`),
  ],
  ['a COMPLETED payment with its time', paid(`status = 'COMPLETED', settled_at = now()`), paid(`status = 'COMPLETED'`)],
  [
    'a refund with its amount',
    paid(`refund_reference = 'R', refund_amount = 1, refund_initiated_at = now()`),
    paid(`refund_reference = 'R', refund_initiated_at = now()`),
  ],
  [
    'a refund with the time of its beginning',
    paid(`refund_reference = 'R', refund_amount = 1, refund_initiated_at = now()`),
    paid(`refund_reference = 'R', refund_amount = 1`),
  ],
  [
    'a REFUNDED payment with its refund',
    paid(`status = 'REFUNDED', refund_reference = 'R', refund_amount = 1, refund_initiated_at = now()`),
    paid(`status = 'REFUNDED'`),
  ],
  [
    'a time to decide on an incoming payment',
    ['incoming', 'approval_due_at = now()'] as const,
    paid('approval_due_at = now()'),
  ],
] as const;
