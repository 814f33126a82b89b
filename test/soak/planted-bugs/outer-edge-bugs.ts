import type { Bugs } from './plant.ts';

/** Bugs in the handling of unauthenticated requests, and of misleading JSON. */
export const outerEdgeBugs: Bugs = {
  'test/http/exact-json.test.ts': {
    'the last of two members with one name counts': {
      file: 'src/core/json.ts',
      find: 'if (!isPlain || namesIn(value) !== names) checkExact(json);',
      put: 'if (!isPlain) checkExact(json);',
      test: '%s moves no money, and the error names it',
    },
    'a number that JavaScript cannot represent is rounded': {
      file: 'src/core/json.ts',
      find: 'if (canonical(source) === canonical(String(value))) return;',
      put: 'if (source !== undefined) return;',
      test: '%s moves no money, and the error names it',
    },
    'JSON may be nested so deeply that its parser overflows the stack': {
      file: 'src/core/json.ts',
      find: 'const maxDepth = 64;',
      put: 'const maxDepth = 1e9;',
      test: 'more than 64 levels are refused, without a crash',
    },
    'a parameter of a GET that occurs twice is accepted': {
      file: 'src/api/graphql/server/read-operation.ts',
      find: 'if (values.length > 1)',
      put: 'if (values.length > 2)',
      test: 'a GET with a repeated parameter, or a repeated member in one, is refused by name',
    },
  },
  'test/graphql/over-http.test.ts': {
    'the first media type counts, whatever its weight': {
      file: 'src/api/graphql/transports/json-requests.ts',
      find: "  const accept = headers.accept || '*/*';",
      put: "  const accept = (headers.accept || '*/*').split(';')[0] ?? '';",
      test: 'a refused type beside another',
    },
    'extensions may be a list': {
      file: 'src/api/graphql/server/read-operation.ts',
      find: ' && !Array.isArray(value);',
      put: ';',
      test: '%s',
    },
    'a mutation runs with the method QUERY': {
      file: 'src/api/graphql/server/read-operation.ts',
      find: "new Set(['GET', 'HEAD', 'QUERY'])",
      put: "new Set(['GET', 'HEAD'])",
      test: 'a mutation by QUERY',
    },
    'the path through Yoga has different statuses': {
      file: 'src/api/graphql/server/server.ts',
      find: 'new Response(body, rest)',
      put: 'new Response(body, { ...rest, status: 200 })',
      test: '%s',
    },
    'a proxy may compress an event stream, and hold its messages back': {
      file: 'src/api/graphql/transports/server-events.ts',
      find: 'no-store, no-transform',
      put: 'no-store',
      test: '%s of a subscription',
    },
  },
  'test/graphql/socket-order.test.ts': {
    'an operation that the client has ended still counts': {
      file: 'src/api/graphql/transports/socket-order.ts',
      find: "    if (type === 'complete') this.#open.delete(id);\n",
      put: '',
      test: 'over a bare socket, with reused ids',
    },
    'a reused id ends with the operation that had it before': {
      file: 'src/api/graphql/transports/socket-order.ts',
      find: 'wait ? wait.then(next) : next()',
      put: 'next()',
      test: 'over a bare socket, with reused ids',
    },
  },
  'test/rest/document.test.ts': {
    'a generator turns a reference with a description into an intersection': {
      file: 'src/api/rest/document.ts',
      find: 'if (allOf?.length === 2',
      put: 'if (allOf?.length === 3',
      test: 'generators find a type for everything: no intersections or defaults, and bounded numbers',
    },
  },
  'test/rest/changes.test.ts': {
    'a null in a new value of a change is refused': {
      file: 'src/api/rest/schemas/fields.ts',
      find: 'z.preprocess(withoutNulls, schema).nullish()',
      put: 'schema.nullish()',
      test: 'null clears a field on a change, is ignored if the field is required, and never sets a value',
    },
  },
  'test/rest/examples.test.ts': {
    'the document lacks the cursor of webhooks': {
      file: 'src/api/rest/schemas/webhook-schemas.ts',
      find: "      cursor: z.string().describe('The position of the event in the feed: a stream can resume after it.'),\n",
      put: '',
      test: 'each webhook matches the document for its type, and has the header fields of its signature',
    },
    'null is refused for an optional field': {
      file: 'src/api/rest/server.ts',
      find: "request.method === 'PATCH' ? parsed",
      put: "request.method !== 'GET' ? parsed",
      test: 'null is the same as omission: each example creates its object with null for every other member',
    },
  },
  'test/rest/commands.test.ts': {
    'a quoted idempotency key is a different one': {
      file: 'src/core/idempotency.ts',
      find: ' ?? field;',
      put: ' && field;',
      test: 'reads a key as a plain or structured string, and refuses a header with another name',
    },
    'an integer that is too large is reported as not an integer': {
      file: 'src/api/rest/schemas/fields.ts',
      find: "code === 'too_big' ?",
      put: "code === 'too_small' ?",
      test: 'reads numbers exactly: a non-integer is refused as an amount, however close to an integer',
    },
  },
  'test/graphql/bad-arguments.test.ts': {
    'a stream of no event types follows all of them': {
      file: 'src/api/graphql/schema/streams/stream.ts',
      find: 'if (subject === null)',
      put: "if (subject === 'none')",
      test: '%s is refused when its %s is null, and follows everything when it is omitted',
    },
    'a failing query field nulls the others': {
      file: 'src/api/graphql/schema/semantic-non-null.ts',
      find: "(field.kind !== 'Query' && field.kind !== 'Mutation')",
      put: "field.kind !== 'Mutation'",
      test: 'a query field that fails is null with its error, and the fields beside it are answered',
    },
    'a mutation whose answer cannot be read nulls the others': {
      file: 'src/api/graphql/schema/semantic-non-null.ts',
      find: "(field.kind !== 'Query' && field.kind !== 'Mutation')",
      put: "field.kind !== 'Query'",
      test: 'a mutation with an unreadable result is null with its error, and those beside it are answered',
    },
    'a day has an hour 24': {
      file: 'src/core/checks.ts',
      find: '([01]\\d|2[0-3]):[0-5]\\d(:[0-5]',
      put: '([01]\\d|2[0-4]):[0-5]\\d(:[0-5]',
      test: 'the moment %s is refused',
    },
  },
  'test/rails/upstream-webhooks.test.ts': {
    "a provider's webhook with a duplicate member is stored": {
      file: 'src/rails/upstream/upstream-webhooks.ts',
      find: '    if (error instanceof InexactJson) throw error;\n',
      put: '    if (error instanceof InexactJson) return undefined;\n',
      test: 'a signed webhook with a duplicate member is refused with 400 and not stored',
    },
  },
  'test/rails/upstream-answers.test.ts': {
    'an upstream answer with a duplicate member is a final refusal': {
      file: 'src/rails/upstream/upstream-client.ts',
      find: 'if (error instanceof InexactJson)',
      put: 'if (error instanceof RangeError)',
      test: 'an answer with %s leaves the outcome unknown',
    },
  },
  'test/http/outer-edge.test.ts': {
    "a stranger's GraphQL request is parsed before its credentials are checked": {
      file: 'src/api/http/admission.ts',
      find: '    else if (late && refuseStranger) refuseStranger();\n',
      test: 'to a POST that accepts %s, and to a GET',
    },
    'the form of a request counts for known callers only': {
      file: 'src/api/http/admission.ts',
      find: '  if (wrong) {\n',
      put: '  if (wrong && callers.find(request)) {\n',
      test: '%s %s',
    },
    'a body announced as too long is read before credentials and limits are checked': {
      file: 'src/api/http/request-form.ts',
      find: 'return isTooLong(request) ? { status: 413, message: tooLong } : undefined;',
      put: 'return undefined;',
      test: '%s %s',
    },
    'a message that only servers send closes a socket with a server fault': {
      file: 'src/api/graphql/transports/socket-protocol.ts',
      find: 'return type !== undefined && sentByClients.has(type) ?',
      put: 'return type !== undefined ?',
      test: 'is closed with 4400, with one line in the log: %j',
    },
    'sockets accept binary messages': {
      file: 'src/api/graphql/transports/socket-protocol.ts',
      find: "isBinary ? 'messages must be text' : readMessage(data)",
      put: "isBinary && data === undefined ? '' : readMessage(data)",
      test: '%s: %i',
    },
    'a client that repeatedly violates the socket protocol is refused immediately each time': {
      file: 'src/api/graphql/transports/socket-protocol.ts',
      find: '  await options.pace.wait(session?.viewer.platformId ?? `address ${options.addressOf(extra.request)}`);\n',
      test: 'is closed with a delay if its client continues',
    },
    'one address may use all connections for strangers': {
      file: 'src/api/http/bounded-waits.ts',
      find: '>= this.#maxOfGroup ? undefined',
      put: '>= Number.POSITIVE_INFINITY ? undefined',
      test: 'without credentials get a quarter of all for one address, and others are served',
    },
    'strangers may use all connections of an instance': {
      file: 'src/api/http/connections.ts',
      find: 'new BoundedWaits(Math.ceil(limits.most / 2), ',
      put: 'new BoundedWaits(limits.most * 2, ',
      test: 'without credentials beyond half of all are closed, the oldest of the busiest address first',
    },
    'a caller with valid credentials is limited like a stranger': {
      file: 'src/api/http/admission.ts',
      find: '    if (late === undefined) connections.noteKnown(request.socket);\n',
      also: [
        { file: 'src/api/http/admission.ts', find: '  if (caller) connections.noteKnown(request.socket);\n', put: '' },
      ],
      test: 'with credentials do not count among those without, over HTTP and over sockets',
    },
    'a trusted proxy counts as one address': {
      file: 'src/api/http/client-address.ts',
      find: 'return isTrusted(address) ? undefined : networkOf(address);',
      put: 'return isTrusted(address) ? networkOf(address) : networkOf(address);',
      test: 'of a trusted proxy are not counted as those of one address',
    },
    'a connection that sends nothing stays open forever': {
      file: 'src/api/http/server.ts',
      find: '    headersTimeout: headersMs,\n',
      put: '    headersTimeout: 0,\n    requestTimeout: 0,\n',
      test: 'without a request, or without a complete request head, are closed',
    },
    'files of pages are served although no page uses them': {
      file: 'src/api/pages/assets.ts',
      find: 'shown.flatMap((page) => pages[page]?.files ?? [])',
      put: 'Object.values(pages).flatMap(({ files }) => (shown ? files : []))',
      test: 'exists only if a page that uses it is shown',
    },
  },
  'test/guides.test.ts': {
    'the receiver in the server guide crashes at a webhook without a signature': {
      file: 'docs/guides/server.md',
      find: '  } catch {\n    return 401;\n',
      put: '  } catch (error) {\n    if (/header/.test(error.message)) process.exit(1);\n    return 401;\n',
      test: 'for a server ignores forged requests to its webhook’s address',
    },
  },
};
