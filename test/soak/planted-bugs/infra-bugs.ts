import type { Bugs } from './plant.ts';

/** Bugs in the values, rails, the database access and the server. */
export const infraBugs: Bugs = {
  'src/core/account-fields.ts': {
    'payments/account-types › PRODUCTION accepts it as printed on invoices, and both APIs return the same canonical spelling':
      {
        'canonical: (value) => bareIban.canonical(withoutLabel(value)),':
          'canonical: (value) => bareIban.canonical(value),',
      },
    'payments/account-types › PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike':
      {
        'if (letter === undefined) return notZeros': 'if (letter !== "") return notZeros',
      },
    'payments/same-account › five hundred spellings of fifty accounts, registered concurrently, are fifty accounts': {
      'const spaces = String.raw`\\s': 'const spaces = String.raw` ',
    },
    'payments/same-account › is one account in every spelling, and a different one at each other bank': {
      "const bare = (value: string) => value.replace(gap, '');":
        "const bare = (value: string) => value.replace(/\\s/g, '');",
    },
    'proof/accounts › an account with a typing error is refused, naming the field, unless its library accepts it too': {
      'cnpjs.isValid(value)': 'value !== ""',
    },
    'proof/accounts › an account of any type, in any printed spelling, is accepted in PRODUCTION and stored canonically':
      {
        "replace(/^(.{8})XXX$/, '$1')": 'trim()',
      },
  },
  'src/core/account-types.ts': {
    'payments/account-types › PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike':
      {
        'iban: ibanField(ibanFault),': 'iban: ibanField(() => undefined),',
      },
  },
  'src/core/carried-text.ts': {
    "payments/account-types › registering an account warns that %s transmits its owner's name in other characters": {
      'if (cut === name) return { text: cut };': 'if (cut !== "") return { text: cut };',
    },
  },
  'src/core/checks.ts': {
    'graphql/bad-arguments › the moment %s is refused': {
      '([01]\\d|2[0-3]):[0-5]\\d(:[0-5]': '([01]\\d|2[0-4]):[0-5]\\d(:[0-5]',
    },
    'payments/people › born on %s': {
      'const today = now.toISOString().slice(0, 10);':
        'const today = new Date(now.getTime() + 172_800_000).toISOString().slice(0, 10);',
    },
  },
  'src/core/countries.ts': {
    'payments/people › in %s': {
      'if (countries.has(code)) return undefined;': 'if (/^[A-Z]{2}$/.test(code)) return undefined;',
    },
  },
  'src/core/cursors.ts': {
    'access/cursors › a cursor is short, and reveals nothing about what it names': {
      'return cipher.update(bytesOf(position))': 'return bytesOf(position)',
    },
    'access/cursors › %s refuses what is not a cursor of its list and platform, naming the argument': {
      " || bytes.toString('base64url') !== cursor": '',
      "'', `cursors ${name}`": "'', `cursors ${name.split(' ', 1)}`",
    },
    'access/cursors › cursors of a replaced key are valid for as long as the key is a fallback': {
      'of this.#keys.entries()) {': 'of this.#keys.slice(0, 1).entries()) {',
    },
  },
  'src/core/fraction.ts': {
    'payments/pricing › refuse less than half a receiving unit, and round up half of one': {
      'numerator: 2n * numerator + denominator, denominator: 2n * denominator':
        'numerator: 2n * numerator + denominator - 1n, denominator: 2n * denominator',
    },
  },
  'src/core/idempotency.ts': {
    'access/client-tokens › idempotency keys of one app are independent of those of other apps and of the platform': {
      'return keySpace === undefined ? operation :': "return keySpace !== '' ? operation :",
    },
    'attack/matrix › over GraphQL, objects named by %s look as if they never existed': {
      'return keySpace === undefined ? operation : `${operation}@${keySpace}`;':
        'return keySpace === undefined ? operation : operation;',
    },
    'rest/commands › reads a key as a plain or structured string, and refuses a header with another name': {
      ' ?? field;': ' && field;',
    },
  },
  'src/core/json.ts': {
    'http/exact-json › %s moves no money, and the error names it': {
      'if (!isPlain || namesIn(value) !== names) checkExact(json);': 'if (!isPlain) checkExact(json);',
      'if (canonical(source) === canonical(String(value))) return;': 'if (source !== undefined) return;',
    },
    'http/exact-json › more than 64 levels are refused, without a crash': {
      'const maxDepth = 64;': 'const maxDepth = 1e9;',
    },
    'graphql/over-http › %s': {
      ' && !Array.isArray(value);': ';',
    },
  },
  'src/core/paging.ts': {
    'access/cursors › a cursor of a different order of its list is refused': {
      'keyOf: (position) => (position.length === 36 ? position : undefined)':
        'keyOf: (position) => position.slice(-36)',
    },
    'graphql/paging › by last change, no row is missed in ascending order, and none is repeated in descending order': {
      '{ id: { [operator]: id } }': "{ id: { [strict + 'e']: id } }",
    },
  },
  'src/core/secret-box.ts': {
    'webhooks/secret-box › a sealed secret opens only with its key, for its owner, and unchanged': {
      'cipher = createCipheriv(algorithm, this.#keyOf(this.keyId), nonce).setAAD(Buffer.from(owner))': {
        put: "cipher = createCipheriv(algorithm, this.#keyOf(this.keyId), nonce).setAAD(Buffer.from(owner && ''))",
        also: [
          {
            file: 'src/core/secret-box.ts',
            find: '      .setAAD(Buffer.from(owner))\n      .setAuthTag',
            put: "      .setAAD(Buffer.from(owner && ''))\n      .setAuthTag",
          },
        ],
      },
    },
  },
  'src/core/texts.ts': {
    'payments/customers › a name is found by its prefix in any case of any script, composed or not, over both APIs': {
      'for (const capital of letter.toLowerCase().toUpperCase()) folded += capital.toLowerCase();':
        'folded += letter.toLowerCase();',
    },
    'attack/texts › every text of every mutation is refused or stored as the table of strange texts says': {
      'return canonical as Text;': 'return text;',
      'return !joining.test(before);': 'return false;',
    },
    'attack/texts › every REST text is bounded in the document, and refused as the table of strange texts says': {
      'text.length > 2 * maxLength || lengthOf(text) > maxLength': 'text.length > maxLength',
    },
  },
  'src/core/outside-wait.ts': {
    'http/overload › beside another, a platform runs expensive queries in a quarter of its turns; the rest pass them': {
      'if (wait) await turnlessWait(wait);': 'if (wait) await wait;',
    },
  },
  'src/core/wallet-fields.ts': {
    'payments/account-types › PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike':
      {
        'key.every((byte) => byte === 0) ?': 'key.length === 0 ?',
      },
  },
  'src/infra/database/conditions.ts': {
    'graphql/cost › each value of a list in arguments costs 1, and equal values are bound once': {
      '[...new Set(value as readonly unknown[])]': '[...(value as readonly unknown[])]',
    },
  },
  'src/infra/database/connections/connection-shares.ts': {
    'http/overload › a lone platform leaves one to newcomers, however slow its reads are': {
      'pool.options.max - 1': 'pool.options.max',
    },
  },
  'src/infra/database/connections/hosts.ts': {
    'database/statement › a statement with more parameters than the protocol allows is refused before it is sent': {
      'values.length > maxParameters': 'values.length > 10 * maxParameters',
    },
  },
  'src/infra/database/connections/platform-scope.ts': {
    'access/same-tick › runs for the platform in whose name it was created, wherever it is awaited': {
      "=== '[object PrismaPromise]'": "=== '[object Promise]'",
    },
  },
  'src/infra/database/connections/platform-statement.ts': {
    'database/pooler › platforms see only their own rows, and no platform stays behind in a session': {
      ', true)`;': ', false)`;',
    },
  },
  'src/infra/database/connections/serving-pool.ts': {
    "access/database-wall › sees the platform of each statement's caller, even after errors and in transactions": {
      'if (this.#platforms.get(client) === platform) return undefined;':
        'if (this.#platforms.has(client) && query instanceof TextQuery) return undefined;',
    },
  },
  'src/infra/database/connections/statement-names.ts': {
    'graphql/plans › an index serves $name': {
      "if (planning === 'anew') return '';": '',
    },
  },
  'src/infra/database/embedded/embedded-location.ts': {
    'start › an interrupted or killed first start leaves nothing behind for the next one': {
      '  await removeAbandoned(folder);\n': '',
    },
  },
  'src/infra/database/embedded/embedded.ts': {
    'start › shell variables for another Postgres do not affect the embedded one': {
      'if (ofAnotherServer.test(name)) delete process.env[name];': 'ofAnotherServer.test(name);',
    },
  },
  'src/infra/database/leases.ts': {
    'rails/upstream-webhooks › a webhook is not marked as done before it has been processed': {
      "set ${until} = clock_ms() + $2::float8 * interval '1 millisecond'":
        'set ${until} = case when $2::float8 < 0 then clock_ms() end',
    },
    'database/leases › rows of $table are leased in order of their due time, each to one worker, until its lease ends':
      {
        'order by ${dueAt} limit $1': 'order by ${dueAt} desc limit $1',
      },
    'rails/found-deposits › a report of a deposit that arrives during a query makes the next query due immediately': {
      ' and l.${dueAt} = d.leased_until': '',
    },
  },
  'src/infra/database/list-rows.ts': {
    'graphql/plans › $name reads only rows of its parent, and no more than the page has': {
      'matching} offset 0)': 'matching})',
      ' and ${alias}.${column} between ${value} and ${value}`': '`',
      "if (below.length > 0) binds.planning ??= 'once';": '',
    },
    'graphql/repeated › a repeated list follows the kinds, the number and the equality of the values in its filter': {
      "${literalNames.has(name) ? String(value) : ''}": '',
      'if (same >= 0) return `=${same}`;': '',
    },
  },
  'src/infra/database/migrations/catalog.ts': {
    'cli/doctor › %s': {
      "\n  union all select 0, 'PUBLIC')": ')',
      " and t.tgenabled = 'O'\n": '\n',
    },
  },
  'src/infra/database/migrations/migrate.ts': {
    'database/migrate › a migration that waits for a lock lets others through, and retries until it has it': {
      'if (performance.now() >= until)': 'if (performance.now() < until)',
    },
    'database/migrate-busy › a migration can be stopped while it waits or works: work is rolled back, and the next run continues':
      {
        "signal?.addEventListener('abort', cancel, { once: true });": '',
      },
    'database/migrate-busy › a migration gets past an autovacuum, and logs it': {
      "kind === 'autovacuum worker' && !": "kind === '' && !",
    },
  },
  'src/infra/database/owners.ts': {
    'access/database-wall › serves only with a login that owns nothing': {
      "pg_has_role(session_user, c.relowner, 'member')": 'session_user <> current_user and false',
    },
  },
  'src/infra/database/replicas/primary-position.ts': {
    'database/replicas › a read does not share a position query that was sent before it': {
      'if (!this.#current) return this.#begin();':
        'if (!this.#current) return this.#begin();\n    if (this.#last) return this.#current;',
    },
  },
  'src/infra/database/replicas/read-token.ts': {
    'database/replicas › the position in a token is unreadable, even by comparing two tokens': {
      'const nonce = randomBytes(nonceBytes);': 'const nonce = Buffer.alloc(nonceBytes);',
    },
  },
  'src/infra/database/replicas/replicas.ts': {
    'database/replicas › never reads behind a write, on any instance, while the replica falls behind and catches up': {
      'if (replica && (await replica.reach(position))) return { replica, position };':
        'if (replica) return { replica, position: { ...position, lsn: 0n } };',
    },
    'database/replicas › a read with a token from the far future or another history neither waits nor returns less': {
      'if (lsn > known.lsn) return undefined;': '',
    },
    'database/replicas › a lagging replica answers what it has replayed, and never less than the token demands': {
      'lsn: own && own.lsn > lsn ? own.lsn : lsn };': 'lsn };',
    },
  },
  'src/infra/database/transaction.ts': {
    'payments/dry-run › a dry run of any payment states its price, and changes nothing': {
      '(client) => inRolledBackTransaction(client, () => work(client))': '(client) => work(client)',
    },
  },
  'src/infra/health/readiness.ts': {
    'http/readiness › an instance is unready if the server refuses new sessions, though open ones work': {
      'performance.now() - this.#began < sessionMs) return before;': 'sessionMs > 0) return before;',
    },
    'http/readiness › an instance is unready if it lacks the right to call a command, or the command fails inside': {
      'if (state.writable && schema) await tryRequest(client);': '',
    },
  },
  'src/infra/instruments/operator-server.ts': {
    'http/request-address › the metrics': {
      '  refuseWrongAddresses(server);\n': '',
    },
  },
  'src/infra/instruments/request-address.ts': {
    'http/request-address › a document in a Host header is not executed': {
      'if (!authorityForm.test(host) ||': 'if (',
    },
    'http/request-address › the metrics': {
      'if (hosts > 1 || (hosts === 0': 'if ((hosts === 0',
    },
    'http/request-address › $name': {
      'request instanceof IncomingMessage ?':
        'answer instanceof ServerResponse && request instanceof IncomingMessage ?',
    },
    'http/request-address › is refused with %s': {
      'if (named.toLowerCase() !== host?.toLowerCase())': 'if (named === "")',
    },
  },
  'src/infra/net/addresses.ts': {
    'webhooks/addresses › a name that resolves to an internal address is not connected to, even beside a public one': {
      'return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast);': 'return true;',
      '!addresses.every(allowed)': '!addresses.some(allowed)',
    },
  },
  'src/rails/upstream/upstream-accounts.ts': {
    'rails/upstream › payees with one number at two banks have two accounts upstream, and each is paid at its own bank':
      {
        'JSON.stringify([type, bank, identifier])': 'JSON.stringify([type, bank && null, identifier])',
      },
  },
  'src/rails/upstream/upstream-client.ts': {
    'rails/upstream-answers › an answer with %s leaves the outcome unknown': {
      'if (error instanceof InexactJson)': 'if (error instanceof RangeError)',
    },
    'rails/secrets › no secret of a provider is logged, measured, traced or returned, even while secrets rotate': {
      'const content = jsonIn(text, what);':
        'const content = jsonIn(text, what);\n    if (statusCode >= 500) throw new Error(credentials);',
      '[credentials, secret].reduce(hide, message)': 'message',
      'if (content === undefined) throw':
        'if (content === undefined) JSON.parse(text);\n      if (content === undefined) throw',
    },
  },
  'src/rails/upstream/upstream-module.ts': {
    'rails/upstream-deposits › a deposit whose answer was lost upstream is collected once and credited once': {
      'const key = `': 'const key = `${performance.now()}',
    },
  },
  'src/rails/upstream/upstream-identity.ts': {
    'rails/upstream-webhooks › an identity check without a webhook is polled until it is decided or the name changes': {
      'customer.attempts > 0 ? await readCustomer(client, customer) : undefined': 'undefined',
    },
  },
  'src/rails/upstream/upstream-movements.ts': {
    "rails/reconciliation › the gateway's own moves upstream are not differences; unknown payments that leave the account are":
      {
        'hasBegun(one) && !isWithin(one)': 'hasBegun(one)',
        ' && isOwn(source) && isOwn(destination)': ' && isOwn(source)',
      },
  },
  'src/rails/upstream/upstream-orders.ts': {
    'rails/upstream-quotes › an order executed before a restore is found again, although its repeat locked a new quote':
      {
        "new Set(['IDEMPOTENCY_MISMATCH', 'CONFLICT'])": 'new Set()',
      },
    'rails/upstream › a settled order that upstream no longer has is not sent again: its outcome is unknown': {
      'if (order.settled) return this.#lookAgain(order);': '',
    },
  },
  'src/rails/upstream/upstream-webhooks.ts': {
    'rails/upstream-webhooks › a signed webhook with a duplicate member is refused with 400 and not stored': {
      '    if (error instanceof InexactJson) throw error;\n':
        '    if (error instanceof InexactJson) return undefined;\n',
    },
    'rails/upstream-webhooks › a webhook without a valid signature for this platform is refused and not stored': {
      'if (error instanceof WebhookVerificationError) return undefined;':
        'if (error instanceof WebhookVerificationError) return { id };',
    },
  },
  'src/server/gateway.ts': {
    'access/database-wall › no node, getter or list shows foreign objects': {
      "const serving = openDatabase({ url, pooler, role: 'gateway_serving',":
        "const serving = openDatabase({ url, pooler, role: 'gateway_work',",
    },
    'access/cursors › the same position has the same cursor in all lists and streams, on every instance': {
      'new Cursors(config.SECRET_KEY ? [':
        'new Cursors(config.SECRET_KEY ? [Buffer.from(crypto.getRandomValues(new Uint8Array(32))), ',
    },
    'access/cursors › an instance without SECRET_KEY does not serve': {
      "if (config.ROLE !== 'work' && !config.SECRET_KEY) {": 'if (config.ROLE === undefined) {',
    },
  },
  'src/server/serve.ts': {
    'attack/hostile › ${probes} random requests, good and bad, over all transports cause no fault, leak or broken bound':
      {
        'maxAnswerBytes: config.MAX_ANSWER_BYTES,': 'maxAnswerBytes: 100_000_000,',
      },
  },
  'src/server/start/keys-in-use.ts': {
    'cli/ops › are checked at startup: an instance that lacks one in use is refused, and its own keys are retired': {
      "config.NODE_ENV === 'production') throw": "config.NODE_ENV === 'test') throw",
    },
  },
  'src/server/workers/housekeeping.ts': {
    'work/housekeeping › an idempotency key is remembered for 30 days and then forgotten': {
      'from idempotency_record where created_at < ${retentionStart}':
        "from idempotency_record where created_at < ${retentionStart} + interval '10 days'",
    },
    'work/housekeeping › webhook deliveries are deleted with their attempts 30 days after they ended or were last tried':
      {
        "w.status <> 'PENDING' and ": '',
      },
  },
  'test/oracle/scene.ts': {
    'graphql/oracle › ${documents} random documents, repeated by every caller, are answered as by standard execution': {
      "taxId: 'QQ123456C', ": '',
    },
  },
};
