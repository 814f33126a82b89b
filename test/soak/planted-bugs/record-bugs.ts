import type { Bugs } from './plant.ts';

/** Bugs in the lifecycle of records: changes, deletions, metadata. */
export const recordBugs: Bugs = {
  'test/payments/metadata.test.ts': {
    "a quote's transaction has none of its metadata": {
      file: 'src/domain/quotes/quote-rows.ts',
      find: 'counterpartyInformation: { ...to.information },',
      put: 'counterpartyInformation: { ...to.information }, metadata: null,',
      test: "a quote's metadata is also its transaction's, and its receiver on this installation does not get it",
    },
    'apps set metadata': {
      file: 'src/domain/commands/metadata.ts',
      find: "if (caller.kind === 'CLIENT') {",
      put: "if (caller.kind === 'CLIENT' && Object.keys(given).length > 20) {",
      test: 'apps see the metadata of the records that they see, and cannot write any',
    },
    'a change of another field clears the metadata': {
      file: 'src/domain/customers/customer-changes.ts',
      find: '...(metadata !== undefined && { metadata }),',
      put: 'metadata: metadata ?? null,',
      test: 'an update replaces all metadata, an empty list clears it, and an omitted field keeps it',
    },
    'the metadata of an external account cannot be changed': {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: '      metadata = v_account.metadata,\n',
      test: 'an update replaces all metadata, an empty list clears it, and an omitted field keeps it',
    },
    'a key of metadata may have any characters': {
      file: 'src/domain/commands/metadata.ts',
      find: '/^[A-Za-z0-9][A-Za-z0-9_.-]*$/',
      put: '/./',
      test: '%s: refused with the path of the entry, in both APIs',
    },
  },
  'test/ledger/columns.test.ts': {
    'the metadata of a payment can change': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: 'new.source_name, new.source_number, new.metadata,',
      put: 'new.source_name, new.source_number, old.metadata,',
      test: 'of an outgoing payment except its outcome',
    },
  },
  'test/events/stored-events.test.ts': {
    'the description of a payment, which its events do not store, can change': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: 'new.rate_details, new.description)',
      put: 'new.rate_details, old.description)',
      test: 'each event of an outgoing payment shows the payment as it was, whatever changes later',
    },
    'an earlier event of a payment shows its later failure': {
      file: 'prisma/functions/events/transaction_as_of.sql',
      find: '"failure_reason": null, ',
      test: 'each event of an outgoing payment shows the payment as it was, whatever changes later',
    },
    'an event of an account does not store when it was frozen': {
      file: 'prisma/functions/events/account_state.sql',
      find: `      'frozen_at', a.frozen_at))`,
      put: `      'frozen_at', null))`,
      test: 'each event of an internal account shows its balance as it was, whatever else changes',
    },
    'an earlier event shows the current row': {
      file: 'prisma/migrations',
      find: "when e.snapshot ? 'id' then e.snapshot",
      put: "when e.snapshot ? 'never' then e.snapshot",
      test: 'an older event, which stores the whole row, is shown unchanged',
    },
  },
  'test/webhooks/endpoints.test.ts': {
    'only waiting deliveries are resent': {
      file: 'src/api/webhooks/endpoints/replay.ts',
      find: 'where d.platform_id = $1 and d.id = $2`',
      put: "where d.platform_id = $1 and d.id = $2 and d.status = 'PENDING'`",
      test: 'a delivery can always be resent, under its own id, and its earlier attempts are kept',
    },
    'deliveries are resent to a disabled endpoint': {
      file: 'src/api/webhooks/endpoints/replay.ts',
      find: "if (endpoint.status === 'DISABLED') throw endpointDisabled(endpointId)",
      put: "if (endpoint.status === 'FAILING' && endpoint.disabledAt) throw endpointDisabled(endpointId)",
      test: 'a delivery can always be resent, under its own id, and its earlier attempts are kept',
    },
    'a resent delivery waits for its turn in the schedule': {
      file: 'src/api/webhooks/endpoints/replay.ts',
      find: 'next_attempt_at = clock_ms(),',
      put: 'next_attempt_at = coalesce(d.next_attempt_at, clock_ms()),',
      test: 'a delivery can always be resent, under its own id, and its earlier attempts are kept',
    },
  },
  'test/webhooks/approval.test.ts': {
    'a resent approval request no longer asks for a decision': {
      file: 'src/api/webhooks/endpoints/replay.ts',
      find: "question = d.question and d.status = 'PENDING'",
      put: 'question = false',
      test: 'an unanswered question that is resent still decides, and an answered one only notifies',
    },
  },
  'test/payments/approval.test.ts': {
    'a scenario that decides on an incoming payment is ignored after its pay request': {
      file: 'src/domain/settlement/pay-request.ts',
      find: 'simulatedDecision(payments, order) ? 0 : payments.approvalMs',
      put: 'payments.approvalMs',
      test: 'needs no decision if its scenario decides (step %s)',
    },
    'a scenario of any payment may have an approval': {
      file: 'src/domain/orders/scenario.ts',
      find: 'if (requested.approval !== undefined && !approval) {',
      put: 'if (requested.approval !== undefined && !approval && step) {',
      test: 'is the only payment whose scenario may decide on an approval',
    },
  },
  'test/payments/external-account-changes.test.ts': {
    'a deleted external account can change again': {
      file: 'prisma/functions/commit/check_accounts.sql',
      find: 'if v_account.is_deleted then',
      put: 'if v_account.is_deleted and false then',
      test: 'a deleted account is immutable, and can be registered again',
    },
    'lists show deleted external accounts': {
      file: 'src/domain/commands/filters.ts',
      find: 'filter.isIncludingDeleted ? {} : { isDeleted: false },',
      put: '{},',
      test: 'a deleted account remains in old payments, and is in no list and no new payment',
    },
    'a deleted external account stays ACTIVE': {
      file: 'src/domain/accounts/external-account-changes.ts',
      find: "to: 'INACTIVE', reason: 'deleted by the platform', set",
      put: "reason: 'deleted by the platform', set: { ...set, isDeleted: false }",
      test: 'a deleted account remains in old payments, and is in no list and no new payment',
    },
    'a new default deposit account does not replace the previous one': {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: "if (v_item -> 'set' ->> 'default_uma_deposit_account')::boolean then",
      put: 'if false then',
      test: 'a customer has one default deposit account: a new one replaces it, and it can be unset',
    },
    'a default deposit account cannot be unset': {
      file: 'src/domain/accounts/external-account-changes.ts',
      find: '...(defaultUmaDepositAccount != null && { defaultUmaDepositAccount }),',
      put: '...(defaultUmaDepositAccount && { defaultUmaDepositAccount }),',
      test: 'a customer has one default deposit account: a new one replaces it, and it can be unset',
    },
    "the platform's own id of an account cannot be removed": {
      file: 'src/domain/accounts/external-account-changes.ts',
      find: '...(platformAccountId !== undefined && { platformAccountId }),',
      put: '...(platformAccountId && { platformAccountId }),',
      test: 'the platform’s own id can be set, keeps its value and can be removed',
    },
  },
};
