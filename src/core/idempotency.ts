import { hash as digest } from 'node:crypto';
import { statement } from '../infra/database/statement.ts';
import { type FieldPath, invalid, Refusal } from './refusal.ts';

/** A claim on an idempotency key for one operation, with the SHA-256 (hex) of the input. */
export interface Claim {
  readonly operation: string;
  readonly key: string;
  readonly hash: string;
}

export interface FirstCall {
  readonly same: boolean;
  readonly refusal: unknown;
  readonly result: unknown;
}

export const firstCallStatement = statement<FirstCall>(
  'first_call',
  `select request_hash = decode($4, 'hex') as same, refusal, result
   from idempotency_record where platform_id = $1 and operation = $2 and key = $3`,
);

interface KeyOwner {
  readonly keySpace?: string | undefined;
}

/** Returns the name under which a caller's idempotency keys for an operation are stored. */
export function keyedOperation({ keySpace }: KeyOwner, operation: string): string {
  return keySpace === undefined ? operation : `${operation}@${keySpace}`;
}

/** The path of the idempotency key, which is not part of a command's input. */
export const keyPath: FieldPath = ['idempotencyKey'];

/** Returns the refusal for a call whose key was first used with different input. */
export function keyMismatch(): Refusal {
  return new Refusal('IDEMPOTENCY_MISMATCH', 'this idempotency key was already used with different input', keyPath);
}

/** Returns the refusal for a call that arrives while the first call with its key is still running. */
export function firstCallRuns(): Refusal {
  const message = 'the first request with this idempotency key is still running';
  return new Refusal('CONFLICT', message, { path: keyPath, retryAfter: 1 });
}

/** Returns whether a string is a valid key: 1 to 255 visible ASCII characters. */
export function isIdempotencyKey(key: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(key);
}

/** Returns the key in a header field, without the quotes and escapes of a structured-field string (RFC 9651, 3.3.3). */
export function keyInHeader(field: string | undefined): string | undefined {
  const [, quoted] = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(field ?? '') ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? field;
}

interface KeyedCommand {
  readonly operation: string;
  readonly input: object;
  readonly idempotencyKey: string | null | undefined;
  /** Set if null clears a field. Null then differs from an absent field, which keeps its value. */
  readonly nullClears?: true;
}

/** Returns a call's claim; undefined if the call has no key. @throws Refusal INVALID_INPUT for a malformed key */
export function claimOf(owner: KeyOwner, command: KeyedCommand): Claim | undefined {
  const key = command.idempotencyKey;
  if (key === null || key === undefined) return undefined;
  if (!isIdempotencyKey(key)) {
    throw invalid('an idempotency key must be 1 to 255 printable ASCII characters without spaces', keyPath);
  }
  const hash = digest('sha256', canonicalJson(command.input, command.nullClears ?? false), 'hex');
  return { operation: keyedOperation(owner, command.operation), key, hash };
}

/** Returns the same text for equal inputs. Keys are sorted, and undefined fields and meaningless nulls are left out. */
function canonicalJson(input: object, withNulls: boolean): string {
  return JSON.stringify(input, (_key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, field]) => field !== undefined && (withNulls || field !== null))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  });
}
