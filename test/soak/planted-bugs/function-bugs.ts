import type { Bugs } from './plant.ts';

/** Bugs in the other database functions, and in tables. */
export const functionBugs: Bugs = {
  'prisma/functions/access/find_api_token.sql': {
    'access/keys › a rotated token and its successor are both valid until the overlap ends': {
      ' and coalesce(t.expires_at > clock_timestamp(), true)': '',
    },
  },
  'prisma/functions/access/find_token_rights.sql': {
    'access/rights-that-end › when the token %s': {
      '\n    and t.expires_at > clock_timestamp()': '',
      'join client_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null':
        'join client_token t on t.platform_id = s.platform_id and t.id = s.id',
    },
    'access/keys › a token expires, with its open streams, and can no longer create anything': {
      '\n    and coalesce(t.expires_at > clock_timestamp(), true)': '',
    },
  },
  'prisma/functions/clock/follow_clock.sql': {
    'work/clock › moves back waiting rows in %s': {
      'update account_check set due_at = due_at - v_step where due_at > v_ahead;': 'null;',
      'update identity_check set due_at = due_at - v_step where due_at > v_ahead;': 'null;',
      'update rail_webhook set due_at = due_at - v_step where due_at > v_ahead;': 'null;',
      'update rail_deposit set due_at = due_at - v_step where due_at > v_ahead;': 'null;',
      'update rail_connection set deposits_due_at = deposits_due_at - v_step where deposits_due_at > v_ahead;': 'null;',
    },
    'work/clock › moves rows due in %s, at a step of %s, by %s minutes: ten seconds and half of a step remain': {
      "least(v_step / 2, interval '10 seconds')": "interval '10 seconds'",
    },
    'work/clock › is detected even after a step forward': {
      "if v_step < interval '-1 second' then": 'if false then',
    },
    'work/clock › is one of more than a second, and is detected once': {
      "if v_step <= interval '1 second' then": "if v_step <= interval '0.5 seconds' then",
    },
  },
  'prisma/functions/events/account_state.sql': {
    'events/stored-events › each event of an internal account shows its balance as it was, whatever else changes': {
      "      'frozen_at', a.frozen_at))": "      'frozen_at', null))",
    },
  },
  'prisma/functions/events/account_version_before.sql': {
    'payments/statements › the opening balance and the entries of any period give its closing balance, and periods join':
      {
        'uuid_v7_time(p.journal_id) < p_moment': 'uuid_v7_time(p.journal_id) <= p_moment',
      },
  },
  'prisma/functions/events/is_final.sql': {
    'events/endings › a stream until FINAL lasts while a bank may return the money, and ends with or without a return':
      {
        'and o.transaction_id = p_id and o.due_at is not null': 'and o.transaction_id = p_id and o.due_at is null',
      },
  },
  'prisma/functions/events/sequence_outbox.sql': {
    'payments/realtime-funding › appears as a change of balance before the payment proceeds': {
      'row_number() over (partition by t.platform_id order by t.id)':
        'row_number() over (partition by t.platform_id order by t.id desc)',
    },
    'events/list › the feed of each platform has every number from 1 to its end, despite concurrent writes': {
      'do update set sequence = h.sequence + excluded.sequence':
        'do update set sequence = h.sequence + excluded.sequence + 1',
    },
  },
  'prisma/functions/events/transaction_as_of.sql': {
    'events/stored-events › each event of an outgoing payment shows the payment as it was, whatever changes later': {
      '"failure_reason": null, ': '',
    },
  },
  'prisma/functions/guards/check_journal.sql': {
    'ledger/invariants › is refused at its commit if it does not balance in each currency': {
      ' or bool_or(c.sum <> 0)': '',
    },
  },
  'prisma/functions/guards/check_legs.sql': {
    'ledger/invariants › is sealed once committed: no late leg, change, deletion or truncation': {
      ' and age(j.xmin) = 0)) then': ')) then',
    },
  },
  'prisma/functions/guards/guard_account.sql': {
    'ledger/columns › of an account, internal or external, except its notes, checks, freeze and deletion': {
      'new.identifier, new.bank, new.beneficiary)': 'new.identifier, new.bank, old.beneficiary)',
      'new.created_at, new.kind,': 'new.created_at, old.kind,',
    },
  },
  'prisma/functions/guards/guard_adjustment.sql': {
    'ledger/columns › of a proposed adjustment except its decision': {
      'new.currency, new.reason,': 'new.currency, old.reason,',
    },
    'ledger/columns › an adjustment is decided once, and its decision cannot be undone': {
      "old.status <> 'PROPOSED' or ": '',
      " or new.status = 'PROPOSED' then": ' then',
    },
  },
  'prisma/functions/guards/guard_quote.sql': {
    'ledger/columns › of a quote except its status': {
      '  v_else.status_reason := old.status_reason;':
        '  v_else.status_reason := old.status_reason;\n  v_else.lookup_id := old.lookup_id;',
    },
  },
  'prisma/functions/guards/guard_transaction.sql': {
    'ledger/invariants › of a %s': {
      "(old.status || ' > ' || new.status = any (status_moves('transaction'))) is not true then": 'false then',
    },
    'ledger/columns › of an outgoing payment except its outcome': {
      'new.source_name, new.source_number, new.metadata,': 'new.source_name, new.source_number, old.metadata,',
      'new.rate_details, new.description)': 'old.rate_details, new.description)',
      "old.type = 'OUTGOING' and (new.destination_account_id": "old.type = 'INCOMING' and (new.destination_account_id",
    },
    'events/stored-events › each event of an outgoing payment shows the payment as it was, whatever changes later': {
      'new.rate_details, new.description)': 'new.rate_details, old.description)',
    },
    'ledger/columns › of an incoming payment except its outcome, the approval data, and the account that it goes to': {
      'new.metadata, new.received_amount,': 'new.metadata, old.received_amount,',
    },
    'ledger/columns › a payment that keeps its status changes only by the settlement of a waiting refund': {
      ' and old.refund_settled_at is null and new.refund': ' and new.refund',
    },
    'ledger/columns › a name at the other end of a payment keeps its value, whatever an update sets': {
      '    new.destination_name := old.destination_name;\n': '',
    },
    "ledger/columns › the times of settlement and refund are those of the database's clock": {
      '    new.settled_at := new.updated_at;': '    new.settled_at := coalesce(new.settled_at, new.updated_at);',
      '    new.refund_initiated_at := new.updated_at;\n': '',
    },
  },
  'prisma/functions/guards/is_sound_account.sql': {
    'ledger/invariants › never goes below zero': {
      'return a.posted >= 0\n    and case': 'return case',
    },
    'ledger/columns › a row may be %s, and nothing beyond that': {
      ' and not a.default_uma_deposit_account\n            and': '\n            and',
      ' and a.posted = 0\n': '\n',
      ' and not a.default_uma_deposit_account)': ')',
    },
  },
  'prisma/functions/guards/is_sound_quote.sql': {
    'ledger/columns › a row may be %s, and nothing beyond that': {
      'return q.total_sending_amount between 1 and': 'return q.total_sending_amount between 0 and',
      'q.total_receiving_amount between 1 and 9000000000000000':
        'q.total_receiving_amount between 1 and 9000000000000001',
      'q.fees_included between 0 and q.total_sending_amount':
        'q.fees_included between 0 and q.total_sending_amount + 1',
      'q.platform_fee between 0 and q.fees_included': 'q.platform_fee between 0 and q.fees_included + 1',
      'q.exchange_rate > 0': 'q.exchange_rate >= 0',
      '= q.total_sending_amount - q.platform_fee': '<= q.total_sending_amount - q.platform_fee',
    },
  },
  'prisma/functions/guards/is_sound_transaction.sql': {
    'ledger/columns › a row may be %s, and nothing beyond that': {
      't.fees >= 0': 't.fees >= -1',
      "\n    and (t.status <> 'COMPLETED' or t.settled_at is not null)": '',
      "\n    and (t.status <> 'REFUNDED' or t.refund_reference is not null)": '',
      [`
    and (t.decided_by_id is null or t.status = 'REJECTED' or 'ApiToken:' || t.decided_by_id is distinct from t.created_by)`]:
        '',
    },
  },
  'prisma/functions/leases/lease_rail_orders.sql': {
    'database/leases › rows of $table are leased in order of their due time, each to one worker, until its lease ends':
      {
        "set due_at = clock_ms() + p_lease_ms * interval '1 millisecond',": 'set due_at = clock_ms(),',
        'order by d.due_at limit p_limit for update skip locked': 'order by d.due_at limit 0 for update skip locked',
      },
    'payments/failures › takes back the whole fee from an account that holds just that, and nothing if a unit is missing':
      {
        'pa.posted >= q.platform_fee': 'pa.posted > q.platform_fee',
      },
    'payments/freezing › that belongs to the platform returns no fees: the service bears the fee of a returned payment':
      {
        ' and (pa.frozen_at is null or pa.id = s.id)': '',
      },
    'payments/able-receivers › is rejected and its money returned: it %s': {
      "r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and ": '',
    },
    'payments/able-receivers › a default deposit account in a different currency is skipped: the internal account gets the money':
      {
        ' and rd.currency = t.received_currency': '',
      },
  },
  'prisma/functions/names/find_receiver.sql': {
    'payments/able-receivers › a customer whose identity is %s is found at its address: %s': {
      ' and not r.is_deleted': '',
      ' and r.frozen_at is null': '',
      "('APPROVED', 'MANUALLY_APPROVED')": "('APPROVED')",
    },
    'payments/able-receivers › a lookup lists the currency of the default deposit account first, while that account is ACTIVE':
      {
        "\n    and d.status = 'ACTIVE'": '',
      },
  },
  'prisma/functions/names/same_person.sql': {
    'payments/adjustments › a proposal moves nothing until another person approves it, and then appears everywhere': {
      "lower(regexp_replace(p_one, '\\s', '', 'g')) = lower(regexp_replace(p_other, '\\s', '', 'g'))": {
        put: 'p_one = p_other',
        also: [
          {
            file: 'src/domain/commands/adjustments.ts',
            find: 'if (isSamePerson(found.proposedBy, operator.by))',
            put: 'if (false)',
          },
        ],
      },
    },
  },
  'prisma/functions/policies/check_policy.sql': {
    'payments/policies › allows some %s and no others: %j': {
      "if p_policy.kinds <> '{}' and": 'if false and',
      "elsif v_receivers <> '{}' and": 'elsif false and',
      "elsif v_currencies <> '{}' and": 'elsif false and',
    },
    'payments/policies › allows payments within its hours, and states when they begin': {
      'elsif (v_time >= p_policy.hours_from)::int': 'elsif false and (v_time >= p_policy.hours_from)::int',
    },
  },
  'prisma/functions/policies/count_payments.sql': {
    'payments/policies › counts payments that share a transaction together, even if a day has ended since it summed them':
      {
        'p_policies[v_number] := v_policy;': 'null;',
      },
    'payments/policies › allows what fits; a refusal states the limit, the usage and when it is free again': {
      'if v_more > 0 and v_policy.used[v_limit] + v_more > v_policy.limit_maxima[v_limit] then':
        'if v_policy.used[v_limit] > v_policy.limit_maxima[v_limit] then',
    },
  },
  'prisma/functions/policies/is_payment_of.sql': {
    'payments/four-eyes › does so for a receiver that its subject has not paid before; failed payments do not count': {
      'else p_policy.subject_id = any (makers_of(t.platform_id, t.created_by)) end': 'else true end',
      "t.status = 'COMPLETED' and ": '',
    },
  },
  'prisma/functions/policies/may_approve.sql': {
    'payments/four-eyes › through an ancestor or a descendant of its token': {
      "split_part(t.created_by, ':', 2)::uuid <> all (p_makers) and ": '',
      'p_token <> all (makers_of(t.platform_id, t.created_by))': 'true',
    },
    'payments/four-eyes › through another token that the same policy limits': {
      'p.subject_id = any (p_makers)': 'false',
    },
  },
  'prisma/functions/policies/needs_approval.sql': {
    'payments/four-eyes › does so above an amount, and in currencies without a limit': {
      "l.currency = p_spend ->> 'currency' and ": '',
    },
  },
  'prisma/functions/policies/release_payments.sql': {
    'payments/policies › releases the usage of a failed or returned payment as declared: %j': {
      "case m.\"to\" when 'REFUNDED' then 'REFUNDED' else 'FAILED' end::policy_release = any (p.release_on)": 'true',
      'v_use.used_at >= window_start(l.period, time_zone, l.summed_at)': 'false',
    },
  },
  'prisma/functions/policies/spent.sql': {
    'payments/policies › counts payments that share a transaction together, even if a day has ended since it summed them':
      {
        'return v_sum + p_policy.used[p_limit]':
          'return v_sum + (select p.used[p_limit] from policy p where p.platform_id = p_policy.platform_id and p.id = p_policy.id)',
      },
    'payments/policies › a payment leaves a rolling window while others are made': {
      'return p_policy.used[p_limit] - v_sum;': 'return p_policy.used[p_limit];',
    },
  },
  'prisma/functions/policies/token_makers.sql': {
    'access/keys › a rotated token is limited by the policies of its predecessor and of whoever rotated it': {
      't.id in (m.created_by_id, m.replaces_id)': 't.id = m.created_by_id',
    },
  },
  'prisma/functions/policies/window_start.sql': {
    'payments/policies › a calendar day begins at midnight in its time zone, even when the clocks change': {
      "date_trunc('day', p_at, p_zone)": "date_trunc('day', p_at)",
    },
  },
  'prisma/migrations': {
    "access/expected-versions › the service's own notes on an endpoint do not change its version": {
      "old.description, old.status = 'DISABLED', old.secret": "old.description, old.status = 'FAILING', old.secret",
    },
    'database/closed-to-public › cannot do so even with usage of the schemas': {
      "execute format('revoke execute on function %s from public', v_function.name);": 'null;',
    },
    'database/closed-to-public › cannot call a function added by a later migration, though both service roles can': {
      'alter default privileges revoke execute on functions from public;': '',
    },
    'graphql/plans › an index serves $name': {
      'create index transaction_failure_reason on transaction (platform_id, failure_reason, id)':
        'create index transaction_failed on transaction (platform_id, created_at, id)',
    },
    'events/stored-events › an older event, which stores the whole row, is shown unchanged': {
      "when e.snapshot ? 'id' then e.snapshot": "when e.snapshot ? 'never' then e.snapshot",
    },
    'payments/same-account › is one account in every spelling, and a different one at each other bank': {
      'account_type, bank, identifier) nulls not distinct': 'account_type, identifier) nulls not distinct',
    },
  },
};
