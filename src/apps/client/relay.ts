import { asPost } from './operation.ts';
import type { Payments } from './payments.ts';

/** The parts of an operation that Relay passes to its network. */
interface RequestParameters {
  readonly text?: string | null;
  /** The hash of a persisted operation, which then has no text. */
  readonly id?: string | null;
  readonly name: string;
}

const sent = ({ text, id, name }: RequestParameters, variables: object) => ({
  query: text ?? '',
  ...(!text && id && { documentId: id }),
  operationName: name,
  variables: { ...variables },
});

interface Sink {
  next(result: never): void;
  error(error: Error): void;
  complete(): void;
}

/** `Observable` of relay-runtime. */
interface ObservableClass {
  create(source: (sink: Sink) => () => void): unknown;
}

/** Creates the two functions of a Relay network: fetch uses HTTP, subscribe uses the socket and resumes by itself. */
export function relayNetwork(payments: Payments, Observable: ObservableClass) {
  return {
    async fetch(request: RequestParameters, variables: object) {
      const response = await payments.fetch(payments.url, asPost(sent(request, variables)));
      // The service returns the GraphQL response format, which Relay's own type describes.
      return (await response.json()) as never;
    },
    // As above, for Relay's type of a stream of responses.
    subscribe(request: RequestParameters, variables: object): never {
      return Observable.create((sink) =>
        payments.socket.client.subscribe(sent(request, variables), {
          next: (result) => sink.next(result as never),
          error: (error) => sink.error(error instanceof Error ? error : new Error(JSON.stringify(error))),
          complete: () => sink.complete(),
        }),
      ) as never;
    },
  };
}
