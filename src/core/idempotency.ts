import { hash as digest } from 'node:crypto';
import type { FieldPath } from './path.ts';
import { Refusal } from './refusal.ts';

/** An idempotency key, for one operation, with the SHA-256 (hex) of what was asked. */
export interface Claim {
  readonly operation: string;
  readonly key: string;
  readonly hash: string;
}

/** Whose idempotency keys are meant: of a platform, those without a key space; of an app, its own. */
interface KeyOwner {
  readonly keySpace?: string | undefined;
}

/** The name under which a caller's idempotency keys for an operation are stored. */
export function keyedOperation({ keySpace }: KeyOwner, operation: string): string {
  return keySpace === undefined ? operation : `${operation}@${keySpace}`;
}

/** Where a command has its idempotency key, beside its input. */
export const keyPath: FieldPath = ['idempotencyKey'];

/** Whether a string has the form of an idempotency key: no other is ever stored. */
export function isIdempotencyKey(key: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(key);
}

/**
 * The claim that a call makes on its idempotency key, or undefined without one.
 * @throws Refusal INVALID_INPUT for what is not a key
 */
export function claimOf(
  owner: KeyOwner,
  command: { readonly operation: string; readonly input: object; readonly idempotencyKey: string | null | undefined },
): Claim | undefined {
  const key = command.idempotencyKey;
  if (key === null || key === undefined) return undefined;
  if (!isIdempotencyKey(key)) {
    throw new Refusal('INVALID_INPUT', 'an idempotency key has 1 to 255 printable ASCII characters without spaces', {
      path: keyPath,
    });
  }
  const hash = digest('sha256', canonicalJson(command.input), 'hex');
  return { operation: keyedOperation(owner, command.operation), key, hash };
}

/** JSON with sorted keys and nothing undefined: equal inputs have equal text. */
function canonicalJson(input: object): string {
  return JSON.stringify(input, (_key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, field]) => field !== undefined && field !== null)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  });
}
