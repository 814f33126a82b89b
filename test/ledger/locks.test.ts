import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { maxAmount } from '../../src/core/checks.ts';
import { approveAdjustment, proposeAdjustment } from '../../src/domain/commands/adjustments.ts';
import { adjustment, deposit } from '../../src/domain/commands/movements.ts';
import { commitPlanOn } from '../../src/domain/ledger/commit.ts';
import type { Plan } from '../../src/domain/ledger/plan.ts';
import { deferApproval } from '../../src/domain/orders/orders.ts';
import { quoteEnd } from '../../src/domain/quotes/execute-quote.ts';
import { between, sender, usdToEur } from '../setup/acts.ts';
import { type Data, ownClient, tester, testGateway, untriggered, uuidIn } from '../setup/gateway.ts';
import { patient, waitForLocks } from '../setup/locks.ts';
import type { Scene } from '../setup/scene.ts';

// A plan locks the rows that it changes or depends on before it reads any of them. In each test, another connection
// is changing a row when the plan arrives, and the plan must be refused because of the row's new state. Without the
// lock, the plan would use the old state, and would either be executed or violate a table constraint.

const t = await testGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 600_000 }, undefined, { pace: patient });
let scene: Scene;
let quoted: Data;
let holder: pg.Client;
let client: pg.Client;
beforeEach(async () => {
  scene = await t.platform.makeScene(10_000n);
  quoted = await t.platform.quote(usdToEur(scene));
  holder = await ownClient(t.databaseUrl, untriggered);
  client = await ownClient(t.databaseUrl);
});

const toProcessing = { from: ['PENDING'], to: 'PROCESSING' } as const;

/** Makes a call while another connection locks a row, changes it and then releases it. */
async function whileLocked<T>(table: string, id: string, call: () => Promise<T>, change: string): Promise<T> {
  await holder.query('begin');
  await holder.query(`select from ${table} where id = $1 for update`, [id]);
  const answer = call();
  // Continues once the call is waiting for the lock, or has finished without waiting.
  await Promise.race([waitForLocks(holder, 1), answer]);
  await holder.query(change);
  await holder.query('commit');
  return answer;
}

/** Returns the refusal of a plan that waits for the lock while the row changes. */
async function refusalAfter(table: string, id: string, change: string, plan: Plan): Promise<unknown> {
  const commit = () => commitPlanOn(client, t.platform.platformId, plan);
  const outcome = await whileLocked(table, id, commit, `update ${table} set ${change} where id = '${id}'`);
  return outcome.kind === 'refused' ? outcome.refusal : outcome;
}

/** Expires a quote together with its transaction, because the auditor requires their statuses to agree. */
async function expireBoth(): Promise<void> {
  const reason = `status = 'EXPIRED', failure_reason = 'QUOTE_EXPIRED'`;
  await holder.query(`update quote set status = 'EXPIRED' where id = $1`, [uuidIn(quoted.id)]);
  await holder.query(`update transaction set ${reason} where id = $1`, [uuidIn(quoted.transaction.id)]);
}

type Case = readonly [table: string, id: string, change: string, plan: Plan, refusal: object];

const stops = `kyc_status = 'REJECTED'`;
const inactive = `status = 'INACTIVE'`;
const review = { from: ['ACTIVE'], to: 'UNDER_REVIEW', reason: 'looked at' } as const;
const decided = (what: string) => `${what}_at = now(), ${what}_by = 'Grace', ${what}_reason = 'a test'`;
const expiring = (change: string): Case => {
  const id = uuidIn(quoted.id);
  const plan: Plan = { quotes: [{ id, ...toProcessing, expiry: 'before' }] };
  return ['quote', id, change, plan, { code: 'QUOTE_EXPIRED', id }];
};
const cases: Readonly<Record<string, () => Case | Promise<Case>>> = {
  'changes its quote': () => expiring(`status = 'EXPIRED'`),
  // The quote expires after the plan's transaction has begun. A plan that used the start time would miss this.
  'holds its quote until it expires': () => expiring('expires_at = clock_timestamp()'),
  'executes the quote that the plan expires': () => {
    const id = uuidIn(quoted.id);
    const plan = quoteEnd({ id, transactionId: uuidIn(quoted.transaction.id) }, 'it is late', 'after');
    const change = `status = 'PROCESSING', expires_at = clock_timestamp()`;
    return ['quote', id, change, plan, { code: 'CONFLICT', type: 'Quote', id, status: 'PROCESSING' }];
  },
  'changes its transaction': () => {
    const id = uuidIn(quoted.transaction.id);
    const change = `status = 'EXPIRED', failure_reason = 'QUOTE_EXPIRED'`;
    const refusal = { code: 'CONFLICT', type: 'Transaction', id, status: 'EXPIRED' };
    return ['transaction', id, change, { transactions: [{ id, ...toProcessing }] }, refusal];
  },
  'closes its order': async () => {
    const transaction = await t.platform.pay(scene);
    const text = 'select id from rail_order where transaction_id = $1';
    const { id } = (await holder.query(text, [uuidIn(transaction.id)])).rows[0];
    const refusal = { code: 'CONFLICT', id, status: 'CLOSED' };
    return ['rail_order', id, 'due_at = null', { orders: [{ id, dueInMs: 1_000 }] }, refusal];
  },
  'deletes the customer that the plan changes': () => {
    const id = uuidIn(scene.customerId);
    const plan: Plan = { customers: [{ id, set: { name: 'Grace Brewster Hopper' } }] };
    return ['customer', id, 'is_deleted = true', plan, { code: 'CUSTOMER_DELETED', id }];
  },
  'rejects a customer that the plan requires to be active': () => {
    const id = uuidIn(scene.customerId);
    const refusal = { code: 'USER_NOT_READY', id, kycStatus: 'REJECTED' };
    return ['customer', id, stops, { requireActive: { customers: [id] } }, refusal];
  },
  'freezes a customer that the plan requires to be active': () => {
    const id = uuidIn(scene.customerId);
    return [
      'customer',
      id,
      'frozen_at = clock_ms()',
      { requireActive: { customers: [id] } },
      { code: 'CUSTOMER_FROZEN' },
    ];
  },
  'rejects a customer that the plan requires to be active, while the plan changes another': async () => {
    const [id, other] = [uuidIn(scene.customerId), uuidIn((await t.platform.makeScene(0n)).customerId)];
    const customers = [{ id: other, set: { name: 'Ada Lovelace' } }];
    return ['customer', id, stops, { customers, requireActive: { customers: [id] } }, { code: 'USER_NOT_READY', id }];
  },
  'changes the external account that the plan also changes': () => {
    const id = uuidIn(scene.outsideUsd);
    const refusal = { code: 'CONFLICT', type: 'ExternalAccount', id, status: 'INACTIVE' };
    return ['account', id, inactive, { accounts: [{ id, ...review }] }, refusal];
  },
  'deactivates an external account that the plan requires to be active': () => {
    const [id, customerId] = [uuidIn(scene.outsideUsd), uuidIn(scene.customerId)];
    const refusal = { code: 'INVALID_BANK_ACCOUNT', id, customerId, status: 'INACTIVE' };
    return ['account', id, inactive, { requireActive: { accounts: [id] } }, refusal];
  },
  'deactivates an external account that the plan requires to be active, while the plan changes another': async () => {
    const [id, other] = [uuidIn(scene.outsideUsd), uuidIn((await t.platform.makeScene(0n)).outsideUsd)];
    const plan: Plan = { accounts: [{ id: other, ...review }], requireActive: { accounts: [id] } };
    return ['account', id, inactive, plan, { code: 'INVALID_BANK_ACCOUNT', id }];
  },
  'rejects the adjustment that the plan approves': async () => {
    const proposal = { accountId: scene.usd, amount: 5n, currency: 'USD' };
    const proposed = await proposeAdjustment(t.gateway.payments.database, proposal, { ...tester, reason: 'a test' });
    const { id } = proposed;
    const plan: Plan = { adjustments: [{ id, by: 'Ada' }], journals: [adjustment(uuidIn(scene.usd), 'USD', 5n)] };
    const change = `status = 'REJECTED', ${decided('decided')}`;
    return ['adjustment', id, change, plan, { code: 'CONFLICT', id, status: 'REJECTED' }];
  },
  'closes the case that the plan settles': async () => {
    const transactionId = uuidIn((await t.platform.pay(scene, 100)).id);
    const { rows } = await holder.query(
      `insert into rail_case (platform_id, order_id, transaction_id, kind, said, stands)
       select platform_id, id, transaction_id, 'OTHER_AMOUNT', 'said', 'stands' from rail_order where transaction_id = $1
       returning id, order_id`,
      [transactionId],
    );
    const { id, order_id: orderId } = rows[0];
    const legs = [
      { system: 'OUTSIDE', currency: 'USD', amount: 1n },
      { system: 'DIFFERENCES', currency: 'USD', amount: -1n },
    ] as const;
    const plan: Plan = {
      orders: [{ id: orderId, dueInMs: null }],
      cases: [{ orderId, by: 'Ada', reason: 'a test', movedOut: 101n, movedIn: null }],
      journals: [{ kind: 'difference', transactionId, legs }],
    };
    return ['rail_case', id, decided('closed'), plan, { code: 'CONFLICT', id: transactionId, status: 'CLOSED' }];
  },
};

test.each(Object.entries(cases))(
  'a plan waits for a transaction that %s, and is refused because of the new state',
  async (_who, made) => {
    const [table, id, change, plan, refusal] = await made();
    expect(await refusalAfter(table, id, change, plan)).toMatchObject(refusal);
    if (id === uuidIn(quoted.id) || id === uuidIn(quoted.transaction.id)) await expireBoth();
  },
);

test('a decision that waits for a lock until its deadline has passed is refused', async () => {
  for (const name of ['approveTransaction', 'rejectTransaction'] as const) {
    const transaction = await t.platform.announce(scene.customerId, 5_000);
    const over = `update transaction set approval_due_at = clock_timestamp() where id = '${uuidIn(transaction.id)}' returning approval_due_at`;
    const decide = () => t.platform.actOn(name, { transactionId: transaction.id });
    expect(await whileLocked('transaction', uuidIn(transaction.id), decide, over)).toMatchObject({
      code: 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
      message: expect.stringMatching(/^the deadline for a decision was 2/),
      path: ['input', 'transactionId'],
    });
    expect(await t.platform.transactionOf(transaction.id)).toMatchObject({ status: 'PENDING' });
  }
});

test('a platform that responds "later" after the deadline counts as not having responded', async () => {
  const id = uuidIn((await t.platform.announce(scene.customerId, 5_000)).id);
  const isDeferred = async () => {
    await deferApproval(t.gateway.payments.database.pool, t.platform.platformId, id);
    const { rows } = await holder.query('select approval_deferred from rail_order where transaction_id = $1', [id]);
    return rows[0].approval_deferred;
  };
  const due = (moment: string) =>
    holder.query(`update transaction set approval_due_at = ${moment} where id = $1`, [id]);
  await due('clock_timestamp()');
  expect(await isDeferred()).toBe(false);
  await due("clock_timestamp() + interval '1 hour'");
  expect(await isDeferred()).toBe(true);
});

test('a quote whose lookup expires while the quote waits for a lock is refused', async () => {
  const receiver = await t.platform.makeScene(0n);
  const umaAddress = await t.platform.umaAddressOf(receiver.customerId);
  const lookup = await t.platform.lookUp(umaAddress);
  const destination = { uma: { umaAddress, currency: 'USD' } };
  const rest = { destination, lookupId: lookup.id, senderCustomerInfo: sender };
  const input = between(scene.usd, '', 1_000, rest);
  const change = `update lookup set expires_at = clock_timestamp() where id = '${uuidIn(lookup.id)}'`;
  const create = () => t.platform.act('createQuote', input);
  expect(await whileLocked('customer', uuidIn(scene.customerId), create, change)).toMatchObject({
    code: 'LOOKUP_REQUEST_NOT_FOUND',
    message: 'the lookup has expired; look the receiver up again',
    path: ['input', 'lookupId'],
  });
});

test("an update that repeats a customer's name does not undo a concurrent change to the name", async () => {
  const { customerId } = scene;
  const { name } = (await holder.query('select name from customer where id = $1', [uuidIn(customerId)])).rows[0];
  const details = { individual: { fullName: name, nationality: 'FR' } };
  const update = () => t.platform.act('updateCustomer', { customerId, details });
  const change = `update customer set name = 'Somebody Else', kyc_status = 'REJECTED' where id = '${uuidIn(customerId)}'`;
  expect(await whileLocked('customer', uuidIn(customerId), update, change)).toMatchObject({ replayed: false });
  const { rows } = await holder.query('select name, nationality, kyc_status from customer where id = $1', [
    uuidIn(customerId),
  ]);
  expect(rows).toEqual([{ name: 'Somebody Else', nationality: 'FR', kyc_status: 'REJECTED' }]);
});

test('an adjustment that waited for its account is dated after the preceding entries', async () => {
  const { database } = t.gateway.payments;
  const correction = { accountId: scene.usd, amount: 5n, currency: 'USD' };
  const proposed = await proposeAdjustment(database, correction, { ...tester, reason: 'a test' });
  const account = uuidIn(scene.usd);
  await client.query('begin');
  await client.query('select from account where id = $1 for update', [account]);
  const approval = approveAdjustment(database, `Adjustment:${proposed.id}`, { ...tester, by: 'another' });
  await waitForLocks(client, 1);
  await commitPlanOn(client, t.platform.platformId, { journals: [deposit(account, 'USD', 7n)] });
  await client.query('commit');
  const { journalId } = await approval;
  const { rows } = await client.query(
    `select j.kind, j.id from posting p join journal j on j.platform_id = p.platform_id and j.id = p.journal_id
     where p.account_id = $1 order by p.account_version desc limit 2`,
    [account],
  );
  expect(rows.map(({ kind }) => kind)).toEqual(['adjustment', 'deposit']);
  expect(rows[0].id).toBe(journalId);
  expect(rows[0].id > rows[1].id).toBe(true);
});

test('a plan waits for other changes to the account that it credits, and then sees the resulting balance', async () => {
  const account = uuidIn(scene.usd);
  const plan: Plan = { journals: [deposit(account, 'USD', maxAmount / 2n)] };
  await holder.query('begin');
  await holder.query('select from account where id = $1 for update', [account]);
  const other = await ownClient(t.databaseUrl);
  const commits = [client, other].map((one) => commitPlanOn(one, t.platform.platformId, plan));
  await waitForLocks(holder, 1);
  await holder.query('rollback');
  const outcomes = await Promise.all(commits);
  const codes = outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind));
  expect(codes.sort()).toEqual(['AMOUNT_OUT_OF_RANGE', 'done']);
});
