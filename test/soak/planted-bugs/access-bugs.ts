import type { Bugs } from './plant.ts';

/** Bugs in who sees and does what, and in the pages of lists. */
export const accessBugs: Bugs = {
  'test/graphql/trusted-documents.test.ts': {
    'a token for registered documents can send any document': {
      file: 'src/api/graphql/server/operations.ts',
      find: 'if (context.viewer.trustedDocumentsOnly)',
      put: "if (context.viewer.trustedDocumentsOnly && query === '')",
      test: 'a token for registered documents only can send no other, by text or by hash',
    },
    'a document is registered under a different hash': {
      file: 'src/api/graphql/documents/manifest.ts',
      find: "return algorithm !== undefined && digest(algorithm, text, 'hex') === hash;",
      put: 'return algorithm !== undefined;',
      test: '%s is refused as a whole',
    },
    'a token with documents of its own sends all of its platform': {
      file: 'src/api/graphql/server/sent-documents.ts',
      find: 'documents.length === 0 ? hashes.length > 0 : hashes.some((hash) => documents.includes(hash))',
      put: 'documents.length >= 0 && hashes.length > 0',
      test: 'sends these over %s, and none that others may send',
    },
    'a token with documents of its own uses REST': {
      file: 'src/api/rest/server.ts',
      find: 'if (viewer.documents.length > 0)',
      put: "if (viewer.documents.length > 0 && context.req.header('authorization') === undefined)",
      test: 'cannot use REST',
    },
    'a token makes one that sends more documents': {
      file: 'src/domain/access/tokens/token-bounds.ts',
      find: 'documents: documents.length > 0 ? [...new Set(documents)] : own,',
      put: 'documents: [...new Set(documents)],',
      test: 'makes and replaces tokens with no other documents',
    },
  },
  'test/access/lists.test.ts': {
    'transactions are visible to every platform': {
      file: 'src/domain/access/visible.ts',
      find: 'where(rules.transaction, scope);',
      put: '({ ...where(rules.transaction, scope), platformId: undefined });',
      test: "the application itself finds no foreign %s, even without the database's checks",
    },
  },
  'test/database/pooler.test.ts': {
    'behind a connection pooler the platform of a request remains in the session': {
      file: 'src/infra/database/connections/platform-statement.ts',
      find: ', true)`;',
      put: ', false)`;',
      test: 'platforms see only their own rows, and no platform stays behind in a session',
    },
  },
  'test/access/same-tick.test.ts': {
    'the settings of two platforms are read in one statement, as the first one': {
      file: 'src/domain/platforms/platforms.ts',
      find: 'return payments.database.prisma.platform.findFirstOrThrow({',
      put: 'return payments.database.prisma.platform.findUniqueOrThrow({',
      test: 'every REST read returns the same to a platform, whoever else asks in the same tick',
    },
    "a query of Prisma's client runs for the platform that awaits it": {
      file: 'src/infra/database/connections/platform-scope.ts',
      find: "=== '[object PrismaPromise]'",
      put: "=== '[object Promise]'",
      test: 'runs for the platform in whose name it was created, wherever it is awaited',
    },
  },
  'test/access/database-wall.test.ts': {
    'requests run in the role that sees all platforms': {
      file: 'src/server/gateway.ts',
      find: "const serving = openDatabase({ url, pooler, role: 'gateway_serving',",
      put: "const serving = openDatabase({ url, pooler, role: 'gateway_work',",
      test: 'no node, getter or list shows foreign objects',
    },
    'a connection stays with the platform of its first request': {
      file: 'src/infra/database/connections/serving-pool.ts',
      find: '} else if (this.#platforms.get(client) === platform) callback',
      put: '} else if (this.#platforms.has(client) && query instanceof TextQuery) callback',
      test: "sees the platform of each statement's caller, even after errors and in transactions",
    },
    'production serves as the owner of the tables': {
      file: 'src/infra/database/owners.ts',
      find: "pg_has_role(session_user, c.relowner, 'member')",
      put: 'session_user <> current_user and false',
      test: 'serves only with a login that owns nothing',
    },
  },
  'test/events/audience.test.ts': {
    'an app sees all events of its platform in the list of events': {
      file: 'src/domain/access/visible.ts',
      find: 'where(rules.event, scope);',
      put: '({ platformId: scope.platformId });',
      test: 'an app lists only the events of objects that its token can see',
    },
    'an app receives all events of its platform in its streams': {
      file: 'src/domain/access/visible.ts',
      find: "return event.platformId === scope.platformId && maySee('event', scope, event);",
      put: 'return event.platformId === scope.platformId;',
      also: [
        {
          file: 'src/api/graphql/schema/streams/stream.ts',
          find: 'subject: subject ?? subjectOf(viewer),',
          put: 'subject,',
        },
      ],
      test: 'payer and payee each get the events of their own side of a payment only',
    },
  },
  'test/access/client-tokens.test.ts': {
    'an app sees types that its token does not show': {
      file: 'src/domain/access/visible.ts',
      find: '...(field === null ? matchesNothing : equal',
      put: '...(field === null ? {} : equal',
      test: 'a token of one quote shows that quote and its transaction, without names or accounts',
    },
    'a client token may run server-only operations': {
      file: 'src/domain/access/operations.ts',
      find: "if (caller.kind === 'CLIENT' && !('client' in operation)) {",
      put: "if (caller.kind === 'CLIENT' && !(name in operations)) {",
      test: 'an app cannot run server-only operations, whatever its permissions',
    },
    'a revoked client token is valid until it expires': {
      file: 'src/domain/access/tokens/client-tokens.ts',
      find: ' and t.revoked_at is null and',
      put: ' and',
      test: 'a revoked or forged client token is treated like a missing one',
    },
    'apps share the idempotency keys of their platform': {
      file: 'src/core/idempotency.ts',
      find: 'return keySpace === undefined ? operation :',
      put: "return keySpace !== '' ? operation :",
      test: 'idempotency keys of one app are independent of those of other apps and of the platform',
    },
    'anything signed with the client-token key is a client token': {
      file: 'src/domain/access/tokens/client-tokens.ts',
      find: "if (!('iss' in claims) || claims.iss !== issuer) return undefined;",
      test: 'a revoked or forged client token is treated like a missing one',
    },
  },
  'test/access/commands.test.ts': {
    'a command finds the rows of other platforms': {
      file: 'src/domain/access/visible.ts',
      find: '.platform_id = $1 and ',
      put: '.platform_id is not null and $1::uuid is not null and ',
      test: 'does nothing for %s, to whom foreign objects are unknown',
    },
  },
  'test/access/grants.test.ts': {
    'the app of a customer needs no grant': {
      file: 'src/domain/access/operations.ts',
      find: 'if (!grants.includes(grant)) {',
      put: 'if (!grants.includes(grant) && grants.length > 2) {',
      test: 'an app cannot add an account, and the refusal names the missing grant',
    },
    'an app adds accounts to its platform': {
      file: 'src/domain/accounts/external-accounts.ts',
      find: "return { ...input, customerId: input.customerId ?? publicId('Customer', bound.customerId) };",
      put: "return { ...input, platformAccountId: input.platformAccountId ?? publicId('Customer', bound.customerId) };",
      test: "an app adds its customer's own account, and pays to it",
    },
  },
  'test/payments/names.test.ts': {
    'a hidden customer is shown as the platform': {
      file: 'src/api/graphql/schema/values/people.ts',
      find: "? 'CUSTOMER' : 'HIDDEN'",
      put: "? 'CUSTOMER' : 'PLATFORM'",
      test: 'a payment whose customer is null states whether it is the platform’s or a hidden customer’s',
    },
    "an app sees the last digits of a stranger's account number": {
      file: 'src/api/graphql/schema/payments/parties.ts',
      find: "account && maySee('account', viewer, account) ? number : null",
      put: "account && viewer.bound.kind !== 'PAYMENT' ? number : null",
      test: "to another customer's account include the payee's; strangers do not see its number",
    },
  },
  'test/graphql/refusals.test.ts': {
    'a decimal and the same amount in smallest units are different inputs': {
      file: 'src/domain/commands/command.ts',
      find: 'input: await comparableInput(command)',
      put: 'input: command.input',
      test: 'in either form is the same input: a repeat gets the same answer, another amount is refused',
    },
    'a refusal reveals a balance to a caller without VIEW': {
      file: 'src/domain/commands/plan-refusals.ts',
      find: " && caller.permissions.includes('VIEW')) return undefined;",
      put: ') return undefined;',
      test: 'insufficient funds: what is available and what is required, if the caller may see the balance',
    },
  },
  'test/access/hidden.test.ts': {
    "a refusal reveals the account's balance to the app of a payment": {
      file: 'src/domain/commands/plan-refusals.ts',
      find: `if (seesAny('account', caller) && caller.permissions.includes('VIEW')) return undefined;
      return { code, message: 'the account does not hold enough' };`,
      put: 'return undefined;',
      test: 'reveals that the account holds too little, but not its balance',
    },
  },
  'test/access/expected-versions.test.ts': {
    'a payment or a customer changes, whatever version the caller expects': {
      file: 'prisma/functions/commit/check_plan.sql',
      find: "    case when p_plan ? 'expected' then check_version(p_platform, p_plan -> 'expected') end,\n",
      test: 'succeeds once of twenty calls with the same version, and the others get the current record',
    },
    'an endpoint changes, whatever version the caller expects': {
      file: 'src/api/webhooks/endpoints/endpoint-queries.ts',
      find: "  checkVersion(expecting, publicId('WebhookEndpoint', id), endpoint.version);\n",
      test: 'changes nothing for an earlier or a later version',
    },
    'the settings change, whatever version the caller expects': {
      file: 'src/domain/platforms/platforms.ts',
      find: "  checkVersion(settings, publicId('Platform', before.id), before.version);\n",
      test: 'a change that would change nothing is refused as well',
    },
    'a new mutation of a record takes no version': {
      file: 'src/domain/access/operations.ts',
      find: "cancelQuote: { permission: 'TRANSACT', client: true, changes: true }",
      put: "cancelQuote: { permission: 'TRANSACT', client: true }",
      test: 'every mutation that changes a record accepts the version that its caller has read',
    },
    'a failing delivery changes the version of its endpoint': {
      file: 'prisma/migrations',
      find: "old.description, old.status = 'DISABLED', old.secret",
      put: "old.description, old.status = 'FAILING', old.secret",
      test: "the service's own notes on an endpoint do not change its version",
    },
    'a weak entity tag is accepted like a strong one': {
      file: 'src/api/rest/entity-tags.ts',
      find: "return '';",
      put: `return field.replaceAll(/^W\\/|"/g, '');`,
      test: '%s %s takes effect only with the current entity tag',
    },
    'the entity tag of the settings ignores their endpoint': {
      file: 'src/api/rest/endpoints/config.ts',
      find: '          if (demanded !== undefined) await checkConfigEndpoint(transaction, viewer, state);\n',
      test: 'the settings have one entity tag, which changes with any of them through either API',
    },
  },
  'test/access/cursors.test.ts': {
    'a cursor reveals what it names': {
      file: 'src/core/cursors.ts',
      find: 'return cipher.update(bytesOf(position))',
      put: 'return bytesOf(position)',
      test: 'a cursor is short, and reveals nothing about what it names',
    },
    'each instance has its own cursors': {
      file: 'src/server/gateway.ts',
      find: 'new Cursors(config.SECRET_KEY ? [',
      put: 'new Cursors(config.SECRET_KEY ? [Buffer.from(crypto.getRandomValues(new Uint8Array(32))), ',
      test: 'the same position has the same cursor in all lists and streams, on every instance',
    },
    'a different spelling of a cursor is accepted': {
      file: 'src/core/cursors.ts',
      find: " || bytes.toString('base64url') !== cursor",
      test: '%s refuses what is not a cursor of its list and platform, naming the argument',
    },
    'a cursor of a different order is read as one of this order': {
      file: 'src/core/paging.ts',
      find: 'keyOf: (position) => (position.length === 36 ? position : undefined)',
      put: 'keyOf: (position) => position.slice(-36)',
      test: 'a cursor of a different order of its list is refused',
    },
    'the cursors of a replaced key become invalid with the rotation': {
      file: 'src/core/cursors.ts',
      find: 'for (const key of this.#keys) {',
      put: 'for (const key of this.#keys.slice(0, 1)) {',
      test: 'cursors of a replaced key are valid for as long as the key is a fallback',
    },
    'an instance without SECRET_KEY serves, and fails at the first cursor': {
      file: 'src/server/gateway.ts',
      find: "if (config.ROLE !== 'work' && !config.SECRET_KEY) {",
      put: 'if (config.ROLE === undefined) {',
      test: 'an instance without SECRET_KEY does not serve',
    },
  },
  'test/rest/parameters.test.ts': {
    'a cursor of another platform is accepted': {
      file: 'src/core/cursors.ts',
      find: "'', `cursors ${name}`",
      put: "'', `cursors ${name.split(' ', 1)}`",
      test: 'refuses cursors of other lists and of other platforms',
    },
    'a page begins with the row of its cursor': {
      file: 'src/api/rest/lists.ts',
      find: `size: query.limit,
    backward: false,`,
      put: `size: query.limit - 1,
    backward: false,`,
      test: 'pages through everything once, with any page size, and states the total',
    },
  },
  'test/graphql/connections.test.ts': {
    'a page between two cursors ignores the second one': {
      file: 'src/api/graphql/paging.ts',
      find: '...(lt !== undefined && { lt })',
      put: '...(lt !== undefined && gt === undefined && { lt })',
      test: 'a walk between two cursors stops before the second, in either direction',
    },
  },
  'test/access/rights-that-end.test.ts': {
    'a socket continues streams that its renewed token may not open': {
      file: 'src/domain/access/tokens/sessions.ts',
      find: 'for (const couldBegin of open.underWay) if (!(await couldBegin(viewer))) return false;',
      test: 'ends when it is renewed by %s',
    },
    'a stream opens although its socket was meanwhile renewed with a lesser token': {
      file: 'src/domain/access/tokens/sessions.ts',
      find: 'if (await couldBegin(open.viewer)) return',
      put: 'if (open.underWay.size > 0) return',
      test: 'a stream still opening when a lesser token renews its socket does not open',
    },
    'a socket accepts credentials that were not looked up': {
      file: 'src/api/graphql/transports/socket-sessions.ts',
      find: 'if (viewer === null) return;',
      put: `if (viewer === null) extra.authorization = authorization;
  if (viewer === null) return;`,
      test: 'a socket rejects credentials that could not be looked up, and continues with its own',
    },
    'a stream continues with a document that its token may no longer send': {
      file: 'src/api/graphql/server/supervise-stream.ts',
      find: '(!viewer.trustedDocumentsOnly || sent.isRegistered(viewer, args.document))',
      put: 'sent !== undefined',
      test: 'other streams end, and those of registered documents continue until the documents are deleted',
    },
  },
  'test/access/token-parents.test.ts': {
    'a webhook endpoint outlives the token that created it': {
      file: 'src/domain/access/tokens/revoke-tokens.ts',
      find: "and token_id in (select id from family) and $5 and status <> 'DISABLED'",
      put: "and token_id in (select id from family) and not $5 and status <> 'DISABLED'",
      test: 'a revoked token disables the endpoints that it or a descendant created, redirected or enabled',
    },
    'deliveries to an endpoint that ends with its token wait forever': {
      file: 'src/domain/access/tokens/revoke-tokens.ts',
      find: 'for (const endpointId of endpoints) await dropPending(on, caller.platformId, endpointId);',
      put: 'if (endpoints.length > 20) await dropPending(on, caller.platformId, id);',
      test: 'a revoked token disables the endpoints that it or a descendant created, redirected or enabled',
    },
    'an endpoint does not end with the token that redirected it': {
      file: 'src/api/webhooks/endpoints/endpoint-changes.ts',
      find: '...(takesOver && { tokenId }),',
      put: '...(enables && { tokenId }),',
      test: 'a revoked token disables the endpoints that it or a descendant created, redirected or enabled',
    },
    'a revoked token creates a webhook endpoint while a gateway remembers it': {
      file: 'src/api/webhooks/endpoints/endpoint-changes.ts',
      find: `await lockPlatform(client, caller);
  const tokenId = await lockMaker(client, caller);`,
      put: `await lockPlatform(client, caller);
  const { tokenId } = caller;`,
      test: 'a revoked token cannot create another, even while a gateway remembers it',
    },
  },
  'test/access/permissions.test.ts': {
    'a token with MANAGE only reads events through a webhook endpoint': {
      file: 'src/domain/access/operations.ts',
      find: "if ('reads' in operation) requirePermission(caller, 'VIEW');",
      test: 'granting access to events, or reading them through an endpoint, needs VIEW on both APIs',
    },
    'a token that cannot approve payments creates an endpoint that can': {
      file: 'src/api/webhooks/endpoints/endpoint-changes.ts',
      find: `  requireMayApprove(caller, fields.eventTypes);
`,
      test: 'creating or redirecting an endpoint whose answers approve payments needs TRANSACT on both APIs',
    },
    'a token that cannot approve payments redirects an endpoint that can': {
      file: 'src/api/webhooks/endpoints/endpoint-changes.ts',
      find: 'if (takesOver) requireMayApprove',
      put: 'if (approves) requireMayApprove',
      test: 'creating or redirecting an endpoint whose answers approve payments needs TRANSACT on both APIs',
    },
  },
  'test/database/closed-to-public.test.ts': {
    "every login of the server may execute functions with the owner's rights": {
      file: 'prisma/migrations',
      find: "execute format('revoke execute on function %s from public', v_function.name);",
      put: 'null;',
      test: 'cannot do so even with usage of the schemas',
    },
    'every login of the server may execute a function of a later migration': {
      file: 'prisma/migrations',
      find: 'alter default privileges revoke execute on functions from public;',
      test: 'cannot call a function of a later migration, which the two roles may call',
    },
  },
};
