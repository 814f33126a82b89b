import type { Bugs } from './plant.ts';

/** Bugs in a single condition of the database's functions: weakened by one, or omitted. */
export const edgeBugs: Bugs = {
  'test/payments/failures.test.ts': {
    "a return takes back the fee only if the platform's account holds more than the fee": {
      file: 'prisma/functions/leases/lease_rail_orders.sql',
      find: 'pa.posted >= q.platform_fee',
      put: 'pa.posted > q.platform_fee',
      test: 'takes back the whole fee from an account that holds just that, and nothing if a unit is missing',
    },
  },
  'test/payments/freezing.test.ts': {
    "a returned payment waits for as long as the platform's account is frozen": {
      file: 'prisma/functions/leases/lease_rail_orders.sql',
      find: ' and (pa.frozen_at is null or pa.id = s.id)',
      test: 'that belongs to the platform returns no fees: the service bears the fee of a returned payment',
    },
    'a frozen account that is INACTIVE is registered again': {
      file: 'prisma/functions/commit/check_registrations.sql',
      find: ' or a.frozen_at is not null)',
      put: ')',
      test: 'outside cannot be registered again while frozen, even if it is INACTIVE; once thawed, it can',
    },
  },
  'test/ledger/plan-checks.test.ts': {
    'a change of an external account ignores the version that it was made for': {
      file: 'prisma/functions/commit/check_version.sql',
      find: "    when 'Account' then select version into v_version from account where platform_id = p_platform and id = v_id;",
      put: "    when 'Account' then v_version := (p_expected ->> 'version')::int;",
      test: 'a change of an external account based on another version is refused',
    },
    'closing a case about an amount also closes other cases of the payment': {
      file: 'prisma/functions/commit/apply_plans.sql',
      find: " and c.kind = 'OTHER_AMOUNT'",
      test: 'is booked for the case of another amount, and leaves a case of another outcome open',
    },
    'a difference is booked for a closed case': {
      file: 'prisma/functions/commit/check_difference.sql',
      find: 'case when v_stored.closed_at is not null then',
      put: 'case when false then',
      test: 'is not booked once its case is closed',
    },
    'a difference is booked for a case about the outcome': {
      file: 'prisma/functions/commit/check_difference.sql',
      find: " and kind = 'OTHER_AMOUNT'",
      test: 'is not booked for a case of another outcome',
    },
    'a difference closes two cases': {
      file: 'prisma/functions/commit/check_difference.sql',
      find: " or jsonb_array_length(p_plan -> 'cases') <> 1",
      test: 'is booked only one case at a time',
    },
    'a deposit is credited beside any quote that was not paid': {
      file: 'prisma/functions/commit/check_expired.sql',
      find: " or q.status <> 'EXPIRED'",
      test: 'a deposit is credited for an EXPIRED quote, and for no other',
    },
  },
  'test/access/ended-tokens.test.ts': {
    'the streams of a client token outlive its expiry': {
      file: 'prisma/functions/access/find_token_rights.sql',
      find: `
    and t.expires_at > clock_timestamp()`,
      test: 'streams of a client token end once it has %s, and those of a valid one continue',
    },
    'the streams of a revoked client token continue': {
      file: 'prisma/functions/access/find_token_rights.sql',
      find: 'join client_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null',
      put: 'join client_token t on t.platform_id = s.platform_id and t.id = s.id',
      test: 'streams of a client token end once it has %s, and those of a valid one continue',
    },
  },
  'test/payments/customer-deletion.test.ts': {
    'a deletion revokes the expired tokens of its customer': {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: `
          and expires_at > statement_timestamp()`,
      test: 'has no live client tokens, and tokens that had ended earlier keep their end',
    },
    'a deletion revokes the revoked tokens of its customer again': {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: ` and revoked_at is null
`,
      put: `
`,
      test: 'has no live client tokens, and tokens that had ended earlier keep their end',
    },
  },
  'test/payments/external-account-changes.test.ts': {
    "a new default deposit account changes all of its customer's accounts": {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: `
        and default_uma_deposit_account;`,
      put: ';',
      test: 'a new default deposit account changes itself and its predecessor, once each, and no other account',
    },
    'an account that is already the default changes twice when it is set as the default': {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: ` and id <> v_account.id
`,
      put: `
`,
      test: 'a new default deposit account changes itself and its predecessor, once each, and no other account',
    },
    "an account registered as the default changes all of its customer's accounts": {
      file: 'prisma/functions/commit/apply_registrations.sql',
      find: ' and a.default_uma_deposit_account;',
      put: ';',
      test: 'a new default deposit account changes itself and its predecessor, once each, and no other account',
    },
    'a change of an account removes the reason of its status': {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: "coalesce(v_item ->> 'reason', status_reason)",
      put: "v_item ->> 'reason'",
      test: 'the reason of a status stays with it when other fields change',
    },
  },
  'test/ledger/columns.test.ts': {
    'the lookup of a quote can change': {
      file: 'prisma/functions/guards/guard_quote.sql',
      find: '  v_else.status_reason := old.status_reason;',
      put: `  v_else.status_reason := old.status_reason;
  v_else.lookup_id := old.lookup_id;`,
      test: 'of a quote except its status',
    },
    'the details of the rate of a payment can change': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: 'new.rate_details, new.description)',
      put: 'old.rate_details, new.description)',
      test: 'of an outgoing payment except its outcome',
    },
    'the destination of an outgoing payment can change': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: "old.type = 'OUTGOING' and (new.destination_account_id",
      put: "old.type = 'INCOMING' and (new.destination_account_id",
      test: 'of an outgoing payment except its outcome',
    },
    'the amount of an incoming payment can change': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: 'new.metadata, new.received_amount,',
      put: 'new.metadata, old.received_amount,',
      test: 'of an incoming payment except its outcome, the approval data, and the account that it goes to',
    },
    'the beneficiary of an account can change': {
      file: 'prisma/functions/guards/guard_account.sql',
      find: 'new.identifier, new.bank, new.beneficiary)',
      put: 'new.identifier, new.bank, old.beneficiary)',
      test: 'of an account, internal or external, except its notes, checks, freeze and deletion',
    },
    'the kind of an account can change': {
      file: 'prisma/functions/guards/guard_account.sql',
      find: 'new.created_at, new.kind,',
      put: 'new.created_at, old.kind,',
      test: 'of an account, internal or external, except its notes, checks, freeze and deletion',
    },
    'the reason of a proposed adjustment can change': {
      file: 'prisma/functions/guards/guard_adjustment.sql',
      find: 'new.currency, new.reason,',
      put: 'new.currency, old.reason,',
      test: 'of a proposed adjustment except its decision',
    },
    'an adjustment is decided twice': {
      file: 'prisma/functions/guards/guard_adjustment.sql',
      find: "old.status <> 'PROPOSED' or ",
      test: 'an adjustment is decided once, and its decision cannot be undone',
    },
    'the decision on an adjustment is reversed': {
      file: 'prisma/functions/guards/guard_adjustment.sql',
      find: " or new.status = 'PROPOSED' then",
      put: ' then',
      test: 'an adjustment is decided once, and its decision cannot be undone',
    },
    'a refund in suspense is paid again': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: ' and old.refund_settled_at is null and new.refund',
      put: ' and new.refund',
      test: 'a payment that keeps its status changes only by the settlement of a waiting refund',
    },
    "the name of a payment's counterparty can change": {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: `    new.destination_name := old.destination_name;
`,
      test: 'a name at the other end of a payment keeps its value, whatever an update sets',
    },
    'an update can set when a payment settled': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: '    new.settled_at := new.updated_at;',
      put: '    new.settled_at := coalesce(new.settled_at, new.updated_at);',
      test: "the times of settlement and refund are those of the database's clock",
    },
    'an update can set when a refund began': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: `    new.refund_initiated_at := new.updated_at;
`,
      test: "the times of settlement and refund are those of the database's clock",
    },
    'an internal account is a default deposit account': {
      file: 'prisma/functions/guards/is_sound_account.sql',
      find: ` and not a.default_uma_deposit_account
            and`,
      put: `
            and`,
      test: 'a row may be %s, and nothing beyond that',
    },
    'an external account has a balance': {
      file: 'prisma/functions/guards/is_sound_account.sql',
      find: ` and a.posted = 0
`,
      put: `
`,
      test: 'a row may be %s, and nothing beyond that',
    },
    'a deleted external account is a default': {
      file: 'prisma/functions/guards/is_sound_account.sql',
      find: ' and not a.default_uma_deposit_account)',
      put: ')',
      test: 'a row may be %s, and nothing beyond that',
    },
    'a quote sends nothing': {
      file: 'prisma/functions/guards/is_sound_quote.sql',
      find: 'return q.total_sending_amount between 1 and',
      put: 'return q.total_sending_amount between 0 and',
      test: 'a row may be %s, and nothing beyond that',
    },
    'a quote receives one unit above the maximum': {
      file: 'prisma/functions/guards/is_sound_quote.sql',
      find: 'q.total_receiving_amount between 1 and 9000000000000000',
      put: 'q.total_receiving_amount between 1 and 9000000000000001',
      test: 'a row may be %s, and nothing beyond that',
    },
    'the fees of a quote exceed the sending amount': {
      file: 'prisma/functions/guards/is_sound_quote.sql',
      find: 'q.fees_included between 0 and q.total_sending_amount',
      put: 'q.fees_included between 0 and q.total_sending_amount + 1',
      test: 'a row may be %s, and nothing beyond that',
    },
    'a platform earns more than the fees of a quote': {
      file: 'prisma/functions/guards/is_sound_quote.sql',
      find: 'q.platform_fee between 0 and q.fees_included',
      put: 'q.platform_fee between 0 and q.fees_included + 1',
      test: 'a row may be %s, and nothing beyond that',
    },
    'a quote has a rate of zero': {
      file: 'prisma/functions/guards/is_sound_quote.sql',
      find: 'q.exchange_rate > 0',
      put: 'q.exchange_rate >= 0',
      test: 'a row may be %s, and nothing beyond that',
    },
    'a lock sends less than the sending amount': {
      file: 'prisma/functions/guards/is_sound_quote.sql',
      find: '= q.total_sending_amount - q.platform_fee',
      put: '<= q.total_sending_amount - q.platform_fee',
      test: 'a row may be %s, and nothing beyond that',
    },
    'a payment has negative fees': {
      file: 'prisma/functions/guards/is_sound_transaction.sql',
      find: 't.fees >= 0',
      put: 't.fees >= -1',
      test: 'a row may be %s, and nothing beyond that',
    },
    'a COMPLETED payment has no settlement time': {
      file: 'prisma/functions/guards/is_sound_transaction.sql',
      find: `
    and (t.status <> 'COMPLETED' or t.settled_at is not null)`,
      test: 'a row may be %s, and nothing beyond that',
    },
    'a payment is REFUNDED without a refund': {
      file: 'prisma/functions/guards/is_sound_transaction.sql',
      find: `
    and (t.status <> 'REFUNDED' or t.refund_reference is not null)`,
      test: 'a row may be %s, and nothing beyond that',
    },
    'a payment is approved by the token that requested it': {
      file: 'prisma/functions/guards/is_sound_transaction.sql',
      find: `
    and (t.decided_by_id is null or t.status = 'REJECTED' or 'ApiToken:' || t.decided_by_id is distinct from t.created_by)`,
      test: 'a row may be %s, and nothing beyond that',
    },
  },
  'test/ledger/locks.test.ts': {
    'an adjustment is approved concurrently with its rejection': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: `plan.adjustments[*].id')))
    order by platform_id, id for no key update`,
      put: `plan.adjustments[*].id')))
    order by platform_id, id`,
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'a case is settled concurrently with its closing': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: "and order_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.cases[*].order_id')))",
      put: 'and false',
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'customers who only take part are not locked if others change': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: 'perform from customer where platform_id = any (v_platforms) and id = any (v_changed || v_active)',
      put: 'perform from customer where platform_id = any (v_platforms) and id = any (v_changed)',
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'external accounts that only take part are not locked if others change': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: "kind = 'EXTERNAL' and id = any (v_changed || v_active)",
      put: "kind = 'EXTERNAL' and id = any (v_changed)",
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
  },
  'test/work/clock.test.ts': {
    'rows in account_check wait for as long as the clock was set back': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: 'update account_check set due_at = due_at - v_step where due_at > v_ahead;',
      put: 'null;',
      test: 'moves back waiting rows in %s',
    },
    'rows in identity_check wait for as long as the clock was set back': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: 'update identity_check set due_at = due_at - v_step where due_at > v_ahead;',
      put: 'null;',
      test: 'moves back waiting rows in %s',
    },
    'rows in rail_webhook wait for as long as the clock was set back': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: 'update rail_webhook set due_at = due_at - v_step where due_at > v_ahead;',
      put: 'null;',
      test: 'moves back waiting rows in %s',
    },
    'rows in rail_deposit wait for as long as the clock was set back': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: 'update rail_deposit set due_at = due_at - v_step where due_at > v_ahead;',
      put: 'null;',
      test: 'moves back waiting rows in %s',
    },
    'rows in rail_connection wait for as long as the clock was set back': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: 'update rail_connection set deposits_due_at = deposits_due_at - v_step where deposits_due_at > v_ahead;',
      put: 'null;',
      test: 'moves back waiting rows in %s',
    },
    'after a small step back of the clock, rows due soon are late': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: "least(v_step / 2, interval '10 seconds')",
      put: "interval '10 seconds'",
      test: 'moves rows due in %s, at a step of %s, by %s minutes: ten seconds and half of a step remain',
    },
    'a step back of the clock after a step forward is not detected': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: "if v_step < interval '-1 second' then",
      put: 'if false then',
      test: 'is detected even after a step forward',
    },
    'a clock that stands still for a moment counts as set back': {
      file: 'prisma/functions/clock/follow_clock.sql',
      find: "if v_step <= interval '1 second' then",
      put: "if v_step <= interval '0.5 seconds' then",
      test: 'is one of more than a second, and is detected once',
    },
  },
  'test/payments/able-receivers.test.ts': {
    'a deleted customer is found at its address': {
      file: 'prisma/functions/names/find_receiver.sql',
      find: ' and not r.is_deleted',
      test: 'a customer whose identity is %s is found at its address: %s',
    },
    'a frozen customer is found at its address': {
      file: 'prisma/functions/names/find_receiver.sql',
      find: ' and r.frozen_at is null',
      test: 'a customer whose identity is %s is found at its address: %s',
    },
    'a manually approved customer is not found at its address': {
      file: 'prisma/functions/names/find_receiver.sql',
      find: "('APPROVED', 'MANUALLY_APPROVED')",
      put: "('APPROVED')",
      test: 'a customer whose identity is %s is found at its address: %s',
    },
    'a default deposit account that is not ACTIVE names the first currency of a lookup': {
      file: 'prisma/functions/names/find_receiver.sql',
      find: `
    and d.status = 'ACTIVE'`,
      test: 'a lookup lists the currency of the default deposit account first, while that account is ACTIVE',
    },
    'a payment to a receiver who may no longer receive waits forever': {
      file: 'prisma/functions/leases/lease_rail_orders.sql',
      find: "r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and ",
      test: 'is rejected and its money returned: it %s',
    },
    'a payment goes to the default deposit account, whatever its currency': {
      file: 'prisma/functions/leases/lease_rail_orders.sql',
      find: ' and rd.currency = t.received_currency',
      test: 'a default deposit account in a different currency is skipped: the internal account gets the money',
    },
  },
  'test/payments/customers.test.ts': {
    'a customer cannot change its address to that of a deleted one': {
      file: 'prisma/functions/commit/check_customers.sql',
      find: ` and not c.is_deleted
`,
      put: `
`,
      test: 'releases its UMA address',
    },
  },
  'test/payments/coming-money.test.ts': {
    'money of a payment that is PROCESSING does not count as incoming': {
      file: 'prisma/functions/commit/check_capacity.sql',
      find: "('PENDING', 'PROCESSING')",
      put: "('PENDING')",
      test: 'from a payment that is PROCESSING',
    },
    'incoming money counts once for each order that its payment had': {
      file: 'prisma/functions/commit/check_capacity.sql',
      find: 'o.due_at is not null and ',
      test: 'from a payment whose money was pulled first: the completed pull no longer counts',
    },
  },
};
