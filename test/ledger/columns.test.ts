import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { proposeAdjustment } from '../../src/domain/commands/adjustments.ts';
import { usdToEur } from '../setup/acts.ts';
import { testClient, tester, testGateway, uuidIn } from '../setup/gateway.ts';

// Tests which columns can change, and to which values. The database itself enforces these rules.

const t = await testGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 600_000 });
const scene = await t.platform.makeScene(10_000n);
const quote = await t.platform.quote(usdToEur(scene));
const { id: incomingId } = await t.platform.announce(scene.customerId, 500);
const proposal = { accountId: scene.usd, amount: 5n, currency: 'USD' };
const proposed = await proposeAdjustment(t.gateway.payments.database, proposal, { ...tester, reason: 'a test' });
const adjustmentId = proposed.id;
const sql = await testClient(t);

beforeEach(() => sql.query('begin'));
afterEach(() => sql.query('rollback'));

/** Updates a row and undoes the update. Returns `done`, `no row` or the SQLSTATE of the database's refusal. */
async function stateOf(table: string, id: string, change: string): Promise<string | undefined> {
  await sql.query('savepoint here');
  const state = await sql.query(`update ${table} set ${change} where id = $1`, [uuidIn(id)]).then(
    ({ rowCount }) => (rowCount === 1 ? 'done' : 'no row'),
    (error: unknown) => (error instanceof pg.DatabaseError ? error.code : String(error)),
  );
  await sql.query('rollback to here; release here');
  return state;
}

function otherValue(column: string, type: string, isEnum: boolean): string {
  if (isEnum) return `(select v from unnest(enum_range(null::${type})) v where v is distinct from ${column} limit 1)`;
  const values: Readonly<Record<string, string>> = {
    uuid: 'uuid_v7()',
    jsonb: `'{"other": "value"}'`,
    bool: `not ${column}`,
    timestamptz: `coalesce(${column}, now()) + interval '1 hour'`,
    text: `concat(${column}, 'x')`,
  };
  return values[type] ?? `coalesce(${column}, 0) + 1`;
}

/** Returns the columns that can change, except the status and the columns that a trigger sets. */
async function changeable(table: string, id: string, move = ''): Promise<string[]> {
  const { rows } = await sql.query(
    `select column_name as name, udt_name as type, data_type = 'USER-DEFINED' as is_enum from information_schema.columns
     where table_schema = 'public' and table_name = $1 order by 1`,
    [table],
  );
  const found: string[] = [];
  for (const { name, type, is_enum: isEnum } of rows) {
    if (['status', 'status_reason', 'version', 'updated_at'].includes(name)) continue;
    const state = await stateOf(table, id, `${move} ${name} = ${otherValue(name, type, isEnum)}`);
    if (state === undefined || !/^LG00[124]$/.test(state)) found.push(name);
  }
  return found;
}

describe('nothing can change', () => {
  test('in a quote except its status', async () => {
    expect(await changeable('quote', quote.id, `status = 'PROCESSING',`)).toEqual([]);
  });

  // A trigger restores the counterparty's name and number (guard_transaction).
  const kept = ['destination_name', 'destination_number'];
  const outcome = [
    ...['counterparty_information', 'expected_settlement_at', 'failure_reason', 'settled_at'],
    ...['refund_amount', 'refund_initiated_at', 'refund_reference', 'refund_settled_at'],
  ];

  test('in an outgoing payment except its outcome', async () => {
    const columns = await changeable('transaction', quote.transaction.id, `status = 'PROCESSING',`);
    // Whoever executes a quote becomes the creator of its payment.
    expect(columns).toEqual([...outcome, ...kept, 'created_by'].sort());
  });

  test('in an incoming payment except its outcome, its approval data and its destination account', async () => {
    const columns = await changeable('transaction', incomingId, `status = 'PROCESSING',`);
    const asked = ['approval_due_at', 'decided_by_id', 'destination_account_id', 'requested_information'];
    expect(columns).toEqual([...outcome, ...kept, ...asked].sort());
  });

  test('in an account, internal or external, except its notes, checks, freeze and deletion', async () => {
    const noted = [
      'beneficiary_verification_status',
      'beneficiary_verified_name',
      'default_uma_deposit_account',
      'frozen_at',
      'is_deleted',
      'metadata',
      'platform_account_id',
    ];
    for (const id of [scene.usd, scene.outsideUsd]) expect(await changeable('account', id)).toEqual(noted);
  });

  test('in a proposed adjustment except its decision', async () => {
    const columns = await changeable('adjustment', adjustmentId, `status = 'REJECTED',`);
    expect(columns).toEqual(['decided_at', 'decided_by', 'decided_reason', 'journal_id']);
  });
});

test("the names and numbers of a payment's parties keep their values, whatever an update sets", async () => {
  const id = uuidIn(quote.transaction.id);
  const read = async () =>
    (await sql.query('select destination_name, destination_number from transaction where id = $1', [id])).rows;
  const before = await read();
  const set = `status = 'PROCESSING', destination_name = 'x', destination_number = 'x'`;
  await sql.query(`update transaction set ${set} where id = $1`, [id]);
  expect(await read()).toEqual(before);
});

test('an adjustment is decided once, and its decision cannot be undone', async () => {
  const decided = (status: string) =>
    `status = '${status}', decided_at = now(), decided_by = 'Ada', decided_reason = 'a test'`;
  expect(await stateOf('adjustment', adjustmentId, `status = 'PROPOSED'`)).toBe('LG003');
  await sql.query(`update adjustment set ${decided('REJECTED')} where id = $1`, [adjustmentId]);
  for (const status of ['REJECTED', 'PROPOSED', 'APPROVED']) {
    expect([status, await stateOf('adjustment', adjustmentId, decided(status))]).toEqual([status, 'LG003']);
  }
});

test('without a new status, a payment can change only to settle its refund', async () => {
  const id = quote.transaction.id;
  const failed = `status = 'FAILED', failure_reason = 'QUOTE_EXECUTION_FAILED'`;
  const paid = 'refund_settled_at = now()';
  expect(await stateOf('transaction', id, `status = 'PENDING', expected_settlement_at = now()`)).toBe('LG003');
  await sql.query(`update transaction set status = 'PROCESSING' where id = $1`, [uuidIn(id)]);
  await sql.query('savepoint without');
  await sql.query(`update transaction set ${failed} where id = $1`, [uuidIn(id)]);
  // No refund has begun.
  expect(await stateOf('transaction', id, paid)).toBe('LG003');
  await sql.query('rollback to without');
  const refunding = `${failed}, refund_reference = 'R', refund_amount = 1`;
  await sql.query(`update transaction set ${refunding} where id = $1`, [uuidIn(id)]);
  expect(await stateOf('transaction', id, `status_reason = 'x'`)).toBe('LG003');
  expect(await stateOf('transaction', id, paid)).toBe('done');
  await sql.query(`update transaction set ${paid} where id = $1`, [uuidIn(id)]);
  expect(await stateOf('transaction', id, paid)).toBe('LG003');
});

test("settlement and refund times come from the database's clock", async () => {
  const id = uuidIn(quote.transaction.id);
  await sql.query(`update transaction set status = 'PROCESSING' where id = $1`, [id]);
  await sql.query(`update transaction set status = 'COMPLETED', settled_at = '2001-01-01' where id = $1`, [id]);
  await sql.query(
    `update transaction set status = 'REFUNDED', refund_reference = 'R', refund_amount = 1,
       refund_initiated_at = '2001-01-01', refund_settled_at = '2001-01-01' where id = $1`,
    [id],
  );
  const { rows } = await sql.query(
    `select settled_at > now() - interval '1 day' as settled, refund_initiated_at = updated_at as begun,
       refund_settled_at = updated_at as paid from transaction where id = $1`,
    [id],
  );
  expect(rows).toEqual([{ settled: true, begun: true, paid: true }]);
});

const rows = {
  here: ['account', scene.usd],
  outside: ['account', scene.outsideUsd],
  quote: ['quote', quote.id],
  payment: ['transaction', quote.transaction.id],
} as const;

const most = '9000000000000000';
/** A quote whose rate is locked by its rail. One unit of the sent amount is the platform's own fee. */
const locked = (sent: string, received: string, reference: string) =>
  `platform_fee = 1, fees_included = 1, rate_lock = jsonb_build_object('sent', ${sent}, 'received', ${received}, 'reference', ${reference})`;
const [sent, received] = ['total_sending_amount - 1', 'total_receiving_amount'];
const refund = (columns: string) => `refund_reference = 'R', ${columns}`;
const deleted = `is_deleted = true, status = 'INACTIVE'`;
/** The smallest and largest amounts that a column accepts. For the smallest, `rest` sets other columns to match. */
const amountsOf = (what: string, column: string, rest = ''): [what: string, sound: string, broken: string][] => [
  [`${what} the minimum`, `${column} = 1${rest}`, `${column} = 0${rest}`],
  [`${what} the maximum`, `${column} = ${most}`, `${column} = ${most} + 1`],
];

/** Changes to a row, as SQL: one at the limit of what is valid, then some beyond it, which the database refuses. */
const edges: Readonly<Record<keyof typeof rows, [what: string, sound: string, ...broken: string[]][]>> = {
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
    ...amountsOf('a quote whose sent amount is', 'total_sending_amount', ', fees_included = 0, platform_fee = 0'),
    ...amountsOf('a quote whose received amount is', 'total_receiving_amount'),
    [
      'a quote whose fees are the whole sent amount',
      'fees_included = total_sending_amount',
      'fees_included = total_sending_amount + 1',
    ],
    ['a quote that earns its platform nothing', 'platform_fee = 0', 'platform_fee = -1'],
    ['a quote whose fees all go to its platform', 'platform_fee = fees_included', 'platform_fee = fees_included + 1'],
    ['a quote with the smallest rate', 'exchange_rate = 1e-15', 'exchange_rate = 0'],
    [
      "a quote whose lock has a reference, the received amount, and the sent amount less the platform's fee",
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
    ...amountsOf('a payment whose sent amount is', 'sent_amount'),
    ...amountsOf('a payment whose received amount is', 'received_amount'),
    ['a payment without fees', 'fees = 0', 'fees = -1'],
    [
      'a payment that has both a sent amount and its currency, or neither',
      'sent_amount = null, sent_currency = null',
      ...['sent_amount = null', 'sent_currency = null'],
    ],
    ['a FAILED payment with a reason', `status = 'FAILED', failure_reason = 'QUOTE_EXPIRED'`, `status = 'FAILED'`],
    ['a COMPLETED payment with a settlement time', `status = 'COMPLETED', settled_at = now()`, `status = 'COMPLETED'`],
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

describe.each(Object.keys(rows) as (keyof typeof rows)[])('%s', (name) => {
  test.each(edges[name])('a row may be %s, and any change beyond that is refused', async (_what, sound, ...broken) => {
    // The triggers are disabled, because they would refuse most of these changes for other reasons.
    await sql.query('set local session_replication_role = replica');
    const [table, id] = rows[name];
    expect(await stateOf(table, id, sound)).toBe('done');
    for (const change of broken) expect([change, await stateOf(table, id, change)]).toEqual([change, '23514']);
  });
});
