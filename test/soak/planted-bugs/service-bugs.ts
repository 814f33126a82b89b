import type { Bugs } from './plant.ts';

/** Bugs around the ledger: prices, webhooks, streams, and the limits of requests. */
export const serviceBugs: Bugs = {
  'test/payments/pricing.test.ts': {
    'the sending amount for a locked receiving amount is rounded down': {
      file: 'src/domain/pricing/pricing-terms.ts',
      find: 'return { exact, amount: roundUp(exact) };',
      put: 'return { exact, amount: roundUp(exact) - (exact.numerator % exact.denominator === 0n ? 0n : 1n) };',
      test: 'the formulas of the fee engine are met exactly',
    },
    'half a unit is rounded down': {
      file: 'src/core/fraction.ts',
      find: 'numerator: 2n * numerator + denominator, denominator: 2n * denominator',
      put: 'numerator: 2n * numerator + denominator - 1n, denominator: 2n * denominator',
      test: 'refuse less than half a receiving unit, and round up half of one',
    },
    'a locked amount may be one above its bound': {
      file: 'src/domain/pricing/pricing.ts',
      find: 'if (lockedAmount > maxAmount)',
      put: 'if (lockedAmount > maxAmount + 1n)',
      test: 'refuse a locked amount above the maximum (%s)',
    },
  },
  'test/rails/upstream-webhooks.test.ts': {
    "a provider's late report of a delivery ends the watch for its return": {
      file: 'src/domain/orders/orders.ts',
      find: "($3 or t.status <> 'COMPLETED')",
      put: '($3 or true)',
      test: 'late, duplicate and reordered webhooks end a payment once, and do not end the watch for its return',
    },
    'an identity check that is not final is made once': {
      file: 'src/rails/upstream/upstream-identity.ts',
      find: 'customer.attempts > 0 ? await readCustomer(client, customer) : undefined',
      put: 'undefined',
      test: 'an identity check without a webhook is polled until it is decided or the name changes',
    },
    "a provider's webhook is processed each time that it is sent": {
      file: 'src/domain/providers/receive-webhook.ts',
      find: 'platform_id, webhook_id, body) values ($1, $2, $3) on conflict do nothing',
      put: 'platform_id, webhook_id, body) values ($1, concat($2::text, uuid_v7()), $3)',
      test: 'late, duplicate and reordered webhooks end a payment once, and do not end the watch for its return',
    },
  },
  'test/rails/upstream-deposits.test.ts': {
    'a deposit is taken under a different key each time': {
      file: 'src/rails/upstream/upstream-deposits.ts',
      find: 'const key = `',
      put: 'const key = `${performance.now()}',
      test: 'a deposit whose answer was lost upstream is collected once and credited once',
    },
    'the query for deposits skips one that is under way': {
      file: 'src/domain/providers/find-deposits.ts',
      find: 'if (isOpen) oldestUnderWay',
      put: 'if (unsound.includes(deposit)) oldestUnderWay',
      test: 'deposits without a webhook are found, including one that stays under way for a while',
    },
  },
  'test/rails/upstream.test.ts': {
    'a payment that has settled upstream is sent again when it is queried again': {
      file: 'src/rails/upstream/upstream-orders.ts',
      find: 'if (order.settled) return this.#lookAgain(order);',
      test: 'a settled order that upstream no longer has is not sent again: its outcome is unknown',
    },
  },
  'test/webhooks/addresses.test.ts': {
    'webhooks reach any unicast address of IPv6': {
      file: 'src/infra/net/addresses.ts',
      find: 'return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast);',
      put: 'return true;',
      test: 'a name that resolves to an internal address is not connected to, even beside a public one',
    },
    'one public address among several is enough for a webhook': {
      file: 'src/infra/net/addresses.ts',
      find: '!addresses.every(allowed)',
      put: '!addresses.some(allowed)',
      test: 'a name that resolves to an internal address is not connected to, even beside a public one',
    },
  },
  'test/webhooks/endpoints.test.ts': {
    "a webhook's timestamp is not signed": {
      file: 'src/api/webhooks/delivery/sender.ts',
      find: 'new Webhook(secret).sign(message.id, message.at, message.body)',
      put: 'new Webhook(secret).sign(message.id, new Date(0), message.body)',
      test: "a new endpoint gets a test event with a signature that the standard's own library verifies",
    },
    'after a rotation only the new secret signs': {
      file: 'src/api/webhooks/delivery/sender.ts',
      find: "signature': secrets\n",
      put: "signature': secrets\n      .slice(0, 1)\n",
      test: 'during a rotation, the old and the new secret both verify, and no other does',
    },
    'every endpoint gets every type of event': {
      file: 'src/api/webhooks/delivery/fan-out.ts',
      find: 'else v.type = any(b.event_types) end',
      put: 'else true end',
      test: 'an endpoint gets only the types that it asked for, and none that only the feed has',
    },
  },
  'test/webhooks/health.test.ts': {
    'a late failure of a webhook counts after a later success': {
      file: 'src/api/webhooks/delivery/deliveries.ts',
      find: 'and (failures_after is null or failures_after < $6)',
      put: 'and ($6::timestamptz is not null)',
      test: 'a late failure does not count after a later success or a move of the endpoint',
    },
    'failures at an old URL count against the new one': {
      file: 'src/api/webhooks/endpoints/endpoint-changes.ts',
      find: '{ ...enabledState, failuresAfter: now }',
      put: 'enabledState',
      test: 'a late failure does not count after a later success or a move of the endpoint',
    },
  },
  'test/payments/lookups.test.ts': {
    "a token's number of lookups is not limited": {
      file: 'src/domain/receivers/lookups.ts',
      find: 'if (found.isFull) {',
      put: 'if (found.isFull && caller.tokenId === undefined) {',
      test: 'a token has a bounded number of unexpired lookups, whatever other tokens have',
    },
  },
  'test/rest/webhook-endpoint.test.ts': {
    'a seventeenth webhook test may wait': {
      file: 'src/api/webhooks/endpoints/test-event.ts',
      find: 'if (waiting >= maxWaiting) {',
      put: 'if (waiting > maxWaiting) {',
      test: 'sixteen tests of a platform may wait for their receivers; one more is 429 in both APIs',
    },
  },
  'test/cli/ops.test.ts': {
    'an instance starts without a key that others on its database use': {
      file: 'src/server/start/keys-in-use.ts',
      find: "config.NODE_ENV === 'production') throw",
      put: "config.NODE_ENV === 'test') throw",
      test: 'are checked at startup: an instance that lacks one in use is refused, and its own keys are retired',
    },
  },
  'test/database/migrate.test.ts': {
    'a migration that waits for a lock is abandoned': {
      file: 'src/infra/database/migrations/migrate.ts',
      find: 'if (performance.now() >= until)',
      put: 'if (performance.now() < until)',
      test: 'a migration that waits for a lock lets others through, and retries until it has it',
    },
  },
  'test/webhooks/secret-box.test.ts': {
    'the secret of one endpoint can be decrypted for another': {
      file: 'src/core/secret-box.ts',
      find: 'cipher = createCipheriv(algorithm, this.#keyOf(this.keyId), nonce).setAAD(Buffer.from(owner))',
      put: "cipher = createCipheriv(algorithm, this.#keyOf(this.keyId), nonce).setAAD(Buffer.from(owner && ''))",
      also: [
        {
          file: 'src/core/secret-box.ts',
          find: '      .setAAD(Buffer.from(owner))\n      .setAuthTag',
          put: "      .setAAD(Buffer.from(owner && ''))\n      .setAuthTag",
        },
      ],
      test: 'a sealed secret opens only with its key, for its owner, and unchanged',
    },
  },
  'test/webhooks/approval.test.ts': {
    'every endpoint is asked for its approval': {
      file: 'src/api/webhooks/delivery/fan-out.ts',
      find: `
         and b.id = (select o.id from webhook_endpoint o
                     where o.platform_id = b.platform_id and o.status <> 'DISABLED' and 'INCOMING_PAYMENT' = any(o.event_types)
                     order by o.id limit 1)`,
      test: 'one endpoint is asked and the others notified; a payment over a bank’s rails is not a question',
    },
  },
  'test/events/streams.test.ts': {
    'an event is skipped when a subscriber catches up': {
      file: 'src/domain/events/subscribers.ts',
      find: 'if (event.sequence <= subscriber.position) return false;',
      put: 'if (event.sequence <= subscriber.position + 1n) return false;',
      test: 'an unchanged account shows its balance, then each change with the balance before and after',
    },
  },
  'test/events/replays.test.ts': {
    'replays use the connections of live events': {
      file: 'src/domain/events/reads.ts',
      find: "this.#replays = database.openPool('feed-replay', replayConnections);",
      put: 'this.#replays = this.#live;',
      test: 'replays that wait for the database do not delay live events, and queued ones share a read',
    },
  },
  'test/events/sharing.test.ts': {
    'subscribers that see different fields share the text of an event': {
      file: 'src/api/graphql/server/shared-results.ts',
      find: 'return JSON.stringify([scope, variables]);',
      put: 'return JSON.stringify([variables]);',
      test: 'callers that see different objects share nothing, even with the same document and event',
    },
  },
  'test/http/overload.test.ts': {
    'a platform that fills every place uses up the places of all': {
      file: 'src/api/http/in-flight.ts',
      find: 'return own < limit / tenants && tenants > 1 && count',
      put: 'return own < 0 && tenants > 1 && count',
      test: 'places are shared equally by the tenants with requests in flight, and bounded in total',
    },
    'a load beyond the instance is refused late even for a platform that is alone': {
      file: 'src/api/http/in-flight.ts',
      find: 'return this.#limits.turns.isAlone(tenant);',
      put: 'return this.#limits.turns.isAlone(tenant) && this.#load.count === 0;',
      test: 'excess requests are refused immediately for a lone platform, and with a delay beside others',
    },
    'a load beyond the instance is refused immediately even beside other platforms': {
      file: 'src/api/http/in-flight.ts',
      find: 'return this.#limits.turns.isAlone(tenant);',
      put: 'return tenant.isPlatform;',
      test: 'excess requests are refused immediately for a lone platform, and with a delay beside others',
    },
    "a platform with few requests is refused when another one's answers become slow": {
      file: 'src/api/http/in-flight.ts',
      find: 'count < 2 * this.#limits.maxInFlight',
      put: 'count < 2 * limit',
      test: 'slow answers to one tenant do not cause refusals of another',
    },
    'expensive documents have all turns of their platform': {
      file: 'src/api/http/turns.ts',
      find: 'Math.floor(this.#most * expensivePart)',
      put: 'this.#most',
      test: 'beside another, a platform runs expensive queries in a quarter of its turns; others pass them',
    },
    'a request that waits for an expensive document keeps its turn': {
      file: 'src/core/turn.ts',
      find: 'if (wait) await turnlessWait(wait);',
      put: 'if (wait) await wait;',
      test: 'beside another, a platform runs expensive queries in a quarter of its turns; others pass them',
    },
    'an ended request keeps its place': {
      file: 'src/api/http/in-flight.ts',
      find: '    this.#load.count -= 1;\n',
      test: 'a request too many is refused with 503 and Retry-After; once there is room it is answered',
    },
  },
  'test/http/provider-webhooks.test.ts': {
    'the response time of a refused webhook reveals its subject': {
      file: 'src/api/http/provider-webhooks.ts',
      find: 'await outsideWait(Promise.all([refusable, pace',
      put: 'await outsideWait(Promise.all([pace',
      test: 'a refused webhook is answered only after the delay, and occupies no place meanwhile',
    },
  },
  'test/graphql/abandoned.test.ts': {
    "an answer's size in bytes is not limited": {
      file: 'src/api/graphql/reading/run.ts',
      find: 'run.bind(run.maxBytes)',
      put: 'run.bind(2 ** 30 + run.maxBytes)',
      test: 'a response over the size limit is refused, and the error names the limit',
    },
    'the mutations of a disconnected client are executed': {
      file: 'src/api/graphql/schema/mutation.ts',
      find: 'if (context.isAbandoned()) throw abandoned();',
      test: 'a request that its client aborts executes no further mutation',
    },
  },
  'test/graphql/cost.test.ts': {
    'a list of ids is counted as one in the cost of a document': {
      file: 'src/api/graphql/limits/list-sizes.ts',
      find: 'clampSize(Array.isArray(value.sent) ? value.sent.length : 1)',
      put: 'clampSize(Array.isArray(value.sent) ? Math.min(1, value.sent.length) : 1)',
      test: 'exceeds the budget for too many ids with lists below, and the error names the list',
    },
    'the cost of fragments on different types is summed': {
      file: 'src/api/graphql/limits/alternatives.ts',
      find: 'if (!types || on === parent',
      put: 'if (types || on === parent',
      test: 'is that of the dearest kind of subject, if a hundred events show all kinds',
    },
    'a filter below a parent is not priced as a search': {
      file: 'src/api/graphql/limits/search-cost.ts',
      find: 'let conditions = Number(search.isBelow) + Number(isByChange);',
      put: 'let conditions = Number(isByChange);',
      test: 'is charged for a search, once for each way to find its rows: %s(%s)',
    },
    'several values of one filter are not priced as a search': {
      file: 'src/api/graphql/limits/search-cost.ts',
      find: 'new Set([value].flat()).size <= 1',
      put: 'new Set([value].flat()).size > 0',
      test: 'is charged for a search, once for each way to find its rows: %s(%s)',
    },
    'a filter in a variable is not priced as a search': {
      file: 'src/api/graphql/limits/list-sizes.ts',
      find: "'sent' in resolved ? resolved.sent :",
      put: "'sent' in resolved ? undefined :",
      test: 'is recognized in variables, in their defaults and in parts of them',
    },
  },
  'test/graphql/document-size.test.ts': {
    'fragments that apply to every row are not priced beside those on its own type': {
      file: 'src/api/graphql/limits/alternatives.ts',
      find: 'return add(sum, sum.alternatives?.get(name) ?? noCost);',
      put: 'return sum.alternatives?.get(name) ?? sum;',
      test: 'a selection set costs as much as the most expensive type that a row can have',
    },
  },
  'test/work/housekeeping.test.ts': {
    'idempotency keys are forgotten after 20 days': {
      file: 'src/server/workers/housekeeping.ts',
      find: 'from idempotency_record where created_at < ${retentionStart}',
      put: "from idempotency_record where created_at < ${retentionStart} + interval '10 days'",
      test: 'an idempotency key is remembered for 30 days and then forgotten',
    },
    'old webhook deliveries are deleted while they wait': {
      file: 'src/server/workers/housekeeping.ts',
      find: "w.status <> 'PENDING' and ",
      test: 'webhook deliveries are deleted with their attempts 30 days after they ended or were last tried',
    },
  },
  'test/database/migrate-busy.test.ts': {
    'a migration never waits until an autovacuum gives way': {
      file: 'src/infra/database/migrations/wanted-locks.ts',
      find: "kind === 'autovacuum worker' && !",
      put: "kind === '' && !",
      test: 'gets past an autovacuum, and logs it',
    },
    'a stopped migration continues': {
      file: 'src/infra/database/migrations/migrate.ts',
      find: "signal?.addEventListener('abort', cancel, { once: true });",
      put: '',
      test: 'is stopped while it waits and while it works: work is rolled back, and the next run continues',
    },
  },
  'test/database/locked-tables.test.ts': {
    'a payment that waits for a locked table is refused as if its account were busy': {
      file: 'src/domain/ledger/commit.ts',
      find: "(await isTableLocked(database)) ? 'table' : 'account'",
      put: "'account'",
      test: 'payments while a table is locked get "the database is busy", without accounts or keys: %s',
    },
  },
  'test/http/deadline.test.ts': {
    'a request waits for an unresponsive database without a limit': {
      file: 'src/api/http/admission.ts',
      find: 'within(requestMs + graceMs, processed)',
      put: 'within(3_600_000, processed)',
      test: 'every request is answered at its time limit, whatever part of it waits for a silent database',
    },
    'the lookup of credentials has a separate timeout': {
      file: 'src/api/http/callers.ts',
      find: 'within(msLeft(lookUpMs), ',
      put: 'within(lookUpMs * 360, ',
      test: 'every request is answered at its time limit, whatever part of it waits for a silent database',
    },
  },
  'test/http/readiness.test.ts': {
    'readiness keeps the session in which all libraries are loaded': {
      file: 'src/infra/health/readiness.ts',
      find: 'performance.now() - this.#began < sessionMs) return before;',
      put: 'sessionMs > 0) return before;',
      test: 'an instance is unready if the server refuses new sessions, though open ones work',
    },
    'readiness calls no command': {
      file: 'src/infra/health/readiness.ts',
      find: 'if (state.writable && schema) await tryRequest(client);',
      put: '',
      test: 'an instance is unready if a command may not be called or fails inside',
    },
  },
  'test/database/restore.test.ts': {
    'a restore is marked automatically': {
      file: 'src/ops/restored.ts',
      find: '  if (!yes) return refuseUnasked(database);\n',
      put: '  void yes;\n',
      test: 'is warned that the database is a different one until the restore is marked',
    },
    'an order has a new id each time, whatever the idempotency key of its payment': {
      file: 'src/domain/orders/order-ids.ts',
      find: 'keyedOperation(caller, operation), key)',
      put: 'keyedOperation(caller, operation), fresh)',
      test: 'a payment repeated with the same key has the same order, so a provider does not pay twice',
    },
    'a key that is reused after its retention gets the order of its first use': {
      file: 'prisma/functions/commit/apply_plans.sql',
      find: 'select r.platform_id, free_order_id(r.platform_id, r.id),',
      put: 'select r.platform_id, r.id,',
      test: 'a key whose record is past its retention creates a payment and an order of its own',
    },
  },
};
