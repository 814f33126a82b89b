import type { Bugs } from './plant.ts';

const check = 'prisma/functions/policies/check_policy.sql';
const rules = 'allows some %s and no others (%s): %j';
const mcp = 'src/api/graphql/transports/mcp.ts';
const together = 'plans that share a transaction have the same result as one after another, whatever they share';

/** Bugs in what policies allow, count and release. */
export const policyBugs: Bugs = {
  'test/access/mcp.test.ts': {
    'an agent that may move money needs no policy': {
      ...{ file: mcp, find: '!(await isLimited())', put: '!isLimited' },
      test: 'a token that may move money needs a policy on amounts',
    },
    'a policy of an agent need not limit amounts': {
      file: 'src/domain/policies/read-policies.ts',
      find: 'Object(limit).amount !== undefined',
      put: 'limit !== undefined',
      test: 'a token that may move money needs a policy on amounts',
    },
    'an agent has all documents of its platform as tools': {
      file: mcp,
      find: 'of documents) {',
      put: 'of (await asPlatform(platformId, () => trusted.list({ platformId } as Viewer))).map((one) => one.hash)) {',
      test: 'finds exactly the documents of its token, as tools',
    },
    'an agent is told that a payment only reads': {
      ...{
        file: mcp,
        find: 'readOnlyHint: false, destructiveHint: true',
        put: 'readOnlyHint: true, destructiveHint: false',
      },
      test: 'finds exactly the documents of its token, as tools',
    },
    'an agent pays without a dry run': {
      ...{ file: mcp, find: 'withValueAt(given, places.validateOnly, true)', put: 'given' },
      test: 'validates a payment first, and pays when it confirms',
    },
    'an agent confirms another payment than it has validated': {
      ...{ file: mcp, find: 'validated !== digest ||', put: 'validated === undefined ||' },
      test: 'skip the validation pays nothing',
    },
    'an agent gets a confirmation for a payment that is refused': {
      ...{ file: mcp, find: 'if (!isValid) return result;', put: 'void isValid;' },
      test: 'pay what its policy refuses gets no confirmation',
    },
    'an agent sees a mutation that has no dry run': {
      file: 'src/api/graphql/documents/tools.ts',
      find: "if (!isInputObjectType(type) || !('validateOnly' in type.getFields()))",
      put: 'if (!isInputObjectType(type))',
      test: 'a token with %s gets a message with the reason',
    },
  },
  'test/payments/policies.test.ts': {
    'a limit takes a payment that does not fit': {
      ...{ file: check, find: 'if v_spent + v_more > v_most then', put: 'if v_spent > v_most then' },
      test: 'allows what fits; a refusal states the limit, the usage and when it is free again',
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
      test: 'allows payments within its hours, and states when they begin',
    },
    'a policy does not limit the tokens that its token has made': {
      ...{ file: 'src/domain/commands/spending.ts', find: '...caller.makers]', put: '...caller.makers.slice(0, 1)]' },
      test: 'is checked for the token, its ancestors, the customer and the platform',
    },
    'a token changes the policy that limits it': {
      file: 'src/domain/policies/policies.ts',
      find: 'subjectId: { in: [...caller.makers] }',
      put: 'subjectId: { in: [] }',
      test: 'cannot be changed by a token that it limits, or by a descendant of one',
    },
    "an app sees others' usage of its platform's policy": {
      file: 'src/domain/access/visible.ts',
      find: "if (bound.kind === 'PLATFORM') return true;\n  return subjectId",
      put: 'if (bound) return true;\n  return subjectId',
      test: 'is shown to those who may see it: an app learns nothing about the usage of others',
    },
    "a policy's refusal is stored under the key": {
      file: 'prisma/functions/commit/conclude_plan.sql',
      find: "'LIMIT_EXCEEDED', ",
      put: '',
      test: 'counts each payment once, whatever is repeated, and stores no refusal under a key',
    },
    'a quote funded by a deposit counts for no policy': {
      file: 'src/domain/quotes/quotes.ts',
      find: "const isPayment = input.immediatelyExecute || source.kind === 'REALTIME_FUNDING';",
      put: 'const isPayment = input.immediatelyExecute;',
      test: 'counts a quote when it is executed, and one that a deposit funds when it is created',
    },
    'a failed payment is released, whatever the policy says': {
      file: 'prisma/functions/policies/release_payments.sql',
      find: "case m.\"to\" when 'REFUNDED' then 'REFUNDED' else 'FAILED' end::policy_release = any (p.release_on)",
      put: 'true',
      test: 'releases the usage of a failed or returned payment as declared: %j',
    },
    'a failed payment remains in the stored window': {
      file: 'prisma/functions/policies/release_payments.sql',
      find: "when (w.value ->> 'from')::timestamptz > v_use.used_at then w.value",
      put: 'when true then w.value',
      test: 'releases the usage of a failed or returned payment as declared: %j',
    },
    'a rolling window keeps payments that have left it': {
      file: 'prisma/functions/policies/spent.sql',
      find: "(v_known -> 'used')::numeric - v_sum else",
      put: "(v_known -> 'used')::numeric else",
      test: 'a payment leaves a rolling window while others are made',
    },
    'a day begins at midnight of the server': {
      file: 'prisma/functions/policies/window_start.sql',
      find: "date_trunc('day', p_at, p_zone)",
      put: "date_trunc('day', p_at)",
      test: 'a calendar day begins at midnight in its time zone, even when the clocks change',
    },
  },
  'test/payments/four-eyes.test.ts': {
    'a payment whose approval came too late counts as never executed': {
      file: 'src/domain/commands/filters.ts',
      find: "    { failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' },\n",
      put: '',
      test: 'expires if it is not decided in time',
    },
    'a payment that waits for an approval never expires': {
      file: 'src/domain/settlement/settlement.ts',
      find: 'order.approvalLeftMs !== null && order.approvalLeftMs > 0',
      put: 'order.approvalLeftMs !== null',
      test: 'expires if it is not decided in time',
    },
    'an approval after the deadline begins the payment': {
      file: 'src/domain/approvals/requests.ts',
      find: "from: ['CREATED'], approval: 'before', makers",
      put: "from: ['CREATED'], makers",
      test: 'expires if it is not decided in time',
    },
    'a payment is approved by a token that its requester created': {
      file: 'prisma/functions/policies/may_approve.sql',
      find: "split_part(t.created_by, ':', 2)::uuid <> all (p_makers) and ",
      put: '',
      test: 'through an ancestor or a descendant of its token',
    },
    'a payment is approved by the token that created its requester': {
      file: 'prisma/functions/policies/may_approve.sql',
      find: 'p_token <> all (makers_of(t.platform_id, t.created_by))',
      put: 'true',
      test: 'through an ancestor or a descendant of its token',
    },
    'a payment is approved by a token that the same policy limits': {
      file: 'prisma/functions/policies/may_approve.sql',
      find: 'p.subject_id = any (p_makers)',
      put: 'false',
      test: 'through another token that the same policy limits',
    },
    'the creator of a quote counts as requester, and not its executor': {
      file: 'src/domain/quotes/execution.ts',
      find: '...(createdBy && { set: { createdBy } }),',
      put: '',
      test: 'a payment whose quote it executed',
    },
    'an approval needs no permission': {
      file: 'src/domain/approvals/approvals.ts',
      find: "requirePermission(caller, 'APPROVE');",
      put: '',
      test: 'a token without APPROVE cannot decide; APPROVE alone neither pays nor decides incoming payments',
    },
    'reserved money is not returned': {
      file: 'src/domain/approvals/requests.ts',
      find: 'journals: isReserved ? [refund(',
      put: 'journals: !waiting ? [refund(',
      test: 'can be rejected without having moved money (money reserved: %s)',
    },
    'reserved money is debited again with the approval': {
      file: 'src/domain/approvals/requests.ts',
      find: 'return isReserved ? approved : {',
      put: 'return {',
      test: 'waits until a second person approves it (money reserved: %s)',
    },
    'a payment in another currency needs no approval': {
      file: 'prisma/functions/policies/needs_approval.sql',
      find: "l.currency = p_spend ->> 'currency' and ",
      put: '',
      test: 'does so above an amount, and in currencies without a limit',
    },
    'a receiver paid by others is not new': {
      file: 'prisma/functions/policies/is_payment_of.sql',
      find: 'else p_policy.subject_id = any (makers_of(t.platform_id, t.created_by)) end',
      put: 'else true end',
      test: 'does so for a receiver that its subject has not paid before; failed payments do not count',
    },
    'a receiver whose only payment failed is not new': {
      file: 'prisma/functions/policies/is_payment_of.sql',
      find: "t.status = 'COMPLETED' and ",
      put: '',
      test: 'does so for a receiver that its subject has not paid before; failed payments do not count',
    },
    'an app sees which token of its platform made the request': {
      file: 'src/api/graphql/schema/payments/approval.ts',
      find: "viewer.kind === 'PLATFORM' || createdBy === tokenOf(viewer) ? createdBy : null",
      put: 'viewer && createdBy !== tokenOf({ ...viewer, tokenId: null }) ? createdBy : null',
      test: "applies to the customer's app, which sees that its payment waits, but not whose tokens decide",
    },
  },
  'test/access/keys.test.ts': {
    'a token that has expired is valid': {
      file: 'prisma/functions/access/find_api_token.sql',
      find: ' and coalesce(t.expires_at > clock_timestamp(), true)',
      put: '',
      test: 'a rotated token and its successor are both valid until the overlap ends',
    },
    'a stream continues after its token has expired': {
      file: 'prisma/functions/access/find_token_rights.sql',
      find: `
    and coalesce(t.expires_at > clock_timestamp(), true)`,
      put: '',
      test: 'a token expires, with its open streams, and can no longer create anything',
    },
    'a token that was accepted a moment ago is accepted from everywhere': {
      file: 'src/api/http/callers.ts',
      find: '(viewer.addresses.length > 0 && !isAcceptedFrom(viewer, addressOf(request)))',
      put: '!isAcceptedFrom({ addresses: [] }, addressOf(request))',
      test: 'a token is accepted only from its addresses, even if it was accepted a moment ago',
    },
    'a token creates one that lasts longer': {
      file: 'src/domain/access/tokens/token-bounds.ts',
      find: "if (isLonger && ifLonger === 'refuse')",
      put: "if (!isLonger && ifLonger === 'shorten' && now.getTime() < 0)",
      test: 'a token cannot create one that lasts longer, or is accepted from other addresses',
    },
    "a token's policy does not limit its successor": {
      file: 'prisma/functions/policies/token_makers.sql',
      find: 't.id in (m.created_by_id, m.replaces_id)',
      put: 't.id = m.created_by_id',
      test: 'a rotated token is limited by the policies of its predecessor and of whoever rotated it',
    },
    'revoking a token does not end its successor': {
      file: 'src/domain/access/tokens/revoke-tokens.ts',
      find: 'f.id in (t.created_by_id, t.replaces_id)',
      put: 't.created_by_id = f.id and t.replaces_id is null',
      test: 'revoking a token ends its successor',
    },
    'the expiry of a token is announced each hour': {
      file: 'src/domain/access/tokens/expiry-warnings.ts',
      find: ' and warned_at is null',
      put: '',
      test: 'the expiry of a token is announced once, a week ahead, by event and webhook, but not to apps',
    },
  },
  'test/payments/dry-run.test.ts': {
    'a dry run is not rolled back': {
      file: 'src/infra/database/transaction.ts',
      find: '(client) => inRolledBackTransaction(client, () => work(client))',
      put: '(client) => work(client)',
      test: 'a dry run of any payment states its price, and changes nothing',
    },
    "a dry run shows an app others' usage of a policy": {
      file: 'src/domain/commands/command.ts',
      find: 'policies.filter(({ subjectId }) => maySeePolicyOf(caller, subjectId))',
      put: 'policies',
      test: 'a dry run states what policies would leave, and uses up nothing',
    },
  },
  'test/rails/rate-locks.test.ts': {
    'a dry run locks a rate at the provider': {
      file: 'src/domain/quotes/quotes.ts',
      find: 'if (payments.validateOnly) return { price };',
      put: '',
      test: 'a dry run does not request a lock from the rail',
    },
  },
  'test/payments/policy-races.test.ts': {
    'a payment does not lock the policies that limit it': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: 'and subject_id = any (v_active)\n      order by platform_id, id for no key update);',
      put: 'and subject_id = any (v_active));',
      test: 'with many concurrent payments on two gateways, a limit admits exactly those that fit',
    },
  },
  'test/ledger/together.test.ts': {
    'a payment is checked against the usage before its batch': {
      file: 'prisma/functions/policies/count_payments.sql',
      find: 'v_policy.used := coalesce(v_used[v_number], v_policy.used);',
      put: 'null;',
      test: together,
    },
    'a batch is checked against the usage before its transaction': {
      file: 'prisma/functions/commit/commit_batches.sql',
      find: 'if v_at > 0 and cardinality(v_policies) > 0 then',
      put: 'if v_at < 0 then',
      test: together,
    },
    'a payment overtakes another one under the same policy': {
      file: 'src/domain/ledger/batches.ts',
      find: 'let batch = spends ? lastSpend : 0;',
      put: 'let batch = spends ? 0 : 0;',
      test: together,
    },
    'a payment is counted before a concurrent one ends and is released': {
      file: 'src/domain/ledger/batches.ts',
      find: "if (spend) keys.reads.add('counted payments');",
      put: '',
      test: together,
    },
  },
};
