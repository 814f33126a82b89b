import type { Bugs } from './plant.ts';

/** Bugs that the matrix of tenants and scopes and the random requests must notice, as an attacker would find them. */
export const attackBugs: Bugs = {
  'test/attack/matrix.test.ts': {
    'an app finds the other customers of its platform by their ids': {
      file: 'src/domain/access/visible.ts',
      find: 'where(rules.customer, scope);',
      put: '({ platformId: scope.platformId });',
      test: 'over GraphQL, objects named by %s look as if they never existed',
    },
    'the app of a payment can guess its owner with a filter': {
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
      test: "the application itself finds no foreign WebhookEndpoint, even without the database's checks",
    },
    'an app receives the events of other customers in its streams': {
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
    'an error reveals its stack': {
      file: 'src/api/graphql/server/present-error.ts',
      find: 'return new GraphQLError(message, { ...location,',
      put: 'return new GraphQLError(error.stack ?? message, { ...location,',
      test: '${probes} random requests, good and bad, over all transports meet no fault, leak or broken bound',
    },
    'the size of an answer is not limited': {
      file: 'src/server/serve.ts',
      find: 'maxAnswerBytes: config.MAX_ANSWER_BYTES,',
      put: 'maxAnswerBytes: 100_000_000,',
      test: '${probes} random requests, good and bad, over all transports meet no fault, leak or broken bound',
    },
  },
  'test/http/overload.test.ts': {
    "a socket's operation and a stream's message do not wait for a turn": {
      file: 'src/api/http/turns.ts',
      find: 'await this.begin(tenant);',
      put: 'void this.begin(tenant);',
      test: 'on sockets, for queries and the messages of subscriptions',
    },
    'a platform that is alone may use all connections to the database': {
      file: 'src/infra/database/connections/connection-shares.ts',
      find: 'pool.options.max - 1',
      put: 'pool.options.max',
      test: 'a lone platform leaves one to newcomers, however slow its reads are',
    },
  },
  'test/http/refused-bodies.test.ts': {
    'the response to a truncated body leaves its connection open': {
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
    'refusals that wait for the maximum time are sent at one moment': {
      file: 'src/domain/access/limits/refusal-pace.ts',
      find: ' - spreadMs * ((source.longest * goldenRatio) % 1)',
      test: 'wait for at most twelve seconds, and are spread out at that limit',
    },
    'refusals continue to wait in an instance that stops': {
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
    'the first of several Host headers counts': {
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
    'the metrics are served whatever the Host is': {
      file: 'src/infra/instruments/operator-server.ts',
      find: '  refuseWrongAddresses(server);\n',
      test: 'the metrics',
    },
    'a target may name a different host from its header': {
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
      test: 'every REST text is bounded in the document, and refused as the table of strange texts says',
    },
    'a joiner is allowed anywhere': {
      file: 'src/core/texts.ts',
      find: 'return !joining.test(before);',
      put: 'return false;',
      test: 'every text of every mutation is refused or stored as the table of strange texts says',
    },
  },
};
