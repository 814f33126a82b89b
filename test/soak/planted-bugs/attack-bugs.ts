import type { Bug } from './plant.ts';

const matrix = 'test/attack/matrix.test.ts';
const foreign = { file: matrix, title: 'over GraphQL, what is named by %s is as unknown as what never was' };
const hostile = {
  file: 'test/attack/hostile.test.ts',
  title:
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the source
    '${probes} random requests, good and bad, over all transports meet no fault, no leak and no bound that does not hold',
};

const address = 'test/http/request-address.test.ts';
const refusedBodies = 'test/http/refused-bodies.test.ts';
const pace = 'test/access/refusal-pace.test.ts';

/** Bugs that the matrix of tenants and scopes and the random requests must notice, as they are found from outside. */
export const attackBugs: readonly Bug[] = [
  {
    bug: 'an app finds the other customers of its platform by their ids',
    file: 'src/access/visible.ts',
    find: 'return where(rules.customer, scope);',
    put: 'return { platformId: scope.platformId };',
    caughtBy: foreign,
  },
  {
    bug: 'lookups, endpoints and tokens are visible to every platform',
    file: 'src/access/visible.ts',
    find: 'return where(rules.ofPlatform, scope);',
    put: "return (scope.bound.kind === 'PLATFORM' ? {} : where(rules.ofPlatform, scope)) as { platformId: string };",
    caughtBy: {
      file: 'test/access/lists.test.ts',
      title: 'the application itself has no WebhookEndpoint of another platform, where the database would show all',
    },
  },
  {
    bug: 'the app of a payment guesses by a filter whose payment it is',
    file: 'src/payments/filters.ts',
    find: 'ofCustomer(caller, { customer: { platformCustomerId } }),',
    put: '({ customer: { platformCustomerId } }),',
    caughtBy: foreign,
  },
  {
    bug: 'an app shares its idempotency keys with its platform',
    file: 'src/core/idempotency.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the source
    find: 'return keySpace === undefined ? operation : `${operation}@${keySpace}`;',
    put: 'return keySpace === undefined ? operation : operation;',
    caughtBy: foreign,
  },
  {
    bug: 'a command needs no permission',
    file: 'src/access/operations.ts',
    find: '  requirePermission(caller, operation.permission);\n',
    put: '',
    caughtBy: { file: matrix, title: 'over GraphQL, a token that may do less learns nothing of what it names' },
  },
  {
    bug: 'an app hears in its streams what happens to others of its platform',
    file: 'src/access/visible.ts',
    find: "return event.platformId === scope.platformId && maySee('event', scope, event);",
    put: 'return event.platformId === scope.platformId;',
    caughtBy: {
      file: 'test/access/lists.test.ts',
      title: 'whoever asks, an event may be seen in a stream where a list has it, and nowhere else',
    },
  },
  {
    bug: 'the value of a variable that does not fit is a fault of the service',
    file: 'src/graphql/server/present-error.ts',
    find: 'if (isInputError(error)) {',
    put: "if (isInputError(error) && message === 'never') {",
    caughtBy: hostile,
  },
  {
    bug: 'an error tells its stack',
    file: 'src/graphql/server/present-error.ts',
    find: 'return new GraphQLError(message, { ...location,',
    put: 'return new GraphQLError(error.stack ?? message, { ...location,',
    caughtBy: hostile,
  },
  {
    bug: 'an answer has no bound',
    file: 'src/serve.ts',
    find: 'maxAnswerBytes: config.MAX_ANSWER_BYTES,',
    put: 'maxAnswerBytes: 100_000_000,',
    caughtBy: hostile,
  },
  {
    bug: 'an operation of a socket and a message of a stream wait for no turn',
    file: 'src/http/turns.ts',
    find: 'await this.begin(tenant);',
    put: 'void this.begin(tenant);',
    caughtBy: {
      file: 'test/http/overload.test.ts',
      title: 'on sockets, for queries and the messages of subscriptions',
    },
  },
  {
    bug: 'a platform that is alone may have all connections to the database',
    file: 'src/database/connections/connection-shares.ts',
    find: 'pool.options.max - 1',
    put: 'pool.options.max',
    caughtBy: {
      file: 'test/http/overload.test.ts',
      title: 'a platform that is alone leaves one to those who come, however slow its reads are',
    },
  },
  {
    bug: 'the answer to a body that is cut off leaves its connection open',
    file: 'src/http/bodies.ts',
    find: 'if (isTooLong(request)) endWithResponse(request, response);',
    put: 'void response;',
    caughtBy: {
      file: refusedBodies,
      title: 'a body %s that says it is too long is answered, and ends its connection',
    },
  },
  {
    bug: 'a body is read while the refusal of its request waits',
    file: 'src/http/bodies.ts',
    find: 'if (!request.complete) request.socket.pause();',
    put: '',
    caughtBy: {
      file: refusedBodies,
      title: 'a refusal that waits reads nothing of its request meanwhile; then the connection serves the next one',
    },
  },
  {
    bug: 'refusals that wait as long as one may come at one moment',
    file: 'src/access/limits/refusal-pace.ts',
    find: ' - spreadMs * ((source.longest * goldenRatio) % 1)',
    put: '',
    caughtBy: {
      file: pace,
      title: 'none waits for more than twelve seconds, and those that would are not sent together',
    },
  },
  {
    bug: 'refusals go on waiting in an instance that stops',
    file: 'src/access/limits/refusal-pace.ts',
    find: 'this.#ended.abort();',
    put: '',
    caughtBy: { file: pace, title: 'do not wait for an instance that stops' },
  },
  {
    bug: 'a Host header may be more than a host and a port',
    file: 'src/instruments/request-address.ts',
    find: 'if (!authorityForm.test(host) ||',
    put: 'if (',
    caughtBy: { file: address, title: 'a document in it is not executed, and not its variables' },
  },
  {
    bug: 'of several Host headers the first counts',
    file: 'src/instruments/request-address.ts',
    find: 'if (hosts > 1 || (hosts === 0',
    put: 'if ((hosts === 0',
    caughtBy: { file: address, title: 'the metrics' },
  },
  {
    bug: 'a WebSocket is opened whatever its Host is',
    file: 'src/instruments/request-address.ts',
    find: 'request instanceof IncomingMessage ?',
    put: 'answer instanceof ServerResponse && request instanceof IncomingMessage ?',
    caughtBy: { file: address, title: '$name' },
  },
  {
    bug: 'the metrics are answered whatever the Host is',
    file: 'src/instruments/operator-server.ts',
    find: '  refuseWrongAddresses(server);\n',
    put: '',
    caughtBy: { file: address, title: 'the metrics' },
  },
  {
    bug: 'a target may name another host than its header',
    file: 'src/instruments/request-address.ts',
    find: 'if (named.toLowerCase() !== host?.toLowerCase())',
    put: 'if (named === "")',
    caughtBy: { file: address, title: 'is refused with %s' },
  },
];
