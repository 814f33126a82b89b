import { isUtf8 } from 'node:buffer';

// Both APIs accept only bodies that are JSON in UTF-8 without a Content-Encoding.

interface Unsupported {
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Checks the headers of a request with a body. @returns why the body cannot be read; undefined if it can */
export function unsupportedBody(headers: {
  readonly type: string | null | undefined;
  readonly encoding: string | null | undefined;
}): Unsupported | undefined {
  if (headers.type === 'application/json' && !headers.encoding) return undefined;
  const [type = '', ...parameters] = headers.type?.toLowerCase().split(';') ?? [];
  if (type.trim() !== 'application/json') return { message: 'a request body must be application/json', headers: {} };
  if (!parameters.every(allowsUtf8))
    return { message: 'a request body must be application/json in UTF-8', headers: {} };
  const encoding = headers.encoding?.trim().toLowerCase() ?? '';
  return encoding === '' || encoding === 'identity'
    ? undefined
    : {
        message: 'a request body must not have a Content-Encoding',
        // RFC 9110, 15.5.16: lists what would be accepted.
        headers: { 'Accept-Encoding': 'identity' },
      };
}

/** Returns whether a media type's parameter allows UTF-8: it is the charset UTF-8, or not a charset at all. */
function allowsUtf8(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim() !== 'charset' || /^("?)utf-?8\1$/.test(value.trim());
}

/** Decodes a body as UTF-8. If it is malformed, returns undefined rather than text with replacement characters. */
export function bodyText(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : undefined;
}
