import type { Bug } from './plant.ts';

const sql = (name: string) => `prisma/functions/${name}.sql`;
const columns = (title: string) => ({ file: 'test/ledger/columns.test.ts', title });
const plan = (title: string) => ({ file: 'test/ledger/plan-checks.test.ts', title });
const locked = (title: string) => ({ file: 'test/ledger/locks.test.ts', title });
const clock = (title: string) => ({ file: 'test/work/clock.test.ts', title });
const receiver = (title: string) => ({ file: 'test/payments/able-receivers.test.ts', title });
const frozen = (title: string) => ({ file: 'test/payments/freezing.test.ts', title });
const coming = (title: string) => ({ file: 'test/payments/coming-money.test.ts', title });
const row = columns('a row may be %s, and nothing beyond it');
const movedBack = clock('moves back what waits in %s');
const decision = 'an adjustment is decided once, and its decision is not taken back';
const sameStatus = 'a payment that keeps its status changes in nothing but a refund that waited and is paid now';
const times = 'when a payment was settled and its refund begun is what the clock of the database said';
const incoming =
  'of an incoming payment but what comes of it, the question to its platform, and the account that it goes to';
const waits = 'a plan waits for whoever %s, and is refused for what that has become';
const rejected = receiver('is rejected, and its money is back: it %s');
const tokens = {
  file: 'test/access/ended-tokens.test.ts',
  title: 'streams of a client token end once it has %s, and those of a living one go on',
};
const deletion = {
  file: 'test/payments/customer-deletion.test.ts',
  title: 'leaves no living client token, and those that had ended before stay as they ended',
};
const onlyDefaults = {
  file: 'test/payments/external-account-changes.test.ts',
  title: 'a new default deposit account changes the one before, each once, and no other account',
};

/** Bugs in a single condition of the database's functions: loosened by one, or left out. */
export const edgeBugs: readonly Bug[] = [
  {
    bug: 'a return takes the fee back only where the account of the platform holds more than the fee',
    file: sql('lease_rail_orders'),
    find: 'pa.posted >= q.platform_fee',
    put: 'pa.posted > q.platform_fee',
    caughtBy: {
      file: 'test/payments/failures.test.ts',
      title:
        'takes the fee back to its last unit from an account that holds no more, and nothing from one that lacks a unit',
    },
  },
  {
    bug: 'a payment that its bank returns waits for as long as the account of the platform is frozen',
    file: sql('lease_rail_orders'),
    find: ' and (pa.frozen_at is null or pa.id = s.id)',
    put: '',
    caughtBy: frozen(
      'of the platform gives no fee back: a payment that its bank returns is refunded whole, and the service bears the fee',
    ),
  },
  {
    bug: 'a change of an external account ignores the version that it was made for',
    file: sql('check_accounts'),
    find: ' or v_account.version <> coalesce(v_move.version, v_account.version)',
    put: '',
    caughtBy: plan('a change of an external account that was made for an earlier version of it is refused'),
  },
  {
    bug: 'the streams of a client token outlive its expiry',
    file: sql('find_token_rights'),
    find: '\n    and t.expires_at > clock_timestamp()',
    put: '',
    caughtBy: tokens,
  },
  {
    bug: 'the streams of a revoked client token go on',
    file: sql('find_token_rights'),
    find: 'join client_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null',
    put: 'join client_token t on t.platform_id = s.platform_id and t.id = s.id',
    caughtBy: tokens,
  },
  {
    bug: 'a deletion revokes the expired tokens of its customer',
    file: sql('apply_owner_changes'),
    find: '\n          and expires_at > statement_timestamp()',
    put: '',
    caughtBy: deletion,
  },
  {
    bug: 'a deletion revokes the revoked tokens of its customer again',
    file: sql('apply_owner_changes'),
    find: ' and revoked_at is null\n',
    put: '\n',
    caughtBy: deletion,
  },
  {
    bug: 'a new default deposit account changes all accounts of its customer',
    file: sql('apply_owner_changes'),
    find: '\n        and default_uma_deposit_account;',
    put: ';',
    caughtBy: onlyDefaults,
  },
  {
    bug: 'an account that is the default already changes twice when it is made the default',
    file: sql('apply_owner_changes'),
    find: ' and id <> v_account.id\n',
    put: '\n',
    caughtBy: onlyDefaults,
  },
  {
    bug: 'an account that is registered as the default changes all accounts of its customer',
    file: sql('apply_registrations'),
    find: ' and a.default_uma_deposit_account;',
    put: ';',
    caughtBy: onlyDefaults,
  },
  {
    bug: 'a change of an account takes away the reason of its status',
    file: sql('apply_owner_changes'),
    find: "coalesce(v_item ->> 'reason', status_reason)",
    put: "v_item ->> 'reason'",
    caughtBy: {
      file: 'test/payments/external-account-changes.test.ts',
      title: 'the reason of a status stays with it, whatever else changes',
    },
  },
  {
    bug: 'the lookup of a quote can change',
    file: sql('guard_quote'),
    find: '  v_else.status_reason := old.status_reason;',
    put: '  v_else.status_reason := old.status_reason;\n  v_else.lookup_id := old.lookup_id;',
    caughtBy: columns('of a quote but its status'),
  },
  {
    bug: 'the details of the rate of a payment can change',
    file: sql('guard_transaction'),
    find: 'new.rate_details, new.description)',
    put: 'old.rate_details, new.description)',
    caughtBy: columns('of an outgoing payment but what comes of it'),
  },
  {
    bug: 'an outgoing payment can go to another account',
    file: sql('guard_transaction'),
    find: "old.type = 'OUTGOING' and",
    put: "old.type = 'INCOMING' and",
    caughtBy: columns('of an outgoing payment but what comes of it'),
  },
  {
    bug: 'the amount of an incoming payment can change',
    file: sql('guard_transaction'),
    find: 'new.metadata, new.received_amount,',
    put: 'new.metadata, old.received_amount,',
    caughtBy: columns(incoming),
  },
  {
    bug: 'the beneficiary of an account can change',
    file: sql('guard_account'),
    find: 'new.identifier, new.bank, new.beneficiary)',
    put: 'new.identifier, new.bank, old.beneficiary)',
    caughtBy: columns('of an account, here or outside, but what is noted on it, its checks, its freeze and its end'),
  },
  {
    bug: 'the kind of an account can change',
    file: sql('guard_account'),
    find: 'new.created_at, new.kind,',
    put: 'new.created_at, old.kind,',
    caughtBy: columns('of an account, here or outside, but what is noted on it, its checks, its freeze and its end'),
  },
  {
    bug: 'the reason of a proposed adjustment can change',
    file: sql('guard_adjustment'),
    find: 'new.currency, new.reason,',
    put: 'new.currency, old.reason,',
    caughtBy: columns('of a proposed adjustment but its decision'),
  },
  {
    bug: 'an adjustment is decided twice',
    file: sql('guard_adjustment'),
    find: "old.status <> 'PROPOSED' or ",
    put: '',
    caughtBy: columns(decision),
  },
  {
    bug: 'the decision on an adjustment is taken back',
    file: sql('guard_adjustment'),
    find: " or new.status = 'PROPOSED' then",
    put: ' then',
    caughtBy: columns(decision),
  },
  {
    bug: 'a refund in suspense is paid again',
    file: sql('guard_transaction'),
    find: ' and old.refund_settled_at is null and new.refund',
    put: ' and new.refund',
    caughtBy: columns(sameStatus),
  },
  {
    bug: 'the name at the other end of a payment can change',
    file: sql('guard_transaction'),
    find: '    new.destination_name := old.destination_name;\n',
    put: '',
    caughtBy: columns('a name at the other end of a payment stays as it was, whatever an update says'),
  },
  {
    bug: 'a payment was settled when an update says so',
    file: sql('guard_transaction'),
    find: '    new.settled_at := new.updated_at;',
    put: '    new.settled_at := coalesce(new.settled_at, new.updated_at);',
    caughtBy: columns(times),
  },
  {
    bug: 'a refund has begun when an update says so',
    file: sql('guard_transaction'),
    find: '    new.refund_initiated_at := new.updated_at;\n',
    put: '',
    caughtBy: columns(times),
  },
  ...(
    [
      [
        'an account here is a default deposit account',
        'account',
        ' and not a.default_uma_deposit_account\n            and',
        '\n            and',
      ],
      ['an account outside has a balance', 'account', ' and a.posted = 0\n', '\n'],
      ['a deleted account outside is a default', 'account', ' and not a.default_uma_deposit_account)', ')'],
      [
        'a quote sends nothing',
        'quote',
        'return q.total_sending_amount between 1 and',
        'return q.total_sending_amount between 0 and',
      ],
      [
        'a quote receives a unit more than the most',
        'quote',
        'q.total_receiving_amount between 1 and 9000000000000000',
        'q.total_receiving_amount between 1 and 9000000000000001',
      ],
      [
        'the fees of a quote are more than is sent',
        'quote',
        'q.fees_included between 0 and q.total_sending_amount',
        'q.fees_included between 0 and q.total_sending_amount + 1',
      ],
      [
        'a platform earns more than the fees of a quote',
        'quote',
        'q.platform_fee between 0 and q.fees_included',
        'q.platform_fee between 0 and q.fees_included + 1',
      ],
      ['a quote has a rate of nothing', 'quote', 'q.exchange_rate > 0', 'q.exchange_rate >= 0'],
      [
        'a lock takes less than is sent',
        'quote',
        '= q.total_sending_amount - q.platform_fee',
        '<= q.total_sending_amount - q.platform_fee',
      ],
      ['a payment has negative fees', 'transaction', 't.fees >= 0', 't.fees >= -1'],
      [
        'a payment is COMPLETED at no time',
        'transaction',
        "\n    and (t.status <> 'COMPLETED' or t.settled_at is not null)",
        '',
      ],
      [
        'a payment is REFUNDED without a refund',
        'transaction',
        "\n    and (t.status <> 'REFUNDED' or t.refund_reference is not null)",
        '',
      ],
      [
        'an outgoing payment waits for its platform',
        'transaction',
        "(t.approval_due_at is null or t.type = 'INCOMING')",
        'true',
      ],
    ] as const
  ).map(([bug, of, find, put]) => ({ bug, file: sql(`is_sound_${of}`), find, put, caughtBy: row })),
  {
    bug: 'the end of a case of another amount closes other cases of the payment, too',
    file: sql('apply_plans'),
    find: " and c.kind = 'OTHER_AMOUNT'",
    put: '',
    caughtBy: plan('is booked for the case of another amount, and leaves a case of another outcome open'),
  },
  {
    bug: 'a difference is booked for a closed case',
    file: sql('check_difference'),
    find: 'case when v_stored.closed_at is not null then',
    put: 'case when false then',
    caughtBy: plan('is not booked once its case is closed'),
  },
  {
    bug: 'a difference is booked for a case of another outcome',
    file: sql('check_difference'),
    find: " and kind = 'OTHER_AMOUNT'",
    put: '',
    caughtBy: plan('is not booked for a case of another outcome'),
  },
  {
    bug: 'a difference closes two cases',
    file: sql('check_difference'),
    find: " or jsonb_array_length(p_plan -> 'cases') <> 1",
    put: '',
    caughtBy: plan('is booked with no other case beside it'),
  },
  {
    bug: 'a deposit is credited beside any quote that was not paid',
    file: sql('check_expired'),
    find: " or q.status <> 'EXPIRED'",
    put: '',
    caughtBy: plan('a deposit is credited beside a quote that is EXPIRED, and for no other'),
  },
  {
    bug: 'an adjustment is approved beside its rejection',
    file: sql('lock_plans'),
    find: "plan.adjustments[*].id')))\n    order by platform_id, id for no key update",
    put: "plan.adjustments[*].id')))\n    order by platform_id, id",
    caughtBy: locked(waits),
  },
  {
    bug: 'a case is settled beside its end',
    file: sql('lock_plans'),
    find: "and order_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.cases[*].order_id')))",
    put: 'and false',
    caughtBy: locked(waits),
  },
  {
    bug: 'customers who only take part are not locked beside others that change',
    file: sql('lock_plans'),
    find: 'perform from customer where platform_id = any (v_platforms) and id = any (v_changed || v_active)',
    put: 'perform from customer where platform_id = any (v_platforms) and id = any (v_changed)',
    caughtBy: locked(waits),
  },
  {
    bug: 'accounts outside that only take part are not locked beside others that change',
    file: sql('lock_plans'),
    find: "kind = 'EXTERNAL' and id = any (v_changed || v_active)",
    put: "kind = 'EXTERNAL' and id = any (v_changed)",
    caughtBy: locked(waits),
  },
  ...(
    [
      ['account_check', 'due_at'],
      ['identity_check', 'due_at'],
      ['rail_webhook', 'due_at'],
      ['rail_deposit', 'due_at'],
      ['rail_connection', 'deposits_due_at'],
    ] as const
  ).map(([table, column]) => ({
    bug: `what waits in ${table} waits for as long as the clock was set back`,
    file: sql('follow_clock'),
    find: `update ${table} set ${column} = ${column} - v_step where ${column} > v_ahead;`,
    put: 'null;',
    caughtBy: movedBack,
  })),
  {
    bug: 'after a small step back of the clock what is due soon is late',
    file: sql('follow_clock'),
    find: "least(v_step / 2, interval '10 seconds')",
    put: "interval '10 seconds'",
    caughtBy: clock('what is due in %s is by a step of %s moved %s minutes: ten seconds and half of a step stay'),
  },
  {
    bug: 'a step back of the clock after a step forward is not seen',
    file: sql('follow_clock'),
    find: "if v_step < interval '-1 second' then",
    put: 'if false then',
    caughtBy: clock('is seen after a step forward, too'),
  },
  {
    bug: 'the clock is set back whenever it stands still for a moment',
    file: sql('follow_clock'),
    find: "if v_step <= interval '1 second' then",
    put: "if v_step <= interval '0.5 seconds' then",
    caughtBy: clock('is one of more than a second, and is seen once'),
  },
  ...(
    [
      ['deleted', ' and not r.is_deleted'],
      ['frozen', ' and r.frozen_at is null'],
    ] as const
  ).map(([what, find]) => ({
    bug: `a ${what} customer is found at its address`,
    file: sql('find_receiver'),
    find,
    put: '',
    caughtBy: receiver('a customer whose identity is %s is found at its address: %s'),
  })),
  {
    bug: 'a frozen account that is INACTIVE is registered again',
    file: sql('check_registrations'),
    find: ' or a.frozen_at is not null)',
    put: ')',
    caughtBy: frozen('outside is not registered again either, though it is INACTIVE; once it is thawed, it is'),
  },
  {
    bug: 'a customer who changes its address does not get that of one who is deleted',
    file: sql('check_customers'),
    find: ' and not c.is_deleted\n',
    put: '\n',
    caughtBy: { file: 'test/payments/customers.test.ts', title: 'leaves its UMA address to others' },
  },
  {
    bug: 'a customer whom a person has approved is not found at its address',
    file: sql('find_receiver'),
    find: "('APPROVED', 'MANUALLY_APPROVED')",
    put: "('APPROVED')",
    caughtBy: receiver('a customer whose identity is %s is found at its address: %s'),
  },
  {
    bug: 'a default deposit account that is not ACTIVE names the first currency of a lookup',
    file: sql('find_receiver'),
    find: "\n    and d.status = 'ACTIVE'",
    put: '',
    caughtBy: receiver(
      'the currency of the default deposit account comes first in a lookup, while that account is ACTIVE',
    ),
  },
  {
    bug: 'a payment to a receiver who may receive nothing any more waits for ever',
    file: sql('lease_rail_orders'),
    find: "r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and ",
    put: '',
    caughtBy: rejected,
  },
  {
    bug: 'a payment goes to the default deposit account, whatever its currency',
    file: sql('lease_rail_orders'),
    find: ' and rd.currency = t.received_currency',
    put: '',
    caughtBy: receiver(
      'a default deposit account in another currency gets nothing: the money comes to the account in its own',
    ),
  },
  {
    bug: 'money of a payment that is PROCESSING does not count as coming',
    file: sql('check_capacity'),
    find: "('PENDING', 'PROCESSING')",
    put: "('PENDING')",
    caughtBy: coming('of a payment that is PROCESSING'),
  },
  {
    bug: 'money that is coming counts once for each order that its payment had',
    file: sql('check_capacity'),
    find: 'o.due_at is not null and ',
    put: '',
    caughtBy: coming('of a payment whose money was pulled first: the order that is done counts no more'),
  },
];
