import { isUtf8 } from 'node:buffer';

/** What both APIs take as a request's body: JSON in UTF-8, sent as it is. */

/** Why a body is not read, for an answer 415. */
export interface Unsupported {
  readonly message: string;
  /** What would be read, where HTTP has a header for it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Tells by the headers of a request with a body whether it can be read at all; undefined when it can. */
export function unsupportedBody(headers: {
  readonly type: string | null | undefined;
  readonly encoding: string | null | undefined;
}): Unsupported | undefined {
  if (headers.type === 'application/json' && !headers.encoding) return undefined;
  const [type = '', ...parameters] = headers.type?.toLowerCase().split(';') ?? [];
  if (type.trim() !== 'application/json') return { message: 'a request body is application/json', headers: {} };
  if (!parameters.every(leavesUtf8)) return { message: 'a request body is application/json in UTF-8', headers: {} };
  const encoding = headers.encoding?.trim().toLowerCase() ?? '';
  return encoding === '' || encoding === 'identity'
    ? undefined
    : {
        message: 'a request body is sent as it is, without a Content-Encoding',
        // RFC 9110, 15.5.16: what would have been accepted.
        headers: { 'Accept-Encoding': 'identity' },
      };
}

/** Whether a parameter of a media type leaves the text in UTF-8. */
function leavesUtf8(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim() !== 'charset' || /^("?)utf-?8\1$/.test(value.trim());
}

/** The text of a body; undefined where its bytes are not UTF-8, in whose place none are made up. */
export function bodyText(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : undefined;
}
