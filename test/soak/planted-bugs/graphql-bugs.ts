import type { Bugs } from './plant.ts';

/** Bugs in GraphQL: the schema, reading, limits and transports. */
export const graphqlBugs: Bugs = {
  'src/api/graphql/documents/tools.ts': {
    'access/mcp › a token with %s gets a message with the reason': {
      "if (!isInputObjectType(type) || !('validateOnly' in type.getFields()))": 'if (!isInputObjectType(type))',
    },
  },
  'src/api/graphql/documents/trusted-documents.ts': {
    'graphql/trusted-documents › %s is refused as a whole': {
      "return algorithm !== undefined && digest(algorithm, text, 'hex') === hash;": 'return algorithm !== undefined;',
    },
  },
  'src/api/graphql/limits/alternatives.ts': {
    'graphql/cost › is that of the most expensive kind of subject, if a hundred events show all kinds': {
      'if (!types || on === parent': 'if (types || on === parent',
    },
    'graphql/document-size › a selection set costs as much as the most expensive type that a row can have': {
      'return add(sum, sum.alternatives?.get(name) ?? noCost);': 'return sum.alternatives?.get(name) ?? sum;',
    },
  },
  'src/api/graphql/limits/document-size.ts': {
    'graphql/cost › is recognized in variables, in their defaults and in parts of them': {
      '`${ownCostOf(argumentValue, field, definition).cost} ': '` ',
    },
    'graphql/budget › checks a cached document again when its variables change, and does not cache refusals': {
      ' ${listSizeOf(argumentValue, field, definition)?.rows}`': '`',
    },
  },
  'src/api/graphql/limits/list-sizes.ts': {
    'graphql/cost › 100 ids with a list under each exceed the cost limit, and the error names the list': {
      'clampSize(Array.isArray(value) ? value.length : 1)':
        'clampSize(Array.isArray(value) ? Math.min(1, value.length) : 1)',
    },
    'graphql/cost › is recognized in variables, in their defaults and in parts of them': {
      'Object.assign(sent, variables);': '',
    },
    'graphql/cost › is charged for a search, once for each way to find its rows: %s(%s)': {
      'let conditions = Number(search.isBelow) + Number(isByChange);': 'let conditions = Number(isByChange);',
      'new Set([value].flat()).size <= 1': 'new Set([value].flat()).size > 0',
    },
  },
  'src/api/graphql/paging.ts': {
    "graphql/connections › any page is what the specification's algorithm makes of the whole list": {
      '...(lt !== undefined && { lt })': '...(lt !== undefined && gt === undefined && { lt })',
    },
  },
  'src/api/graphql/reading/kinds.ts': {
    'graphql/plans › $name reads only rows of its parent, and no more than the page has': {
      'columns.map((column) => [`${alias}.platform_id = ${row}.platform_id and ${oneOfFew(alias, column, `${row}.id`)}`]);':
        "[[`${alias}.platform_id = ${row}.platform_id and (${columns.map((column) => `${alias}.${column} = ${row}.id`).join(' or ')})`]];",
    },
  },
  'src/api/graphql/reading/plugin.ts': {
    'graphql/stock › a payment that has changed is shown as of each event, in streams and in lists': {
      '(isElsewhere && isStock(context) ? resolver : own)': 'resolver',
    },
  },
  'src/api/graphql/reading/run.ts': {
    'graphql/repeated › a repeated document follows the variables of its arguments and directives': {
      "const key = `${number} ${operationName ?? ''} ${directiveValues}`;":
        "const key = `${number} ${operationName ?? ''} ${directiveValues.length}`;",
    },
    'graphql/abandoned › a response over the size limit is refused, and the error names the limit': {
      'run.bind(run.maxBytes)': 'run.bind(2 ** 30 + run.maxBytes)',
    },
  },
  'src/api/graphql/reading/sql.ts': {
    'graphql/cost › is read once when a document has it under several names, whatever its selections': {
      'this.#shared.findIndex((one) => one.meaning() === meaning())': '-1',
    },
  },
  'src/api/graphql/reading/statement-reads.ts': {
    'graphql/plans › $name reads only rows of its parent, and no more than the page has': {
      "${oneOfFew(alias, 'account_id', `${row}.id`)}": '${alias}.account_id = ${row}.id',
    },
  },
  'src/api/graphql/reading/stock.ts': {
    "graphql/stock › the Prisma plug-in finds each platform's row, even when two platforms read in the same tick": {
      'findUnique: (args: { readonly where: Row }) => findFirst?.(flat(args)),': '',
    },
  },
  'src/api/graphql/schema/customers/statement.ts': {
    'payments/statements › the opening balance and the entries of any period give its closing balance, and periods join':
      {
        "credits: t.fromQuery(StatementSum, statementSum('>')": "credits: t.fromQuery(StatementSum, statementSum('<')",
      },
  },
  'src/api/graphql/schema/list.ts': {
    'graphql/cost › makes a document expensive, and twenty of them are refused: %s': {
      "extensions: { costs: 'all' }, ": '',
    },
  },
  'src/api/graphql/schema/mutation.ts': {
    'access/mcp › pay what its policy refuses gets no confirmation': {
      "context.outcome = 'REFUSED';\n        return asUserError(wrong, (path) => path);":
        'return asUserError(wrong, (path) => path);',
    },
    'graphql/abandoned › a request that its client aborts executes no further mutation': {
      'if (context.isAbandoned()) throw abandoned();': '',
    },
  },
  'src/api/graphql/schema/payments/parties.ts': {
    "payments/names › to another customer's account include the payee's; strangers do not see its number": {
      "account && maySee('account', viewer, account) ? number : null":
        "account && viewer.bound.kind !== 'PAYMENT' ? number : null",
    },
  },
  'src/api/graphql/schema/payments/quote.ts': {
    'graphql/declarations › a field shows the column, or JSON member, of its name; an amount with its currency': {
      "t.money('feesIncluded', 'sendingCurrency'": "t.money('feesIncluded', 'receivingCurrency'",
    },
  },
  'src/api/graphql/schema/payments/transaction-mutations.ts': {
    "payments/four-eyes › applies to the customer's app, which sees that its payment waits, but not whose tokens decide":
      {
        "viewer.kind === 'PLATFORM' || createdBy === tokenOf(viewer) ? createdBy : null":
          'viewer && createdBy !== tokenOf({ ...viewer, tokenId: null }) ? createdBy : null',
      },
  },
  'src/api/graphql/schema/payments/transaction.ts': {
    "payments/statements › an app sees only its own customer's statement; a token bound to a payment sees no balance": {
      "seen: ['account', visibleAccounts],": 'seen: undefined as never,',
    },
  },
  'src/api/graphql/reading/semantic-non-null.ts': {
    'graphql/bad-arguments › a query field that fails is null with its error, and the fields beside it are answered': {
      "(field.kind !== 'Query' && field.kind !== 'Mutation')": "field.kind !== 'Mutation'",
    },
    'graphql/bad-arguments › a mutation with an unreadable result is null with its error, and those beside it are answered':
      {
        "(field.kind !== 'Query' && field.kind !== 'Mutation')": "field.kind !== 'Query'",
      },
  },
  'src/api/graphql/schema/streams/stream.ts': {
    'graphql/bad-arguments › %s is refused when its %s is null, and follows everything when it is omitted': {
      'if (subject === null)': "if (subject === 'none')",
    },
  },
  'src/api/graphql/schema/values/people.ts': {
    'payments/names › a payment whose customer is null states whether it is the platform’s or a hidden customer’s': {
      "? 'CUSTOMER' : 'HIDDEN'": "? 'CUSTOMER' : 'PLATFORM'",
    },
  },
  'src/api/graphql/server/operations.ts': {
    'graphql/trusted-documents › a token for registered documents only can send no other, by text or by hash': {
      'if (context.viewer.trustedDocumentsOnly)': "if (context.viewer.trustedDocumentsOnly && query === '')",
    },
  },
  'src/api/graphql/server/present-error.ts': {
    'attack/hostile › ${probes} random requests, good and bad, over all transports cause no fault, leak or broken bound':
      {
        'if (isInputError(error)) {': "if (isInputError(error) && message === 'never') {",
        'return new GraphQLError(message, { ...location,':
          'return new GraphQLError(error.stack ?? message, { ...location,',
      },
  },
  'src/api/graphql/server/read-operation.ts': {
    'http/exact-json › a GET with a repeated parameter, or a repeated member in one, is refused by name': {
      'if (values.length > 1)': 'if (values.length > 2)',
    },
    'graphql/over-http › a mutation by QUERY': {
      "new Set(['GET', 'HEAD', 'QUERY'])": "new Set(['GET', 'HEAD'])",
    },
  },
  'src/api/graphql/server/replica-reads.ts': {
    'database/replicas › a page after a cursor is not older than the page before it': {
      'namesCursor(args.document) ? undefined : readAfter': 'readAfter',
    },
  },
  'src/api/graphql/server/sent-documents.ts': {
    'graphql/trusted-documents › sends these over %s, and none that only others may send': {
      'documents.length === 0 ? hashes.length > 0 : hashes.some((hash) => documents.includes(hash))':
        'documents.length >= 0 && hashes.length > 0',
    },
  },
  'src/api/graphql/server/server.ts': {
    'graphql/over-http › %s': {
      'new Response(body, rest)': 'new Response(body, { ...rest, status: 200 })',
    },
  },
  'src/api/graphql/server/streams.ts': {
    'events/sharing › callers that see different objects share nothing, even with the same document and event': {
      'return JSON.stringify([scope, variables]);': 'return JSON.stringify([variables]);',
    },
    'access/rights-that-end › other streams end, and those of registered documents continue until the documents are deleted':
      {
        '(!viewer.trustedDocumentsOnly || sent.isRegistered(viewer, args.document))': 'sent !== undefined',
      },
  },
  'src/api/graphql/transports/distinct-connections.ts': {
    'graphql/over-http › %s of a subscription': {
      'no-store, no-transform': 'no-store',
    },
  },
  'src/api/graphql/transports/json-requests.ts': {
    'graphql/over-http › a refused type beside another': {
      "  const accept = headers.accept || '*/*';": "  const accept = (headers.accept || '*/*').split(';')[0] ?? '';",
    },
  },
  'src/api/graphql/transports/mcp.ts': {
    'access/mcp › a token that may move money needs a policy on amounts': {
      '!(await isLimited())': '!isLimited',
    },
    'access/mcp › finds exactly the documents of its token, as tools': {
      'of documents) {':
        'of (await asPlatform(platformId, () => trusted.list({ platformId } as Viewer))).map((one) => one.hash)) {',
      'readOnlyHint: false, destructiveHint: true': 'readOnlyHint: true, destructiveHint: false',
    },
    'access/mcp › validates a payment first, and pays when it confirms': {
      'withValueAt(given, places.validateOnly, !isConfirmed)': 'withValueAt(given, places.validateOnly, false)',
    },
    'access/mcp › repeat a payment pays once': {
      'if (!isValid) return result;\n  if (confirmation === undefined)':
        'if (!isValid && isConfirmed) return result;\n  if (confirmation === undefined)',
    },
    'access/mcp › skip the validation pays nothing': {
      'validated === digest &&': 'validated !== undefined &&',
    },
    'access/mcp › pay what its policy refuses gets no confirmation': {
      'if (!isValid) return result;': 'void isValid;',
    },
  },
  'src/api/graphql/transports/socket-protocol.ts': {
    'graphql/socket-order › over a bare socket, with reused ids': {
      "    if (type === 'complete') this.#open.delete(id);\n": '',
      'wait ? wait.then(next) : next()': 'next()',
    },
    'http/outer-edge › is closed with 4400, with one line in the log: %j': {
      'return type !== undefined && sentByClients.has(type) ?': 'return type !== undefined ?',
    },
    'http/outer-edge › %s: %i': {
      "isBinary ? 'messages must be text' : readMessage(data)":
        "isBinary && data === undefined ? '' : readMessage(data)",
    },
    'http/outer-edge › is closed with a delay if its client continues': {
      '  await options.pace.wait(session?.viewer.platformId ?? `address ${extra.address}`);\n': '',
    },
  },
  'src/api/graphql/transports/socket-sessions.ts': {
    'access/rights-that-end › a socket rejects credentials that could not be looked up, and continues with its own': {
      'if (viewer === null) return;':
        'if (viewer === null) extra.authorization = authorization;\n  if (viewer === null) return;',
    },
  },
  'src/api/graphql/wrong-value.ts': {
    'graphql/list-bounds › a list with one value too many is refused, naming it and its limit: $root $name': {
      'value.length > maxListLength': 'value.length > 1_000_000',
    },
  },
};
