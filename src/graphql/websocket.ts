import type { IncomingMessage, Server } from 'node:http';
import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ApiTokens } from '../access/api-tokens.ts';
import { Overflow } from '../events/channel.ts';
import { failure, withoutStatus } from './failure.ts';
import type { GraphqlServer } from './server.ts';

/** What one socket may ask of the server. */
export const socketLimits = { operations: 20, frameBytes: 64 * 1024, initSeconds: 3, keepAliveMs: 12_000 } as const;

/** Try again later: the reader was too slow, or the server stops. Stock clients come back after either. */
const closeTryAgain = 1013;
const closeRestart = 1012;

interface SocketContext extends Record<string, unknown> {
  authorization?: string;
  open: number;
}

/**
 * GraphQL over WebSocket (graphql-transport-ws) at /graphql. The same plug-ins, context, limits and errors as over HTTP,
 * since every operation goes through Yoga's own chain. Credentials come in `connection_init.payload.authorization`.
 */
export function serveWebSockets(server: Server, graphql: GraphqlServer, tokens: ApiTokens) {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: socketLimits.frameBytes });
  const chains = new WeakMap<ExecutionArgs, ReturnType<GraphqlServer['getEnveloped']>>();

  /** What to execute, or why not. What is thrown here would close the socket; a syntax error or an ended token is an answer. */
  async function begin(params: SubscribePayload, authorization: string | undefined) {
    const chain = graphql.getEnveloped({ params, authorization } as never);
    try {
      const document = chain.parse(params.query);
      const errors = chain.validate(chain.schema, document);
      if (errors.length > 0) return errors;
      if (!getOperationAST(document, params.operationName)) {
        return [failure('INVALID_INPUT', 'no such operation in the document')];
      }
      const args: ExecutionArgs = {
        schema: chain.schema,
        document,
        operationName: params.operationName,
        variableValues: params.variables,
        contextValue: await chain.contextFactory(),
      };
      chains.set(args, chain);
      return args;
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      throw error;
    }
  }

  const protocol = useServer<
    Record<string, unknown>,
    { socket: WebSocket; request: IncomingMessage } & Partial<SocketContext>
  >(
    {
      connectionInitWaitTimeout: socketLimits.initSeconds * 1000,
      execute: (args) => chains.get(args)?.execute(args),
      subscribe: (args) => chains.get(args)?.subscribe(args),
      // False, not an exception: clients take 4403 as "come back with better credentials", 4500 as fatal.
      onConnect: async ({ extra, connectionParams }) => {
        const authorization = authorizationIn(connectionParams);
        if (!(await tokens.authenticate(authorization))) return false;
        extra.authorization = authorization ?? '';
        extra.open = 0;
        return true;
      },
      onSubscribe: async ({ extra }, _id, params) => {
        if ((extra.open ?? 0) >= socketLimits.operations) {
          return [failure('RATE_LIMITED', `a socket carries at most ${socketLimits.operations} operations at once`)];
        }
        // Counted before anything is awaited: messages that arrive together are handled side by side.
        extra.open = (extra.open ?? 0) + 1;
        const begun = await begin(params, extra.authorization);
        if (Array.isArray(begun)) extra.open -= 1;
        return begun;
      },
      // graphql-ws answers with what is returned here: statuses belong to HTTP.
      onError: (_context, _id, _payload, errors) => errors.map(withoutStatus),
      onNext: ({ extra }, _id, _payload, args, result) => {
        void args;
        if (result.errors?.some((error) => error instanceof GraphQLError && error.originalError instanceof Overflow)) {
          extra.socket.close(closeTryAgain, 'too slow: resume with after');
        }
        return undefined;
      },
      onComplete: ({ extra }) => {
        extra.open = Math.max(0, (extra.open ?? 0) - 1);
      },
    },
    sockets,
    socketLimits.keepAliveMs,
  );

  server.on('upgrade', (request, socket, head) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== '/graphql') {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => sockets.emit('connection', accepted, request));
  });

  return {
    /** How many sockets are open. */
    get size(): number {
      return sockets.clients.size;
    },
    /** Tells every client to come back elsewhere, then ends. */
    async close(): Promise<void> {
      for (const client of sockets.clients) client.close(closeRestart, 'the server restarts: resume with after');
      await protocol.dispose();
    },
  };
}

/** The credentials in connection_init's payload: `authorization`, in whatever case. */
function authorizationIn(payload: Readonly<Record<string, unknown>> | undefined): string | undefined {
  for (const [name, value] of Object.entries(payload ?? {})) {
    if (name.toLowerCase() === 'authorization' && typeof value === 'string') return value;
  }
  return undefined;
}
