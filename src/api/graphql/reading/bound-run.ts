import { type FieldNode, type GraphQLError, type GraphQLField, getArgumentValues } from 'graphql';
import type { Cursors } from '../../../core/cursors.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import { Binding } from '../../../infra/database/conditions.ts';
import type { Context } from '../context.ts';
import { wrongArgument } from '../wrong-value.ts';
import { errorJson, type Notes } from './finish.ts';
import { literal, type Requirement, type Run } from './sql.ts';

/** The input of a run, in addition to the viewer. */
export interface RunInput {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly row?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Whether requirements hold, by their keys, as far as that has been found out. */
  readonly known?: ReadonlyMap<string, boolean>;
  /** Further arguments of one field. */
  readonly given?: { readonly node: FieldNode; readonly args: Readonly<Record<string, unknown>> } | undefined;
}

/** One run of a plan. */
export class BoundRun extends Binding implements Run, Notes {
  readonly viewer: Viewer;
  readonly cursors: Cursors;
  readonly ids: readonly string[];
  readonly row: string | undefined;
  readonly maxBytes: number;
  readonly notes: unknown[] = [];
  readonly errors: GraphQLError[] = [];
  /** The requirements that have not been checked yet. */
  readonly unknown: Requirement[] = [];
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #known: RunInput['known'];
  readonly #given: RunInput['given'];
  /** The results of `once`. Not in a WeakMap of the plan's: V8's young collections keep the values of those (bench/LOG.md). */
  readonly #cache = new Map<object, unknown>();

  constructor(context: Context, { variables, row, ids = [], known, given }: RunInput) {
    super();
    this.viewer = context.viewer;
    this.cursors = context.payments.cursors;
    this.maxBytes = context.maxAnswerBytes;
    this.ids = ids;
    this.row = row;
    this.#variables = variables;
    this.#known = known;
    this.#given = given;
  }

  args(field: GraphQLField<unknown, unknown>, node: FieldNode): Readonly<Record<string, unknown>> {
    return this.once(node, () => {
      const args = getArgumentValues(field, node, this.#variables);
      const wrong = wrongArgument(args);
      if (wrong) throw wrong;
      return node === this.#given?.node ? { ...args, ...this.#given.args } : args;
    });
  }

  once<Value>(owner: object, make: () => Value): Value {
    const cached = this.#cache.get(owner);
    // An owner has values of one type.
    if (cached !== undefined) return cached as Value;
    const value = make();
    this.#cache.set(owner, value);
    return value;
  }

  note(value: unknown): number {
    return this.notes.push(value) - 1;
  }

  require(requirement: Requirement): void {
    const holds = this.#known?.get(requirement.key);
    if (holds === undefined) this.unknown.push(requirement);
    else if (!holds) throw requirement.refusal();
  }

  refuse(error: GraphQLError): string {
    return literal(errorJson(error, this));
  }
}
