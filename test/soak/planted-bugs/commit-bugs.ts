import type { Bugs } from './plant.ts';

/** Bugs in the database functions that commit plans. */
export const commitBugs: Bugs = {
  'prisma/functions/commit/apply_owner_changes.sql': {
    'events/live-lists › a list filtered by name is followed whatever the case and composition of name and filter': {
      'search_name = v_customer.search_name, ': '',
    },
    'payments/metadata › an update replaces all metadata, an empty list clears it, and an omitted field keeps it': {
      '      metadata = v_account.metadata,\n': '',
    },
    'payments/external-account-changes › a customer has one default deposit account: a new one replaces it, and it can be unset':
      {
        "if (v_item -> 'set' ->> 'default_uma_deposit_account')::boolean then": 'if false then',
      },
    'payments/customer-deletion › has no live client tokens, and tokens that had ended earlier keep their end': {
      '\n          and expires_at > statement_timestamp()': '',
      ' and revoked_at is null\n': '\n',
    },
    'payments/external-account-changes › a new default deposit account changes itself and its predecessor, once each, and no other account':
      {
        '\n        and default_uma_deposit_account;': ';',
        ' and id <> v_account.id\n': '\n',
      },
    'payments/external-account-changes › the reason of a status stays with it when other fields change': {
      "coalesce(v_item ->> 'reason', status_reason)": "v_item ->> 'reason'",
    },
  },
  'prisma/functions/commit/apply_plans.sql': {
    'access/database-wall › a plan cannot insert a row of another platform': {
      "if p_plans @? '$[*] ? (@.plan.insert.*[*].platform_id != @.platform)' then": 'if false then',
    },
    'ledger/locks › an adjustment that waited for its account is dated after the entries before it': {
      'v_id := to_jsonb(uuid_v7());': "v_id := to_jsonb(overlay(uuid_v7()::text placing '00' from 7 for 2));",
    },
    'database/restore › a key whose record is past its retention creates a payment and an order of its own': {
      'select r.platform_id, free_order_id(r.platform_id, r.id),': 'select r.platform_id, r.id,',
    },
    'ledger/plan-checks › is booked if there is a case about the amount, and leaves a case about the outcome open': {
      " and c.kind = 'OTHER_AMOUNT'": '',
    },
  },
  'prisma/functions/commit/apply_registrations.sql': {
    'payments/external-account-changes › a new default deposit account changes itself and its predecessor, once each, and no other account':
      {
        ' and a.default_uma_deposit_account;': ';',
      },
  },
  'prisma/functions/commit/check_accounts.sql': {
    'payments/external-account-changes › a deleted account is immutable, and can be registered again': {
      'if v_account.is_deleted then': 'if v_account.is_deleted and false then',
    },
    'payments/same-account › reactivating an account conflicts with the same account, and not with one at another bank':
      {
        'and a.bank is not distinct from v_account.bank limit 1': 'limit 1',
      },
  },
  'prisma/functions/commit/check_active_customers.sql': {
    'payments/customers › let money move from the moment of approval, which a new name can bring': {
      "and (c.is_deleted or c.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') or": 'and (c.is_deleted or',
    },
  },
  'prisma/functions/commit/check_adjustment.sql': {
    'payments/adjustments › a proposal moves nothing until another person approves it, and then appears everywhere': {
      "when same_person(v_proposed.proposed_by, v_move ->> 'by') then": {
        put: 'when v_proposed.amount is null then',
        also: [
          {
            file: 'src/domain/commands/adjustments.ts',
            find: 'if (isSamePerson(found.proposedBy, operator.by))',
            put: 'if (false)',
          },
        ],
      },
    },
    'payments/adjustments › one of several concurrent approvals moves the money; the database refuses any other adjusting plan':
      {
        [`'amount', v_proposed.amount::text),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', (-v_proposed.amount)::text)`]: `'amount', p_plan #>> '{journals,0,legs,0,amount}'),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', p_plan #>> '{journals,0,legs,1,amount}')`,
      },
    'payments/adjustments › rejected and expired proposals move nothing; a debit cannot use frozen money or go below zero':
      {
        'when v_proposed.expires_at <= clock_timestamp() then': 'when v_proposed.expires_at is null then',
      },
  },
  'prisma/functions/commit/check_balances.sql': {
    'ledger/locks › a plan waits for the freeze of the account that it debits, and then takes nothing from it': {
      'if v_account.change < 0 and v_account.frozen_at is not null then': 'if false then',
    },
    'payments/customer-deletion › accepts no deposit, not even a late one for its own quote': {
      'v_account.change > 0 and v_account.owner_is_deleted': 'false',
    },
  },
  'prisma/functions/commit/check_capacity.sql': {
    'payments/balance-limit › counts towards the limit: of concurrent transfers-in those that fit are accepted, and all end':
      {
        "t.status in ('PENDING', 'PROCESSING')": "t.status in ('COMPLETED')",
      },
    'payments/balance-limit › from a payment that is PROCESSING': {
      "('PENDING', 'PROCESSING')": "('PENDING')",
    },
    'payments/balance-limit › from a payment whose money was pulled first: the completed pull no longer counts': {
      'o.due_at is not null and ': '',
    },
  },
  'prisma/functions/commit/check_customers.sql': {
    'payments/customers › releases its UMA address': {
      ' and not c.is_deleted\n': '\n',
    },
  },
  'prisma/functions/commit/check_deletion.sql': {
    'payments/customer-deletion › cannot be deleted, and the refusal lists the balances; once the money is paid out, it can':
      {
        "if v_balances <> '[]' or": 'if',
      },
    'payments/customer-deletion › cannot be deleted, whether it pays or is paid': {
      '(t.customer_id = p_customer or t.destination_account_id = any (v_accounts))': 't.customer_id = p_customer',
    },
  },
  'prisma/functions/commit/check_difference.sql': {
    "rails/settling-cases › the database books a difference only for an open case, and never on a customer's account": {
      'or v_booked is distinct from (case': 'or false and v_booked is distinct from (case',
    },
    'ledger/plan-checks › is not booked once its case is closed': {
      'case when v_stored.closed_at is not null then': 'case when false then',
    },
    'ledger/plan-checks › is not booked if the case is about the outcome': {
      " and kind = 'OTHER_AMOUNT'": '',
    },
    'ledger/plan-checks › is booked only one case at a time': {
      " or jsonb_array_length(p_plan -> 'cases') <> 1": '',
    },
  },
  'prisma/functions/commit/check_expired.sql': {
    'payments/deposit-races › accepts one of several deposits that were planned before the first was committed': {
      [`
      or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = q.transaction_id)`]: '',
    },
    'ledger/plan-checks › a deposit is credited for an EXPIRED quote, and for no other': {
      " or q.status <> 'EXPIRED'": '',
    },
  },
  'prisma/functions/commit/check_lookups.sql': {
    'ledger/locks › a quote whose lookup expires while it waits is refused': {
      'clock_timestamp()': 'now()',
    },
  },
  'prisma/functions/commit/check_orders.sql': {
    'payments/pull › a pull that two workers both see settle is credited once': {
      ' and o.due_at is null': ' and false',
    },
  },
  'prisma/functions/commit/check_plan.sql': {
    'access/expected-versions › succeeds once in twenty calls with the same version, and the others get the current record':
      {
        "    case when p_plan ? 'expected' then check_version(p_platform, p_plan -> 'expected') end,\n": '',
      },
  },
  'prisma/functions/commit/check_quotes.sql': {
    'payments/cancel-quote › a cancelled quote expires immediately, with its transaction, and can no longer be executed':
      {
        'least(q.expires_at, q.updated_at)': 'q.expires_at',
      },
    'ledger/locks › a plan waits for a transaction that %s, and is refused for the new state': {
      "m.expiry = 'before' and clock_timestamp() >= q.expires_at": "m.expiry = 'before' and now() >= q.expires_at",
      "when q.status = 'PENDING' and m.expiry = 'before' and clock_timestamp() >= q.expires_at then": 'when false then',
    },
  },
  'prisma/functions/commit/check_registrations.sql': {
    'payments/same-account › is one account in every spelling, and a different one at each other bank': {
      'and a.identifier = n.identifier and a.bank is not distinct from n.bank limit 1':
        'and a.identifier = n.identifier limit 1',
    },
    'payments/freezing › outside cannot be registered again while frozen, even if it is INACTIVE; once thawed, it can':
      {
        ' or a.frozen_at is not null)': ')',
      },
  },
  'prisma/functions/commit/check_transactions.sql': {
    'ledger/locks › a decision that waits for a lock until its deadline has passed is refused': {
      'clock_timestamp() >= t.approval_due_at': 'now() >= t.approval_due_at',
    },
    'payments/suspense › is not paid twice by a release that was planned before another one': {
      ' or m.pays_refund and (t.refund_reference is null or t.refund_settled_at is not null)': '',
    },
  },
  'prisma/functions/commit/check_version.sql': {
    'ledger/plan-checks › a change to an external account is refused if it is based on another version': {
      "    when 'Account' then select version into v_version from account where platform_id = p_platform and id = v_id;":
        "    when 'Account' then v_version := (p_expected ->> 'version')::int;",
    },
  },
  'prisma/functions/commit/commit_batch.sql': {
    'ledger/together › plans that share a transaction have the same result as one after another, whatever they share': {
      'check_group(p_groups -> v_at, v_moved)': 'check_group(p_groups -> v_at, null)',
      'if v_moved is not null and cardinality(p_policies) > 0 then': 'if false then',
    },
  },
  'prisma/functions/commit/commit_batches.sql': {
    'ledger/together › plans that share a transaction have the same result as one after another, whatever they share': {
      'if v_at > 0 and cardinality(v_policies) > 0 then': 'if v_at < 0 then',
    },
  },
  'prisma/functions/commit/conclude_plan.sql': {
    'ledger/specified › is what decision 6 says, for every refusal by the database': {
      [`
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'LIMIT_EXCEEDED', 'APPROVAL_REQUIRED', 'FORBIDDEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'LOOKUP_REQUEST_NOT_FOUND'))`]:
        '',
    },
    'payments/balance-limit › keeps answering with a stored refusal, even once there is room': {
      [`
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'LIMIT_EXCEEDED', 'APPROVAL_REQUIRED', 'FORBIDDEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'LOOKUP_REQUEST_NOT_FOUND'))`]:
        '\n     and p_refusal is null',
    },
    'payments/policies › counts each payment once, whatever is repeated, and stores no refusal under a key': {
      "'LIMIT_EXCEEDED', ": '',
    },
  },
  'prisma/functions/commit/first_answer.sql': {
    'payments/concurrency › 20 parallel callers with one key and different inputs: one takes effect, the others mismatch':
      {
        "when r.request_hash <> decode(p_claim ->> 'hash', 'hex') then": 'when false then',
      },
  },
  'prisma/functions/commit/lock_plans.sql': {
    'ledger/locks › a plan waits for a transaction that %s, and is refused for the new state': {
      'perform from quote where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;':
        'null;',
      [`perform from transaction where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;`]: 'null;',
      [`perform from rail_order where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;`]: 'null;',
      'perform from customer where platform_id = any (v_platforms) and id = any (v_active) order by platform_id, id for share;':
        'null;',
      "kind = 'EXTERNAL' and id = any (v_active)\n    order by platform_id, id for share;":
        "kind = 'EXTERNAL' and id = any (v_active)\n    order by platform_id, id;",
      "plan.adjustments[*].id')))\n    order by platform_id, id for no key update":
        "plan.adjustments[*].id')))\n    order by platform_id, id",
      "and order_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.cases[*].order_id')))": 'and false',
      'perform from customer where platform_id = any (v_platforms) and id = any (v_changed || v_active)':
        'perform from customer where platform_id = any (v_platforms) and id = any (v_changed)',
      "kind = 'EXTERNAL' and id = any (v_changed || v_active)": "kind = 'EXTERNAL' and id = any (v_changed)",
    },
    'ledger/locks › a plan waits for other changes to the account that it credits, and then sees its balance': {
      'perform from account where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;':
        'null;',
    },
    'ledger/locks › a deletion waits for a credit to the customer, and then is refused with the balance': {
      "legs[*].account')) || v_emptied;": "legs[*].account'));",
    },
    'ledger/locks › a call waits for the first one with its key, and then gets the same answer': {
      'perform lock_claims(p_plans);': 'null;',
    },
    'payments/policy-races › with many concurrent payments on two gateways, a limit admits exactly those that fit': {
      'and subject_id = any (v_active)\n      order by platform_id, id for no key update);':
        'and subject_id = any (v_active));',
    },
  },
  'prisma/functions/commit/set_frozen.sql': {
    'payments/freezing › of an account, or of a customer whose payment locks only the account, is decided by the lock':
      {
        [`    perform from account where platform_id = v_platform and customer_id = p_id and kind = 'INTERNAL'
    order by platform_id, id for no key update;
`]: '',
      },
  },
  'prisma/functions/commit/status_moves.sql': {
    'ledger/specified › a transaction has exactly the status changes of decision 57': {
      "'PROCESSING > COMPLETED', 'PROCESSING > REJECTED',":
        "'PROCESSING > COMPLETED', 'PROCESSING > PENDING', 'PROCESSING > REJECTED',",
    },
    'ledger/specified › a quote has exactly the status changes of decision 50': {
      "'PROCESSING > EXPIRED']\n    when 'transaction'":
        "'PROCESSING > EXPIRED', 'FAILED > PROCESSING']\n    when 'transaction'",
    },
    'ledger/specified › an external account has exactly the status changes of decision 42': {
      "'INACTIVE > ACTIVE']": "'INACTIVE > ACTIVE', 'INACTIVE > UNDER_REVIEW']",
    },
  },
};
