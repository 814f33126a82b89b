/** The names of fields whose values nobody is shown, not even who has sent them. */
const secretName =
  /secret|password|passphrase|authorization|credential|private_?key|api_?key|^token$|^(access|client|refresh)_?token$/i;

const hidden = '[hidden]';

/** The user and the password in an address. */
const userInAddress = /(:\/\/)[^\s/?#@"']+@/g;

/** A field or an argument of a document with a text as its value, which may be cut off. */
const textLiteral = /\b([_A-Za-z]\w*)(\s*:\s*)("""[\s\S]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*(?:"|$))/g;

/**
 * Returns the first characters of a text. V8 makes a slice that keeps the whole text in memory; this is a copy.
 * @param length the most characters
 */
export function cut(text: string, length: number): string {
  return text.length > length ? Buffer.from(`${text.slice(0, length)}…`).toString() : text;
}

/** Returns the first characters of a document, without the values of secrets. It need not be well formed. */
export function withoutSecrets(document: string, length: number): string {
  return cut(document, length)
    .replaceAll(textLiteral, (whole, name: string, colon: string) =>
      secretName.test(name) ? `${name}${colon}"${hidden}"` : whole,
    )
    .replaceAll(userInAddress, `$1${hidden}@`);
}

/** Returns a value as JSON, without the values of secrets; undefined for undefined. */
export function jsonWithoutSecrets(value: unknown): string | undefined {
  return JSON.stringify(value, withoutSecret);
}

function withoutSecret(this: unknown, name: string, value: unknown): unknown {
  if (value === null) return null;
  if (secretName.test(name) || (name === 'value' && isSecretPair(this))) return hidden;
  if (typeof value === 'string') return value.replaceAll(userInAddress, `$1${hidden}@`);
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Tells whether an object is a pair of metadata, `{ key, value }`, whose key names a secret. */
function isSecretPair(holder: unknown): boolean {
  const key = holder !== null && typeof holder === 'object' && 'key' in holder ? holder.key : undefined;
  return typeof key === 'string' && secretName.test(key);
}
