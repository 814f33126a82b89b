import type { Bug } from './plant.ts';

const visible = 'src/access/visible.ts';
const scope = 'test/access/scope.test.ts';

/** Bugs in what is around the ledger: access, prices, lists, streams, webhooks, and the limits of requests. */
export const serviceBugs: readonly Bug[] = [
  {
    bug: 'transactions are visible to every platform',
    file: visible,
    find: 'return where(rules.transaction, scope);',
    put: 'const { platformId: _platformId, ...rest } = where(rules.transaction, scope);\n  return rest;',
    caughtBy: { file: scope, title: 'the query %s shows nothing' },
  },
  {
    bug: 'an app sees all events of its platform in the list of events',
    file: visible,
    find: 'return where(rules.event, scope);',
    put: 'return { platformId: scope.platformId };',
    caughtBy: {
      file: 'test/events/audience.test.ts',
      title: 'an app lists the events of what its token shows, and no others',
    },
  },
  {
    bug: 'an app hears all events of its platform in its streams',
    file: visible,
    find: "return event.platformId === scope.platformId && maySee('event', scope, event);",
    put: 'return event.platformId === scope.platformId;',
    also: [
      {
        file: 'src/graphql/schema/streams/stream.ts',
        find: 'subject: subject ?? subjectOf(viewer),',
        put: 'subject,',
      },
    ],
    caughtBy: {
      file: 'test/events/audience.test.ts',
      title: 'an app hears the events of what its token shows, and no others',
    },
  },
  {
    bug: 'the app of a payment sees the accounts of its platform',
    file: visible,
    find: "account: { CUSTOMER: 'customerId', PAYMENT: null },",
    put: "account: { CUSTOMER: 'customerId', PAYMENT: 'platformId' },",
    caughtBy: {
      file: 'test/access/client-tokens.test.ts',
      title: 'a token of one quote shows that quote and its transaction, and nobody’s name or account',
    },
  },
  {
    bug: 'a command finds the rows of other platforms',
    file: visible,
    find: '.platform_id = $1 and ',
    put: '.platform_id is not null and $1::uuid is not null and ',
    caughtBy: {
      file: 'test/access/commands.test.ts',
      title: 'does nothing for %s, to whom what is foreign is unknown',
    },
  },
  {
    bug: 'a client token may do what only servers may',
    file: 'src/access/operations.ts',
    find: "if (caller.kind === 'CLIENT' && !('client' in operations[name])) {",
    put: "if (caller.kind === 'CLIENT' && !(name in operations)) {",
    caughtBy: {
      file: 'test/access/client-tokens.test.ts',
      title: 'minting is refused for what is not there, for more than the caller has, and for what no app may do',
    },
  },
  {
    bug: 'a revoked client token is good until it expires',
    file: 'src/access/client-tokens.ts',
    find: ' and t.revoked_at is null and',
    put: ' and',
    caughtBy: { file: 'test/access/client-tokens.test.ts', title: 'a revoked or forged client token is like none' },
  },
  {
    bug: 'apps share the idempotency keys of their platform',
    file: 'src/core/idempotency.ts',
    find: 'return keySpace === undefined ? operation :',
    put: "return keySpace !== '' ? operation :",
    caughtBy: {
      file: 'test/access/client-tokens.test.ts',
      title: 'idempotency keys of one app are not those of another, nor of the platform',
    },
  },
  {
    bug: 'a refusal tells the app of a payment what the account holds',
    file: 'src/payments/plan-refusals.ts',
    find: "if (seesAny('account', caller)) return undefined;\n      return { code, message: 'the account does not hold enough' };",
    put: 'return undefined;',
    caughtBy: { file: 'test/access/hidden.test.ts', title: 'that the account holds too little, and not what it holds' },
  },
  {
    bug: 'a cursor of another platform is accepted',
    file: 'src/core/paging.ts',
    find: 'const isValid = name === list && platform === platformId.slice(-12) && rest.length === 0 && uuidForm.test(id);\n  return isValid && rowCursor(list, platformId, id) === cursor ? id : undefined;',
    put: 'const isValid = name === list && platform !== undefined && rest.length === 0 && uuidForm.test(id);\n  return isValid && platformId ? id : undefined;',
    caughtBy: {
      file: 'test/rest/parameters.test.ts',
      title: 'keeps the cursors of other lists and of other platforms out',
    },
  },
  {
    bug: 'a page begins with the row of its cursor',
    file: 'src/rest/lists.ts',
    find: 'size: query.limit,\n    backward: false,',
    put: 'size: query.limit - 1,\n    backward: false,',
    caughtBy: {
      file: 'test/rest/parameters.test.ts',
      title: 'pages through everything once, whatever the size, and tells the total',
    },
  },
  {
    bug: 'a page between two cursors leaves the second one out of account',
    file: 'src/graphql/paging.ts',
    find: '...(lt !== undefined && { lt })',
    put: '...(lt !== undefined && gt === undefined && { lt })',
    caughtBy: {
      file: 'test/graphql/connections.test.ts',
      title: 'a walk between two cursors ends before the second, in either direction',
    },
  },
  {
    bug: 'what is sent for a locked receiving amount is rounded down',
    file: 'src/payments/pricing/pricing-terms.ts',
    find: 'return { exact, amount: roundUp(exact) };',
    put: 'return { exact, amount: roundUp(exact) - (exact.numerator % exact.denominator === 0n ? 0n : 1n) };',
    caughtBy: { file: 'test/payments/pricing.test.ts', title: 'the formulas of the fee engine are met exactly' },
  },
  {
    bug: 'half a unit is rounded down',
    file: 'src/core/fraction.ts',
    find: 'numerator: 2n * numerator + denominator, denominator: 2n * denominator',
    put: 'numerator: 2n * numerator + denominator - 1n, denominator: 2n * denominator',
    caughtBy: {
      file: 'test/payments/pricing.test.ts',
      title: 'less than half a receiving unit is refused, half of one is rounded up to one',
    },
  },
  {
    bug: 'a locked amount may be one above its bound',
    file: 'src/payments/pricing/pricing.ts',
    find: 'if (lockedAmount > maxAmount)',
    put: 'if (lockedAmount > maxAmount + 1n)',
    caughtBy: { file: 'test/payments/pricing.test.ts', title: 'a locked amount above the maximum is refused (%s)' },
  },
  {
    bug: 'webhooks reach any unicast address of IPv6',
    file: 'src/webhooks/delivery/addresses.ts',
    find: 'return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast);',
    put: 'return true;',
    caughtBy: {
      file: 'test/webhooks/addresses.test.ts',
      title: 'a name that resolves to any inner address is not connected to, alone or beside a public one',
    },
  },
  {
    bug: 'one public address among several is enough for a webhook',
    file: 'src/webhooks/delivery/addresses.ts',
    find: '!addresses.every(allowed)',
    put: '!addresses.some(allowed)',
    caughtBy: {
      file: 'test/webhooks/addresses.test.ts',
      title: 'a name that resolves to any inner address is not connected to, alone or beside a public one',
    },
  },
  {
    bug: 'a webhook is signed without its time',
    file: 'src/webhooks/delivery/signing.ts',
    find: 'new Webhook(secret).sign(message.id, message.at, message.body)',
    put: 'new Webhook(secret).sign(message.id, new Date(0), message.body)',
    caughtBy: {
      file: 'test/webhooks/endpoints.test.ts',
      title: 'a new endpoint gets a test event, signed so that the convention’s own library verifies its raw bytes',
    },
  },
  {
    bug: 'after a rotation only the new secret signs',
    file: 'src/webhooks/delivery/signing.ts',
    find: "signature': secrets\n",
    put: "signature': secrets\n      .slice(0, 1)\n",
    caughtBy: {
      file: 'test/webhooks/endpoints.test.ts',
      title: 'while a secret is rotated, the old and the new one both verify, and only a third does not',
    },
  },
  {
    bug: 'the secret of one endpoint opens for another',
    file: 'src/webhooks/secret-box.ts',
    find: 'cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(owner))',
    put: "cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(owner && ''))",
    also: [
      {
        file: 'src/webhooks/secret-box.ts',
        find: '      .setAAD(Buffer.from(owner))\n      .setAuthTag',
        put: "      .setAAD(Buffer.from(owner && ''))\n      .setAuthTag",
      },
    ],
    caughtBy: {
      file: 'test/webhooks/secret-box.test.ts',
      title: 'a sealed secret opens only with its key, for its owner, and unchanged',
    },
  },
  {
    bug: 'every endpoint gets every type of event',
    file: 'src/webhooks/delivery/fan-out.ts',
    find: 'else v.type = any(b.event_types) end',
    put: 'else true end',
    caughtBy: {
      file: 'test/webhooks/endpoints.test.ts',
      title: 'an endpoint gets only the types that it asked for, and never those that are in the feed only',
    },
  },
  {
    bug: 'every endpoint is asked for its approval',
    file: 'src/webhooks/delivery/fan-out.ts',
    find: `
         and b.id = (select o.id from webhook_endpoint o
                     where o.platform_id = b.platform_id and o.status <> 'DISABLED' and 'INCOMING_PAYMENT' = any(o.event_types)
                     order by o.id limit 1)`,
    put: '',
    caughtBy: {
      file: 'test/webhooks/approval.test.ts',
      title: 'one endpoint is asked and the others are told; a payment over a bank’s rails is no question',
    },
  },
  {
    bug: 'an event is skipped where a subscriber has caught up',
    file: 'src/events/subscribers.ts',
    find: 'if (event.sequence <= subscriber.position) return;',
    put: 'if (event.sequence <= subscriber.position + 1n) return;',
    caughtBy: {
      file: 'test/events/streams.test.ts',
      title: 'an account that never changed shows its balance, then each change with the balance before and after',
    },
  },
  {
    bug: 'a platform that fills every place takes the places of all',
    file: 'src/http/in-flight.ts',
    find: 'return own < limit / tenants && tenants > 1 && count < 2 * limit;',
    put: 'return own < 0 && tenants > 1 && count < 2 * limit;',
    caughtBy: {
      file: 'test/http/overload.test.ts',
      title: 'shares are equal among those who have requests in flight, and all of them together are bounded',
    },
  },
  {
    bug: 'an ended request keeps its place',
    file: 'src/http/in-flight.ts',
    find: '    this.#load.count -= 1;\n',
    put: '',
    caughtBy: {
      file: 'test/http/overload.test.ts',
      title: 'one request too many is refused with 503 and Retry-After; when there is room again it is answered',
    },
  },
  {
    bug: 'an answer has no bound in bytes',
    file: 'src/graphql/reading/run.ts',
    find: 'run.bind(run.maxBytes)',
    put: 'run.bind(2 ** 30 + run.maxBytes)',
    caughtBy: {
      file: 'test/graphql/abandoned.test.ts',
      title: 'an answer that would have too many bytes is refused, and names the limit',
    },
  },
  {
    bug: 'the mutations of a client that has gone are carried out',
    file: 'src/graphql/schema/mutation.ts',
    find: 'if (context.isAbandoned()) throw abandoned();',
    put: '',
    caughtBy: {
      file: 'test/graphql/abandoned.test.ts',
      title: 'a client that breaks its request off has no further mutation carried out',
    },
  },
  {
    bug: 'a list of ids is counted as one in the cost of a document',
    file: 'src/graphql/limits/list-sizes.ts',
    find: 'clampSize(Array.isArray(value.sent) ? value.sent.length : 1)',
    put: 'clampSize(Array.isArray(value.sent) ? Math.min(1, value.sent.length) : 1)',
    caughtBy: {
      file: 'test/graphql/cost.test.ts',
      title: 'refuses ids that are too many for what is asked of each, and names the list',
    },
  },
  {
    bug: 'idempotency keys are forgotten after a day',
    file: 'src/work/housekeeping.ts',
    find: "interval '30 days'",
    put: "interval '1 day'",
    caughtBy: {
      file: 'test/work/housekeeping.test.ts',
      title: 'an idempotency key is remembered for 30 days and then forgotten',
    },
  },
];
