import { isDatabaseFault, isLockTimeout, OutcomeUnknown } from '../infra/database/faults.ts';

/** All refusal codes, with their HTTP statuses in REST. GraphQL returns refusals in its result unions. */
export const refusals = {
  INVALID_INPUT: 400,
  INVALID_AMOUNT: 400,
  AMOUNT_OUT_OF_RANGE: 400,
  INVALID_CURRENCY: 400,
  INVALID_BANK_ACCOUNT: 400,
  INVALID_UMA_ADDRESS: 400,
  INVALID_RECEIVER: 400,
  SELF_PAYMENT: 400,
  MISSING_MANDATORY_USER_INFO: 400,
  QUOTE_REQUEST_FAILED: 400,
  INSUFFICIENT_BALANCE: 400,
  WEBHOOK_ENDPOINT_NOT_SET: 400,
  WEBHOOK_DELIVERY_ERROR: 400,
  FORBIDDEN: 403,
  USER_NOT_READY: 403,
  CUSTOMER_FROZEN: 403,
  ACCOUNT_FROZEN: 403,
  LIMIT_EXCEEDED: 403,
  QUOTE_NOT_FOUND: 404,
  TRANSACTION_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  ACCOUNT_NOT_FOUND: 404,
  LOOKUP_REQUEST_NOT_FOUND: 404,
  UMA_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  WEBHOOK_ENDPOINT_NOT_FOUND: 404,
  WEBHOOK_DELIVERY_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  CONFLICT: 409,
  QUOTE_EXPIRED: 409,
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 409,
  UMA_ADDRESS_EXISTS: 409,
  CUSTOMER_IN_USE: 409,
  CUSTOMER_DELETED: 410,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
  OUTCOME_UNKNOWN: 504,
} as const satisfies Record<string, number>;

export type RefusalCode = keyof typeof refusals;

export interface InvalidField {
  readonly path: FieldPath;
  readonly code: RefusalCode;
  readonly message: string;
}

export interface RefusalDetails {
  /** The path of the cause in the command's input. The message does not name the field. */
  readonly path?: FieldPath | undefined;
  /** All invalid fields, if there are several. `path` is then the path of the first. */
  readonly errors?: readonly InvalidField[];
  /** The number of seconds after which the same request may succeed. */
  readonly retryAfter?: number;
  readonly [fact: string]: unknown;
}

const isPath = (about: FieldPath | RefusalDetails): about is FieldPath => Array.isArray(about);

/** The message for a request that had no effect because the database could not process it. */
export const databaseAway = 'the database is unreachable or overloaded; try again';

/** The message for a request that timed out waiting for another session's lock, usually on a table. */
export const databaseBusy = 'the database is busy: another session holds a lock that this request needs; try again';

/** Returns the refusal for an error, if any. Unless it is OUTCOME_UNKNOWN, the request had no effect. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof OutcomeUnknown) return outcomeUnknown();
  if (!isDatabaseFault(error)) return undefined;
  return new Refusal('SERVICE_UNAVAILABLE', isLockTimeout(error) ? databaseBusy : databaseAway, { retryAfter: 1 });
}

/** Returns the refusal for a command that may have taken effect, but whose result was lost. */
export function outcomeUnknown(): Refusal {
  return new Refusal(
    'OUTCOME_UNKNOWN',
    'the outcome is unknown: this may or may not have taken effect. Send it again with the same idempotency key, or query its receipt',
  );
}

/** The refusal of a command. Unless the code is OUTCOME_UNKNOWN, the command had no effect. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: RefusalDetails;
  /** Whether this is a replay of the response to the first call with the idempotency key. */
  readonly replayed: boolean;

  /** @param about the details, or only the path of the cause */
  constructor(code: RefusalCode, message: string, about: FieldPath | RefusalDetails = {}, replayed = false) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.details = isPath(about) ? { path: about } : about;
    this.replayed = replayed;
  }
}

/** Creates the refusal for input that is invalid at a path. */
export function invalid(message: string, about?: FieldPath | RefusalDetails): Refusal {
  return new Refusal('INVALID_INPUT', message, about);
}

/** Refuses an empty list, which is probably a mistake. (An omitted list sets no limit.) */
export function checkNotEmpty(list: readonly unknown[] | null | undefined, path: FieldPath): void {
  if (list?.length === 0) throw invalid('the list must not be empty; omit it to set no limit', path);
}

/** Field names and, in lists, positions from 0. */
export type FieldPath = readonly (string | number)[];

type Leaf = string | number | bigint | boolean | Date | null | undefined;

/** The paths into an input of the given type, including the empty path, which stands for the whole input. */
export type PathIn<Input> = Input extends Leaf
  ? readonly []
  : Input extends readonly (infer Item)[]
    ? readonly [] | readonly [number, ...PathIn<Item>]
    :
        | readonly []
        | { readonly [Field in keyof Input & string]-?: readonly [Field, ...PathIn<Input[Field]>] }[keyof Input &
            string];

/** Returns a function that builds paths into inputs of one type. The compiler rejects unknown fields. */
export function pathsIn<Input>() {
  return <const Path extends PathIn<Input>>(...path: Path): Path => path;
}

/** A mapping from paths in a command's input to paths in an API's requests, where the two differ. */
export type PathTable<Input = never> = readonly (readonly [
  from: [Input] extends [never] ? FieldPath : PathIn<Input>,
  to: FieldPath,
])[];

/** Creates a path table entry from computed paths. */
export const renamed = <const From extends FieldPath, const To extends FieldPath>(from: From, to: To) =>
  [from, to] as const;

/** Translates a path in a command's input into one in an API's request, using the longest matching prefix, if any. */
export function translatePath(path: FieldPath, table: PathTable): FieldPath {
  const matching = table.filter(([from]) => from.every((step, depth) => step === path[depth]));
  const [[from, to] = [[], []]] = matching.toSorted(([one], [other]) => other.length - one.length);
  return [...to, ...path.slice(from.length)];
}

/** Formats a path as text: `beneficialOwners.0.taxId`. */
export function dotted(path: FieldPath): string {
  return path.join('.');
}

/** The input of a command that changes a record. The command is refused if the record has a different version. */
export interface Expecting {
  readonly expectedVersion?: number | null | undefined;
}

const at = pathsIn<Expecting>()('expectedVersion');

/** Creates the refusal for a change to a record that has changed since the caller read it. */
export function changedMeanwhile(existingId: string | null, version: number, replayed = false): Refusal {
  const message = `the record has changed in the meantime: its version is ${version}`;
  return new Refusal('CONFLICT', message, { path: at, ...(existingId !== null && { existingId }), version }, replayed);
}

/** Checks that a locked record has the expected version. @throws Refusal CONFLICT */
export function checkVersion({ expectedVersion }: Expecting, existingId: string | null, version: number): void {
  if ((expectedVersion ?? version) !== version) throw changedMeanwhile(existingId, version);
}

/**
 * Runs all checks on an input and returns their results, so that a refusal lists every invalid field.
 * @throws Refusal with the path of the first invalid field and, if there are several, all of them in `errors`
 */
export function checkAll<Checks extends readonly (() => unknown)[]>(
  ...checks: Checks
): { [Position in keyof Checks]: ReturnType<Checks[Position]> } {
  const results: unknown[] = [];
  const found: Refusal[] = [];
  for (const check of checks) {
    try {
      results.push(check());
    } catch (error) {
      // An error without a path is not about a field, so the remaining checks are skipped.
      if (!(error instanceof Refusal) || !error.details.path) throw error;
      found.push(error);
    }
  }
  const [first] = found;
  // If no check has failed, `results` has one entry per check.
  if (!first) return results as { [Position in keyof Checks]: ReturnType<Checks[Position]> };
  throw found.length === 1 ? first : joinRefusals(first, found);
}

/** Runs the same check on each item of an input. Returns the results or throws, as `checkAll` does. */
export function checkEach<Item, Result>(items: readonly Item[], check: (item: Item, position: number) => Result) {
  return checkAll(...items.map((item, position) => () => check(item, position)));
}

/** Returns the invalid fields listed in a refusal; if it lists none, the field at its path. */
export function invalidFieldsOf({ code, message, details }: Refusal): readonly InvalidField[] {
  return details.errors ?? (details.path ? [{ path: details.path, code, message }] : []);
}

/** Joins refusals into one. Its code is theirs if they all have the same one, and INVALID_INPUT otherwise. */
function joinRefusals(first: Refusal, found: readonly Refusal[]): Refusal {
  const errors = found.flatMap(invalidFieldsOf);
  const code = errors.every((error) => error.code === first.code) ? first.code : 'INVALID_INPUT';
  const message = [...new Set(errors.map((error) => error.message))].join('; ');
  return new Refusal(code, message, { path: first.details.path, errors });
}
