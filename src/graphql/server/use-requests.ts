import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { bodyText, unsupportedBody } from '../../bodies/body.ts';
import { parseJson } from '../../bodies/json.ts';
import { badRequest } from '../failure.ts';
import type { SentOperation } from './sent-documents.ts';

/**
 * Returns a plugin that parses the requests that Yoga answers as src/bodies parses all others: numbers keep their digits, and
 * what cannot be parsed is refused with a reason. Yoga checks that the parameters are those of GraphQL.
 */
export function useRequests(): Plugin {
  return {
    onRequestParse({ request, url, setRequestParser }) {
      if (request.method === 'GET') setRequestParser(() => readQuery(url.searchParams));
      if (request.method === 'POST') setRequestParser(readBody);
    },
  };
}

/**
 * Reads an operation from the parameters of a URL.
 * @throws GraphQLError where one of them is malformed
 */
export function readQuery(params: URLSearchParams): GraphQLParams & Pick<SentOperation, 'documentId'> {
  const json = (name: string) => {
    const text = params.get(name);
    return text ? parseJsonPart(text, name) : undefined;
  };
  return {
    query: params.get('query') || undefined,
    documentId: params.get('documentId') || undefined,
    operationName: params.get('operationName') || undefined,
    // As with a body: what they are is checked later.
    variables: json('variables') as Record<string, unknown>,
    extensions: json('extensions') as Record<string, unknown>,
  };
}

async function readBody(request: Request): Promise<GraphQLParams> {
  const { headers } = request;
  const unsupported = unsupportedBody({ type: headers.get('content-type'), encoding: headers.get('content-encoding') });
  if (unsupported) {
    throw badRequest(unsupported.message, {
      code: 'UNSUPPORTED_MEDIA_TYPE',
      status: 415,
      headers: unsupported.headers,
    });
  }
  const text = bodyText(new Uint8Array(await request.arrayBuffer()));
  if (text === undefined) throw badRequest('the body is not text in UTF-8');
  // Yoga and `operationOf` check what it is.
  return parseJsonPart(text, 'the body') as GraphQLParams;
}

function parseJsonPart(text: string, source: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw badRequest(`${source} is not well-formed JSON`);
  }
}
