/** The operations of the document, or its webhooks: by path or name, and by method. */
type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly examples?: Examples }>> };
}

type Examples = Readonly<Record<string, { readonly value: object }>>;

export interface SearchedDocument {
  readonly paths: Operations;
  readonly webhooks: Operations;
}

/** Replaces the built-in search, which covers only the operations' groups, by `searchIn`. */
export const withoutSearch = { fn: { opsFilter: (groups: unknown) => groups } };

/**
 * Shows only the operations and the webhooks that contain every word of the filter in their path, method, name,
 * description or group.
 */
export function searchIn(root: HTMLElement, { paths, webhooks }: SearchedDocument): void {
  const all = Object.entries({ ...paths, ...webhooks }).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description, tags }]) => {
      const text = [path, method, operationId, summary, description, ...tags].join(' ').toLowerCase();
      return { operationId, tags, text };
    }),
  );
  const style = document.head.appendChild(document.createElement('style'));
  const status = document.createElement('p');
  status.className = 'none-found';
  status.setAttribute('role', 'status');
  root.after(status);
  root.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.matches('.operation-filter-input')) return;
    const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = all.filter(({ text }) => words.every((word) => text.includes(word)));
    // No element has the class `none`, so if nothing matches, everything is hidden.
    const operations = ['.none', ...found.map(({ operationId }) => `[id$="-${operationId}"]`)].join();
    const groups = ['.none', ...found.flatMap(({ tags }) => tags.map((tag) => `[data-tag="${tag}"]`))].join();
    // If nothing matches, the message is directly below the filter.
    const schemas = found.length === 0 ? '.swagger-ui section.models, ' : '';
    style.textContent = `${schemas}.opblock:not(${operations}), .webhooks:not(:has(${operations})), .opblock-tag-section:not(:has(${groups})) { display: none }`;
    status.textContent = found.length === 0 ? 'No operation or webhook contains all of these words.' : '';
  });
}
