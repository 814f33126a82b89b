/** An Immutable.js collection, in which Swagger UI keeps the groups of operations. */
interface Collection {
  readonly size: number;
  get(name: 'operations'): Collection;
  getIn(path: readonly string[]): unknown;
  set(name: 'operations', operations: Collection): Collection;
  map(change: (item: Collection, key: string) => Collection): Collection;
  filter(isWanted: (item: Collection) => boolean): Collection;
}

const searched = ['operationId', 'summary', 'description'];

/**
 * Finds the operations that contain every word of the phrase in their path, method, name, description or group. Swagger
 * UI's own filter covers only paths and groups.
 */
export function opsFilter(groups: Collection, phrase: string): Collection {
  const words = phrase.toLowerCase().split(/\s+/);
  return groups
    .map((group, name) => {
      const operations = group.get('operations').filter((operation) => {
        const paths = [['path'], ['method'], ...searched.map((field) => ['operation', field])];
        const text = [name, ...paths.map((path) => operation.getIn(path))].join(' ').toLowerCase();
        return words.every((word) => text.includes(word));
      });
      return group.set('operations', operations);
    })
    .filter((group) => group.get('operations').size > 0);
}
