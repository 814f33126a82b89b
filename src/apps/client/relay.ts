import type { GraphQLResponse, Observable as ObservableClass, RequestParameters, Variables } from 'relay-runtime';
import { Newest } from './newest.ts';
import { asPost } from './operation.ts';
import { bodyOf, type Payments, RequestError } from './payments.ts';

const sent = ({ text, id, name }: RequestParameters, variables: Variables) => ({
  query: text ?? '',
  ...(!text && id && { documentId: id }),
  operationName: name,
  variables: { ...variables },
});

/**
 * Creates a Relay network's functions: fetch, which uses HTTP, and subscribe, which uses the socket and resumes. A
 * stream message is dropped if newer versions of all its objects are known. A query is resent, at most three times, if
 * data newer than its response has arrived in the meantime.
 */
export function relayNetwork(payments: Payments, Observable: typeof ObservableClass) {
  const newest = new Newest();
  return {
    async fetch(request: RequestParameters, variables: Variables) {
      const post = asPost(sent(request, variables));
      const response = await newest.fetchFor(request.operationKind, post.body, payments.fetch)(payments.url, post);
      const body = await bodyOf(response);
      if (!body.data && !body.errors) throw new RequestError(response, body);
      // The body is a GraphQL response, which Relay's own type describes.
      return body as never;
    },
    subscribe(request: RequestParameters, variables: Variables) {
      return Observable.create<GraphQLResponse>((sink) =>
        payments.socket.client.subscribe(sent(request, variables), {
          // Like the body above, the result is a GraphQL response.
          next: (result) => newest.isOlder(result.data) || sink.next(result as never),
          error: (error) => sink.error(error instanceof Error ? error : new Error(JSON.stringify(error))),
          complete: () => sink.complete(),
        }),
      );
    },
  };
}
