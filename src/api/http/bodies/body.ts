import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

// Both APIs accept only JSON bodies in UTF-8, without a Content-Encoding.

export interface Unsupported {
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the reason why a body with the given headers cannot be read, or undefined if it can. */
export function unsupportedBody({
  'content-type': declared,
  'content-encoding': encoding = '',
}: IncomingHttpHeaders): Unsupported | undefined {
  if (declared === 'application/json' && !encoding) return undefined;
  const [type = '', ...parameters] = declared?.toLowerCase().split(';') ?? [];
  if (type.trim() !== 'application/json') return { message: 'a request body must be application/json' };
  if (!parameters.every(allowsUtf8)) return { message: 'a request body must be application/json in UTF-8' };
  if (['', 'identity'].includes(encoding.trim().toLowerCase())) return undefined;
  // RFC 9110, 15.5.16: the header lists the accepted types or encodings.
  return { message: 'a request body must not have a Content-Encoding', headers: { 'Accept-Encoding': 'identity' } };
}

/** Returns whether a media type's parameter is allowed: `charset=utf-8`, or any parameter other than `charset`. */
function allowsUtf8(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim() !== 'charset' || /^("?)utf-?8\1$/.test(value.trim());
}

/** Decodes a body as UTF-8. Returns undefined for malformed UTF-8, rather than text with replacement characters. */
export function bodyText(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : undefined;
}
