import type { Bugs } from './plant.ts';

const check = 'prisma/functions/policies/check_policy.sql';
const rules = 'allows some %s and no others (%s): %j';
const together = 'plans that share a transaction come to the same as one after another, whatever they have in common';

/** Bugs in what policies allow, count and give back. */
export const policyBugs: Bugs = {
  'test/payments/policies.test.ts': {
    'a limit takes a payment that does not fit': {
      ...{ file: check, find: 'if v_spent + v_more > v_most then', put: 'if v_spent > v_most then' },
      test: 'allows what fits, and names the limit, what is used and when it is free again',
    },
    'a policy allows all kinds of payments': {
      ...{ file: check, find: 'if cardinality(p_policy.kinds) > 0 and', put: 'if false and', test: rules },
    },
    'a policy allows all receivers': {
      ...{ file: check, find: "elsif v_receivers <> '{}' and", put: 'elsif false and', test: rules },
    },
    'a policy allows currencies without a limit': {
      ...{ file: check, find: "elsif p_policy.limits @? '$[*].currency' and", put: 'elsif false and', test: rules },
    },
    'a policy allows payments all day': {
      ...{ file: check, find: 'elsif p_policy.hours_from is not null then', put: 'elsif false then' },
      test: 'allows payments in its hours, and says when they begin',
    },
    'a policy does not limit the tokens that its token has made': {
      ...{ file: 'src/domain/commands/spending.ts', find: '...caller.makers]', put: '...caller.makers.slice(0, 1)]' },
      test: 'is checked for the token, for those that it was made by, for the customer and for the platform',
    },
    'a token changes the policy that limits it': {
      file: 'src/domain/policies/policies.ts',
      find: 'subjectId: { in: [...caller.makers] }',
      put: 'subjectId: { in: [] }',
      test: 'is not changed by a token that it limits, or that such a token has made',
    },
    'an app sees what others have used of the policy of its platform': {
      file: 'src/domain/access/visible.ts',
      find: "if (bound.kind === 'PLATFORM') return true;\n  return subjectId",
      put: 'if (bound) return true;\n  return subjectId',
      test: 'is shown to those who may see it: an app learns nothing of what others have used',
    },
    'what a policy refuses once stays refused under its key': {
      file: 'prisma/functions/commit/conclude_plan.sql',
      find: "'LIMIT_EXCEEDED', ",
      put: '',
      test: 'counts each payment once, whatever is repeated, and stores no refusal under a key',
    },
    'a quote for a deposit counts for no policy': {
      file: 'src/domain/quotes/quotes.ts',
      find: "const isPayment = input.immediatelyExecute || source.kind === 'REALTIME_FUNDING';",
      put: 'const isPayment = input.immediatelyExecute;',
      test: 'counts a quote when it is executed, and one for a deposit when it is made',
    },
    'a payment that fails counts no longer, whatever the policy says': {
      file: 'prisma/functions/policies/release_payments.sql',
      find: "case m.\"to\" when 'REFUNDED' then 'REFUNDED' else 'FAILED' end::policy_release = any (p.release_on)",
      put: 'true',
      test: 'gives back what it says of a payment that fails, or is returned: %j',
    },
    'a payment that fails stays in what is stored of the window': {
      file: 'prisma/functions/policies/release_payments.sql',
      find: "when (w.value ->> 'from')::timestamptz > v_use.used_at then w.value",
      put: 'when true then w.value',
      test: 'gives back what it says of a payment that fails, or is returned: %j',
    },
    'a rolling window keeps what has left it': {
      file: 'prisma/functions/policies/spent.sql',
      find: "(v_known -> 'used')::numeric - v_sum else",
      put: "(v_known -> 'used')::numeric else",
      test: 'a payment leaves a rolling window while others are made',
    },
    'a day begins at midnight of the server': {
      file: 'prisma/functions/policies/window_start.sql',
      find: "date_trunc('day', p_at, p_zone)",
      put: "date_trunc('day', p_at)",
      test: 'a calendar day begins at midnight of its time zone, also where the clocks change',
    },
  },
  'test/payments/four-eyes.test.ts': {
    'a payment that waits for an approval waits for ever': {
      file: 'src/domain/settlement/settlement.ts',
      find: 'order.approvalLeftMs !== null && order.approvalLeftMs > 0',
      put: 'order.approvalLeftMs !== null',
      test: 'expires when nobody decides in time',
    },
    'an approval after its time begins the payment': {
      file: 'src/domain/approvals/requests.ts',
      find: "from: ['CREATED'], approval: 'before', makers",
      put: "from: ['CREATED'], makers",
      test: 'expires when nobody decides in time',
    },
    'what a token asks for, one that it has made approves': {
      file: 'prisma/functions/policies/may_approve.sql',
      find: "split_part(t.created_by, ':', 2)::uuid <> all (p_makers) and ",
      put: '',
      test: 'however tokens were made from one another',
    },
    'what a token asks for, one that has made it approves': {
      file: 'prisma/functions/policies/may_approve.sql',
      find: 'p_token <> all (makers_of(t.platform_id, t.created_by))',
      put: 'true',
      test: 'however tokens were made from one another',
    },
    'tokens that the same policy limits approve what it holds back': {
      file: 'prisma/functions/policies/may_approve.sql',
      find: 'p.subject_id = any (p_makers)',
      put: 'false',
      test: 'nor can another token that the same policy limits',
    },
    'who has created a quote, and not who executes it, has asked': {
      file: 'src/domain/quotes/execution.ts',
      find: '...(createdBy && { set: { createdBy } }),',
      put: '',
      test: 'and who executes a quote has asked for its payment',
    },
    'an approval needs no permission': {
      file: 'src/domain/approvals/approvals.ts',
      find: "requirePermission(caller, 'APPROVE');",
      put: '',
      test: 'who lacks APPROVE decides nothing, and APPROVE alone pays and decides no incoming payment',
    },
    'reserved money is not given back': {
      file: 'src/domain/approvals/requests.ts',
      find: 'journals: isReserved ? [refund(',
      put: 'journals: !waiting ? [refund(',
      test: 'is rejected, and nothing has moved (money reserved: %s)',
    },
    'reserved money is taken again with the approval': {
      file: 'src/domain/approvals/requests.ts',
      find: 'return isReserved ? approved : {',
      put: 'return {',
      test: 'waits until a second person approves it (money reserved: %s)',
    },
    'a payment in another currency needs no approval': {
      file: 'prisma/functions/policies/needs_approval.sql',
      find: "l.currency = p_spend ->> 'currency' and ",
      put: '',
      test: 'above an amount, and in currencies without one',
    },
    'who was paid by others is no new receiver': {
      file: 'prisma/functions/policies/is_payment_of.sql',
      find: 'else p_policy.subject_id = any (makers_of(t.platform_id, t.created_by)) end',
      put: 'else true end',
      test: 'for a receiver that its subject has not paid before: what was not delivered, or by others, is no payment',
    },
    'whom a payment did not reach is no new receiver': {
      file: 'prisma/functions/policies/is_payment_of.sql',
      find: "t.status = 'COMPLETED' and ",
      put: '',
      test: 'for a receiver that its subject has not paid before: what was not delivered, or by others, is no payment',
    },
    'an app sees which token of its platform has asked': {
      file: 'src/api/graphql/schema/payments/approval.ts',
      find: "viewer.kind === 'PLATFORM' || createdBy === tokenOf(viewer) ? createdBy : null",
      put: 'viewer && createdBy !== tokenOf({ ...viewer, tokenId: null }) ? createdBy : null',
      test: 'of an app, too, whose customer has the policy; it sees that its payment waits, and not whose tokens decide',
    },
  },
  'test/access/keys.test.ts': {
    'a token that has expired is valid': {
      file: 'prisma/functions/access/find_api_token.sql',
      find: ' and coalesce(t.expires_at > clock_timestamp(), true)',
      put: '',
      test: 'a rotated token and the one in its place are both valid until the overlap is over',
    },
    'a stream goes on when its token has expired': {
      file: 'prisma/functions/access/find_token_rights.sql',
      find: `
    and coalesce(t.expires_at > clock_timestamp(), true)`,
      put: '',
      test: 'a token ends by itself, with its open streams, and makes nothing any more',
    },
    'a token that was accepted a moment ago is accepted from everywhere': {
      file: 'src/api/http/callers.ts',
      find: '(viewer.addresses.length > 0 && !isAcceptedFrom(viewer, addressOf(request)))',
      put: '!isAcceptedFrom({ addresses: [] }, addressOf(request))',
      test: 'a token is accepted from its addresses only, also one that was accepted a moment ago',
    },
    'a token makes one that lasts longer': {
      file: 'src/domain/access/tokens/token-bounds.ts',
      find: "if (isLonger && ifLonger === 'refuse')",
      put: "if (!isLonger && ifLonger === 'shorten' && now.getTime() < 0)",
      test: 'a token makes none that lasts longer than itself, or is accepted from elsewhere',
    },
    'what limits a token does not limit the one in its place': {
      file: 'prisma/functions/policies/token_makers.sql',
      find: 't.id in (m.created_by_id, m.replaces_id)',
      put: 't.id = m.created_by_id',
      test: 'what limits a token limits the one in its place, whoever rotates it, and so does what limits that one',
    },
    'a revoked token leaves the one in its place': {
      file: 'src/domain/access/tokens/revoke-tokens.ts',
      find: 'f.id in (t.created_by_id, t.replaces_id)',
      put: 't.created_by_id = f.id and t.replaces_id is null',
      test: 'revoking a token ends the one that takes its place',
    },
    'the end of a token is announced each hour': {
      file: 'src/domain/access/tokens/expiry-warnings.ts',
      find: ' and warned_at is null',
      put: '',
      test: 'the end of a token is announced once, a week before, in the feed and by webhook, and an app hears nothing of it',
    },
  },
  'test/payments/dry-run.test.ts': {
    'a dry run is not rolled back': {
      file: 'src/infra/database/transaction.ts',
      find: '(client) => inRolledBackTransaction(client, () => work(client))',
      put: '(client) => work(client)',
      test: 'a dry run of every payment says its price, and changes nothing',
    },
    'a dry run shows an app what others have used of a policy': {
      file: 'src/domain/commands/command.ts',
      find: 'policies.filter(({ subjectId }) => maySeePolicyOf(caller, subjectId))',
      put: 'policies',
      test: 'a dry run says what policies would leave, and uses nothing of them',
    },
  },
  'test/rails/rate-locks.test.ts': {
    'a dry run locks a rate at the provider': {
      file: 'src/domain/quotes/quotes.ts',
      find: 'if (payments.validateOnly) return { price };',
      put: '',
      test: 'a dry run asks the rail for no lock',
    },
  },
  'test/payments/policy-races.test.ts': {
    'a payment does not lock the policies that limit it': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: 'and subject_id = any (v_active)\n      order by platform_id, id for no key update);',
      put: 'and subject_id = any (v_active));',
      test: 'of many payments at once by two gateways, a limit takes none too many, and none is refused that fits',
    },
  },
  'test/ledger/together.test.ts': {
    'a payment overtakes another one that a policy limits with it': {
      file: 'src/domain/ledger/batches.ts',
      find: 'let batch = spends ? lastSpend : 0;',
      put: 'let batch = spends ? 0 : 0;',
      test: together,
    },
    'a payment is counted before one ends that then counts no longer': {
      file: 'src/domain/ledger/batches.ts',
      find: "if (spend) keys.reads.add('counted payments');",
      put: '',
      test: together,
    },
  },
};
