/** An Immutable.js map, as Swagger UI passes its operations. */
interface ImmutableMap<Value> {
  get(name: string): Value;
  set(name: string, value: unknown): this;
  map(change: (value: Value) => unknown): this;
  filter(test: (value: Value) => boolean): this;
  readonly size: number;
}

/** An operation in the document: its texts, and lists such as its tags. */
type Operation = ImmutableMap<string | { join(separator: string): string } | undefined>;

interface PlacedOperation {
  get(name: 'path' | 'method'): string;
  get(name: 'operation'): Operation;
}

type Group = ImmutableMap<ImmutableMap<PlacedOperation>>;

interface Webhook {
  readonly path: string;
  readonly method: string;
  readonly operation: ImmutableMap<Operation>;
}

/** The webhooks by name. */
type Webhooks = Readonly<Record<string, readonly Webhook[]>>;

/** What Swagger UI passes to plugins. */
interface System {
  readonly React: { createElement(type: unknown, props: object, ...children: string[]): unknown };
  readonly layoutSelectors: { currentFilter(): string | true };
  readonly specSelectors: { taggedOperations(): ImmutableMap<Group>; selectWebhooksOperations(): Webhooks };
}

/**
 * Finds the operations and the webhooks that contain every word of a phrase in their path, method, name, description or
 * group. The built-in search covers only the operations' paths and groups.
 */
export const search = {
  fn: {
    opsFilter: (groups: ImmutableMap<Group>, phrase: string): unknown =>
      groups
        .map((group) =>
          group.set(
            'operations',
            group
              .get('operations')
              .filter((one) => hasWords(phrase, [one.get('path'), one.get('method')], one.get('operation'))),
          ),
        )
        .filter((group) => group.get('operations').size > 0),
  },
  statePlugins: {
    spec: {
      wrapSelectors: {
        selectWebhooksOperations:
          (select: (...state: unknown[]) => Webhooks, { layoutSelectors }: System) =>
          (...state: unknown[]) => {
            const webhooks = select(...state);
            const phrase = layoutSelectors.currentFilter();
            if (phrase === true) return webhooks;
            const found = Object.entries(webhooks).filter(([, methods]) =>
              methods.some(({ path, method, operation }) =>
                hasWords(phrase, [path, method], operation.get('operation')),
              ),
            );
            return Object.fromEntries(found);
          },
      },
    },
  },
  wrapComponents: {
    operations:
      (Operations: unknown, { React }: System) =>
      (props: Pick<System, 'specSelectors'>) => {
        const { specSelectors } = props;
        if (specSelectors.taggedOperations().size > 0) return React.createElement(Operations, props);
        if (Object.keys(specSelectors.selectWebhooksOperations()).length > 0) return null;
        return React.createElement('p', { role: 'status' }, 'No operation or webhook contains all of these words.');
      },
  },
};

function hasWords(phrase: string, address: readonly string[], operation: Operation): boolean {
  const fields = ['summary', 'description', 'operationId', 'tags'].map((name) => operation.get(name));
  const texts = fields.map((field) => (typeof field === 'object' ? field.join(' ') : field));
  const text = [...address, ...texts].join(' ').toLowerCase();
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => text.includes(word));
}
