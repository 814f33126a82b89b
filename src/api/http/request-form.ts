import type { IncomingMessage } from 'node:http';
import { unsupportedBody } from './bodies/body.ts';
import { bodyBytes, isTooLong } from './bodies.ts';
import type { Api } from './refusals.ts';

/** The refusal of a request by its header fields alone, whatever its credentials. */
interface WrongForm {
  readonly status: 400 | 413 | 415;
  readonly message: string;
  /** The header fields that list what would be accepted. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface TakenBodies {
  readonly api: Api;
  /** Whether bodies are JSON, as in our own APIs. Providers of signed webhooks choose their own type. */
  readonly takesJson: boolean;
}

/** Returns why a body's declared type, encoding or length is refused: foreign pages can send forms and plain text. */
export function wrongFormOf(request: IncomingMessage, { api, takesJson }: TakenBodies): WrongForm | undefined {
  const { method, headers } = request;
  if (takesJson && (hasBody(request) || (api === 'GRAPHQL' && (method === 'POST' || method === 'QUERY')))) {
    const { 'content-type': type, 'content-encoding': encoding } = headers;
    const unsupported = unsupportedBody({ type, encoding });
    // RFC 10008, 2: a QUERY declares the type of its content.
    if (unsupported) return { status: method === 'QUERY' && !type ? 400 : 415, ...unsupported };
  }
  return isTooLong(request) ? { status: 413, message: tooLong } : undefined;
}

export const tooLong = `a request body may have at most ${bodyBytes} bytes`;

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
