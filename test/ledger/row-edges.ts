/** The rows that `columns.test.ts` changes. The quote is PENDING, and `payment` is its payment. */
export type Row = 'here' | 'outside' | 'quote' | 'payment';

const most = '9000000000000000';
/** A quote whose rate its rail has locked. One unit of the sent amount is the platform's own fee. */
const locked = (sent: string, received: string, reference: string) =>
  `platform_fee = 1, fees_included = 1, rate_lock = jsonb_build_object('sent', ${sent}, 'received', ${received}, 'reference', ${reference})`;
const [sent, received] = ['total_sending_amount - 1', 'total_receiving_amount'];
const refund = (columns: string) => `refund_reference = 'R', ${columns}`;
const deleted = `is_deleted = true, status = 'INACTIVE'`;

/** Changes to a row, as SQL: the last values that are valid, and the first invalid ones, which the database refuses. */
export const edges: Readonly<Record<Row, [what: string, sound: string, ...broken: string[]][]>> = {
  here: [
    ['an account with a balance of zero', 'posted = 0', 'posted = -1'],
    [
      'an internal account without the fields of an external one',
      'status = null, is_deleted = false, default_uma_deposit_account = false',
      ...[`status = 'ACTIVE'`, `account_type = 'IBAN'`, `account_info = '{}'`, `identifier = '1'`, `bank = '1'`],
      ...[`beneficiary = '{}'`, 'default_uma_deposit_account = true', 'is_deleted = true'],
    ],
  ],
  outside: [
    [
      'an external account with all of its fields',
      `status = 'PENDING', account_type = 'IBAN', account_info = '{}', identifier = '1'`,
      ...['status = null', 'account_type = null', 'account_info = null', 'identifier = null'],
    ],
    ['an external account without a balance', 'posted = 0', 'posted = 1'],
    [
      'a deleted external account that is INACTIVE and not a default',
      deleted,
      ...['is_deleted = true', `${deleted}, default_uma_deposit_account = true`],
    ],
  ],
  quote: [
    [
      'a quote of the minimum sent amount, without fees',
      'total_sending_amount = 1, fees_included = 0, platform_fee = 0',
      'total_sending_amount = 0, fees_included = 0, platform_fee = 0',
    ],
    ['a quote of the maximum sent amount', `total_sending_amount = ${most}`, `total_sending_amount = ${most} + 1`],
    ['a quote of the minimum received amount', 'total_receiving_amount = 1', 'total_receiving_amount = 0'],
    [
      'a quote of the maximum received amount',
      `total_receiving_amount = ${most}`,
      `total_receiving_amount = ${most} + 1`,
    ],
    [
      'a quote whose fees are the whole sent amount',
      'fees_included = total_sending_amount',
      'fees_included = total_sending_amount + 1',
    ],
    ['a quote that earns its platform nothing', 'platform_fee = 0', 'platform_fee = -1'],
    ['a quote whose fees all go to its platform', 'platform_fee = fees_included', 'platform_fee = fees_included + 1'],
    ['a quote with the smallest rate', 'exchange_rate = 1e-15', 'exchange_rate = 0'],
    [
      "a lock of the sent amount less the platform's fee and of the received amount, with a reference",
      locked(sent, received, `'r'`),
      ...[`${sent} - 1`, `${sent} + 1`, 'null'].map((other) => locked(other, received, `'r'`)),
      ...[`${received} - 1`, `${received} + 1`, 'null'].map((other) => locked(sent, other, `'r'`)),
      locked(sent, received, 'null'),
    ],
    ['a quote from an account', `source_kind = 'ACCOUNT'`, 'source_account_id = null'],
    [
      'a quote that is funded from outside',
      `source_kind = 'REALTIME_FUNDING', source_account_id = null`,
      `source_kind = 'REALTIME_FUNDING'`,
    ],
    ['a quote to an account', `destination_kind = 'ACCOUNT'`, 'destination_account_id = null'],
    [
      'a quote to a UMA address',
      `destination_kind = 'UMA_ADDRESS', destination_uma_address = '$a@b.test'`,
      `destination_kind = 'UMA_ADDRESS'`,
    ],
  ],
  payment: [
    ['a payment of the minimum sent amount', 'sent_amount = 1', 'sent_amount = 0'],
    ['a payment of the maximum sent amount', `sent_amount = ${most}`, `sent_amount = ${most} + 1`],
    ['a payment of the minimum received amount', 'received_amount = 1', 'received_amount = 0'],
    ['a payment of the maximum received amount', `received_amount = ${most}`, `received_amount = ${most} + 1`],
    ['a payment without fees', 'fees = 0', 'fees = -1'],
    [
      'a payment that has both a sent amount and its currency, or neither',
      'sent_amount = null, sent_currency = null',
      ...['sent_amount = null', 'sent_currency = null'],
    ],
    ['a FAILED payment with a reason', `status = 'FAILED', failure_reason = 'QUOTE_EXPIRED'`, `status = 'FAILED'`],
    ['a COMPLETED payment with its time', `status = 'COMPLETED', settled_at = now()`, `status = 'COMPLETED'`],
    [
      'a refund with its amount and the time when it began',
      refund('refund_amount = 1, refund_initiated_at = now()'),
      ...[refund('refund_amount = 1'), refund('refund_initiated_at = now()')],
      ...['refund_amount = 1', 'refund_initiated_at = now()'],
    ],
    [
      'a REFUNDED payment with its refund',
      `status = 'REFUNDED', ${refund('refund_amount = 1, refund_initiated_at = now()')}`,
      `status = 'REFUNDED'`,
    ],
    [
      'a payment that was approved by a token other than its creator',
      `created_by = 'ApiToken:' || platform_id, decided_by_id = id`,
      `created_by = 'ApiToken:' || id, decided_by_id = id`,
    ],
  ],
};
