import type { GraphQLResponse, Observable as ObservableClass, RequestParameters, Variables } from 'relay-runtime';
import { asPost } from './operation.ts';
import { bodyOf, type Payments, RequestError } from './payments.ts';

const sent = ({ text, id, name }: RequestParameters, variables: Variables) => ({
  query: text ?? '',
  ...(!text && id && { documentId: id }),
  operationName: name,
  variables: { ...variables },
});

/** Creates a Relay network's functions: fetch, which uses HTTP, and subscribe, which uses the socket and resumes. */
export function relayNetwork(payments: Payments, Observable: typeof ObservableClass) {
  return {
    async fetch(request: RequestParameters, variables: Variables) {
      const response = await payments.fetch(payments.url, asPost(sent(request, variables)));
      const body = await bodyOf(response);
      if (!body.data && !body.errors) throw new RequestError(response, body);
      // The body is a GraphQL response, which Relay's own type describes.
      return body as never;
    },
    subscribe(request: RequestParameters, variables: Variables) {
      return Observable.create<GraphQLResponse>((sink) =>
        payments.socket.client.subscribe(sent(request, variables), {
          // Like the body above, the result is a GraphQL response.
          next: (result) => sink.next(result as never),
          error: (error) => sink.error(error instanceof Error ? error : new Error(JSON.stringify(error))),
          complete: () => sink.complete(),
        }),
      );
    },
  };
}
