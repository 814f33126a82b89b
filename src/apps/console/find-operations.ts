/** An Immutable.js map, as Swagger UI passes its operations. */
interface ImmutableMap<Value> {
  get(name: string): Value;
  set(name: string, value: unknown): this;
  map(change: (value: Value) => unknown): this;
  filter(test: (value: Value) => boolean): this;
  toJS(): unknown;
  readonly size: number;
}

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operation: {
    readonly summary?: string;
    readonly description?: string;
    readonly operationId?: string;
    readonly tags?: readonly string[];
  };
}

type Operations = ImmutableMap<ImmutableMap<unknown>>;

/** Finds the operations that contain every word of a phrase in their path, method, name, description or group. */
export function findOperations(groups: ImmutableMap<ImmutableMap<Operations>>, phrase: string): unknown {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  return groups
    .map((group) =>
      group.set(
        'operations',
        group.get('operations').filter((one) => {
          const text = textOf(one.toJS() as Operation);
          return words.every((word) => text.includes(word));
        }),
      ),
    )
    .filter((group) => group.get('operations').size > 0);
}

function textOf({ path, method, operation }: Operation): string {
  const { summary, description, operationId, tags = [] } = operation;
  return [path, method, summary, description, operationId, ...tags].join(' ').toLowerCase();
}
