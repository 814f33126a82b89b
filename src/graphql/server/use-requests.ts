import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { bodyText, unsupportedBody } from '../../bodies/body.ts';
import { parseJson } from '../../bodies/json.ts';
import { badRequest } from '../failure.ts';

/**
 * Reads the parameters of requests that Yoga itself answers as all others are read (src/bodies): numbers as they are
 * written, and what cannot be read refused with its reason. Whether they are GraphQL's, Yoga checks.
 */
export function useRequests(): Plugin {
  return {
    onRequestParse({ request, url, setRequestParser }) {
      if (request.method === 'GET') setRequestParser(() => readQuery(url.searchParams));
      if (request.method === 'POST') setRequestParser(readBody);
    },
  };
}

function readQuery(params: URLSearchParams): GraphQLParams {
  const json = (name: string) => {
    const text = params.get(name);
    return text ? jsonIn(text, name) : undefined;
  };
  return {
    query: params.get('query') || undefined,
    operationName: params.get('operationName') || undefined,
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
  return jsonIn(text, 'the body') as GraphQLParams;
}

function jsonIn(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw badRequest(`${what} is not well-formed JSON`);
  }
}
