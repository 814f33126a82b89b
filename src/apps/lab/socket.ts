import type { Client, ExecutionResult, SubscribePayload } from 'graphql-ws';
import { Observable } from 'rxjs';
import { resumingClient } from '../client/resume.ts';
import { createSteadyClient } from '../client/socket.ts';

/** The close code of a socket whose credentials are wrong or have expired. */
const forbidden = 4403;

/** Opens a socket with the given credentials. It reconnects automatically, and its subscriptions resume. */
export const openSocket = (authorization: string): Client =>
  resumingClient(
    createSteadyClient({
      url: new URL('graphql', location.href).href.replace('http', 'ws'),
      connectionParams: { authorization },
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: (error) => !(error instanceof CloseEvent && error.code === forbidden),
      // Keeps the connection open between one operation and the next.
      lazyCloseTimeout: 1_000,
    }),
  );

/** Returns an observable that, on each subscription, sends the operation and emits its results. */
export const resultsOf = <Result>(socket: Client, request: SubscribePayload) =>
  new Observable<ExecutionResult<Result>>((sink) => socket.subscribe<Result>(request, sink));
