import { type DocumentNode, Kind, OperationTypeNode } from 'graphql';
import { resumable } from './resume.ts';
import { Versions } from './versions.ts';

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
 * The handler of a link for Apollo Client 4, to put before GraphQLWsLink or any other link that repeats a subscription when it
 * reconnects: `ApolloLink.from([new ApolloLink(resumeSubscriptions), new GraphQLWsLink(client)])`. Each subscription then
 * resumes after its last message.
 */
export function resumeSubscriptions<Result extends Observable>(
  operation: Operation,
  forward: (operation: never) => Result,
): Result {
  const made = resumable(operation.query, operation.variables, operation.operationName);
  // `never` lets the function of any version of the link be given; it takes the operation that came with it.
  const send = forward as (operation: Operation) => Result;
  if (!made) return send(operation);
  const { document, variables, advance } = made;
  // The link below holds the operation, and reads its variables each time that it sends it.
  operation.query = document;
  operation.variables = variables;
  const source = send(operation);
  // Apollo's own class of streams, without its import: its constructor takes what subscribes.
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

/**
 * Makes the handler of a link for Apollo Client 4 that keeps older data from replacing newer, to put first: `new
 * ApolloLink(newestVersions())`. A message of a stream whose objects are all older is dropped. A query is repeated, at most
 * three times, if its answer has an older object, because a stream brought a newer one in the meantime.
 */
export function newestVersions(): <Result extends Observable>(
  operation: Operation,
  forward: (operation: never) => Result,
) => Result {
  const versions = new Versions();
  return <Result extends Observable>(operation: Operation, forward: (operation: never) => Result) => {
    // As in `resumeSubscriptions`.
    const send = () => (forward as (operation: Operation) => Result)(operation);
    const kinds = operation.query.definitions.map((one) =>
      one.kind === Kind.OPERATION_DEFINITION ? one.operation : undefined,
    );
    const first = send();
    // As in `resumeSubscriptions`.
    const Observable = first.constructor as new (subscribe: (observer: Observer) => () => void) => Result;
    return new Observable((observer) => {
      let current: { unsubscribe(): void } | undefined;
      let isStopped = false;
      const run = (source: Result, repeats: number) => {
        let isRepeating = false;
        current = source.subscribe({
          next(result) {
            const { objects, older } = versions.note((result as { readonly data?: unknown }).data);
            if (kinds.includes(OperationTypeNode.SUBSCRIPTION) && objects > 0 && objects === older) return;
            isRepeating = kinds.includes(OperationTypeNode.QUERY) && older > 0 && repeats > 0;
            if (!isRepeating) observer.next?.(result);
          },
          error: (error) => observer.error?.(error),
          complete() {
            if (isStopped) return;
            if (isRepeating) run(send(), repeats - 1);
            else observer.complete?.();
          },
        });
      };
      run(first, 3);
      return () => {
        isStopped = true;
        current?.unsubscribe();
      };
    });
  };
}
