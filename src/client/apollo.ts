import type { DocumentNode } from 'graphql';
import { resumable } from './resume.ts';

/** An operation in a link of Apollo Client. */
interface Operation {
  query: DocumentNode;
  variables: Record<string, unknown>;
  operationName?: string | undefined;
}

interface Observer {
  next?(result: unknown): void;
  error?(error: unknown): void;
  complete?(): void;
}

/** What links return: an Observable of RxJS. It is made by its own constructor, so that this file needs no package. */
interface Observable {
  subscribe(observer: Observer): { unsubscribe(): void };
}

/**
 * The handler of a link for Apollo Client 4, to stand before GraphQLWsLink or any other link that sends a subscription
 * again when it reconnects: `ApolloLink.from([new ApolloLink(resumeSubscriptions), new GraphQLWsLink(client)])`. Each
 * subscription then goes on after the last message that came.
 */
export function resumeSubscriptions<Result extends Observable>(
  operation: Operation,
  forward: (operation: never) => Result,
): Result {
  const made = resumable(operation.query, operation.variables, operation.operationName);
  const send = forward as (operation: Operation) => Result;
  if (!made) return send(operation);
  const { document, variables, advance } = made;
  // The link below holds the operation, and reads its variables each time that it sends it.
  operation.query = document;
  operation.variables = variables;
  const source = send(operation);
  const Observable = source.constructor as new (subscribe: (observer: Observer) => () => void) => Result;
  return new Observable((observer) => {
    const subscription = source.subscribe({
      next(result) {
        advance(result);
        observer.next?.(result);
      },
      error: (error) => observer.error?.(error),
      complete: () => observer.complete?.(),
    });
    return () => subscription.unsubscribe();
  });
}
