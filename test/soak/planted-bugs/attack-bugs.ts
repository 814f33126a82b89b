import type { Bugs } from './plant.ts';

/** Bugs that the matrix of tenants and scopes and the random requests must notice, as they are found from outside. */
export const attackBugs: Bugs = {
  'test/attack/matrix.test.ts': {
    'an app finds the other customers of its platform by their ids': {
      file: 'src/domain/access/visible.ts',
      find: 'return where(rules.customer, scope);',
      put: 'return { platformId: scope.platformId };',
      test: 'over GraphQL, objects named by %s look as if they never existed',
    },
    'the app of a payment guesses by a filter whose payment it is': {
      file: 'src/domain/commands/filters.ts',
      find: 'ofCustomer(caller, { customer: { platformCustomerId } }),',
      put: '({ customer: { platformCustomerId } }),',
      test: 'over GraphQL, objects named by %s look as if they never existed',
    },
    'an app shares its idempotency keys with its platform': {
      file: 'src/core/idempotency.ts',
      find: 'return keySpace === undefined ? operation : `${operation}@${keySpace}`;',
      put: 'return keySpace === undefined ? operation : operation;',
      test: 'over GraphQL, objects named by %s look as if they never existed',
    },
    'a command needs no permission': {
      file: 'src/domain/access/operations.ts',
      find: '  requirePermission(caller, operation.permission);\n',
      test: 'over GraphQL, a token with fewer rights learns nothing about the objects that it names',
    },
  },
  'test/access/lists.test.ts': {
    'lookups, endpoints and tokens are visible to every platform': {
      file: 'src/domain/access/visible.ts',
      find: 'return where(rules.ofPlatform, scope);',
      put: "return (scope.bound.kind === 'PLATFORM' ? {} : where(rules.ofPlatform, scope)) as { platformId: string };",
      test: "the application itself finds no WebhookEndpoint of another platform, even without the database's checks",
    },
    'an app hears in its streams what happens to others of its platform': {
      file: 'src/domain/access/visible.ts',
      find: "return event.platformId === scope.platformId && maySee('event', scope, event);",
      put: 'return event.platformId === scope.platformId;',
      test: 'for every caller, an event is visible in a stream exactly if a list shows it',
    },
  },
  'test/attack/hostile.test.ts': {
    'the value of a variable that does not fit is a fault of the service': {
      file: 'src/api/graphql/server/present-error.ts',
      find: 'if (isInputError(error)) {',
      put: "if (isInputError(error) && message === 'never') {",
      test: '${probes} random requests, good and bad, over all transports meet no fault, leak or broken bound',
    },
    'an error tells its stack': {
      file: 'src/api/graphql/server/present-error.ts',
      find: 'return new GraphQLError(message, { ...location,',
      put: 'return new GraphQLError(error.stack ?? message, { ...location,',
      test: '${probes} random requests, good and bad, over all transports meet no fault, leak or broken bound',
    },
    'an answer has no bound': {
      file: 'src/server/serve.ts',
      find: 'maxAnswerBytes: config.MAX_ANSWER_BYTES,',
      put: 'maxAnswerBytes: 100_000_000,',
      test: '${probes} random requests, good and bad, over all transports meet no fault, leak or broken bound',
    },
  },
  'test/http/overload.test.ts': {
    'an operation of a socket and a message of a stream wait for no turn': {
      file: 'src/api/http/turns.ts',
      find: 'await this.begin(tenant);',
      put: 'void this.begin(tenant);',
      test: 'on sockets, for queries and the messages of subscriptions',
    },
    'a platform that is alone may have all connections to the database': {
      file: 'src/infra/database/connections/connection-shares.ts',
      find: 'pool.options.max - 1',
      put: 'pool.options.max',
      test: 'a lone platform leaves one to newcomers, however slow its reads are',
    },
  },
  'test/http/refused-bodies.test.ts': {
    'the answer to a body that is cut off leaves its connection open': {
      file: 'src/api/http/bodies.ts',
      find: 'if (isTooLong(request)) endWithResponse(request, response);',
      put: 'void response;',
      test: 'a body %s that announces too great a length is answered, and its connection closed',
    },
    'a body is read while the refusal of its request waits': {
      file: 'src/api/http/bodies.ts',
      find: 'if (!request.complete) request.socket.pause();',
      test: 'a delayed refusal reads nothing of its request; then the connection serves the next one',
    },
  },
  'test/access/refusal-pace.test.ts': {
    'refusals that wait as long as one may come at one moment': {
      file: 'src/domain/access/limits/refusal-pace.ts',
      find: ' - spreadMs * ((source.longest * goldenRatio) % 1)',
      test: 'wait for at most twelve seconds, and are spread out at that limit',
    },
    'refusals go on waiting in an instance that stops': {
      file: 'src/domain/access/limits/refusal-pace.ts',
      find: 'this.#ended.abort();',
      test: 'do not wait on an instance that stops',
    },
  },
  'test/http/request-address.test.ts': {
    'a Host header may be more than a host and a port': {
      file: 'src/infra/instruments/request-address.ts',
      find: 'if (!authorityForm.test(host) ||',
      put: 'if (',
      test: 'a document in it is not executed, nor are variables in it',
    },
    'of several Host headers the first counts': {
      file: 'src/infra/instruments/request-address.ts',
      find: 'if (hosts > 1 || (hosts === 0',
      put: 'if ((hosts === 0',
      test: 'the metrics',
    },
    'a WebSocket is opened whatever its Host is': {
      file: 'src/infra/instruments/request-address.ts',
      find: 'request instanceof IncomingMessage ?',
      put: 'answer instanceof ServerResponse && request instanceof IncomingMessage ?',
      test: '$name',
    },
    'the metrics are answered whatever the Host is': {
      file: 'src/infra/instruments/operator-server.ts',
      find: '  refuseWrongAddresses(server);\n',
      test: 'the metrics',
    },
    'a target may name another host than its header': {
      file: 'src/infra/instruments/request-address.ts',
      find: 'if (named.toLowerCase() !== host?.toLowerCase())',
      put: 'if (named === "")',
      test: 'is refused with %s',
    },
  },
  'test/attack/texts.test.ts': {
    'a text is stored as it was given': {
      file: 'src/core/texts.ts',
      find: 'return canonical as Text;',
      put: 'return text;',
      test: 'every text of every mutation is refused or stored as the table of strange texts says',
    },
    'lengths count UTF-16 units': {
      file: 'src/core/texts.ts',
      find: 'text.length > 2 * maxLength || lengthOf(text) > maxLength',
      put: 'text.length > maxLength',
      test: 'every text of every REST body is bounded in the document, and refused as the table of strange texts says',
    },
    'a joiner stands anywhere': {
      file: 'src/core/texts.ts',
      find: 'return !joining.test(before);',
      put: 'return false;',
      test: 'every text of every mutation is refused or stored as the table of strange texts says',
    },
  },
};
