/** Tracks the highest version seen of each object, to recognize older data: a late response or a repeated message. */
export class Versions {
  readonly #highest = new Map<string, number>();

  /** Records all objects with `id` and `version`. Returns how many there are, and how many are older than known. */
  note(data: unknown): { readonly objects: number; readonly older: number } {
    let [objects, older] = [0, 0];
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if (Array.isArray(value)) {
        for (const item of value) visit(item);
        return;
      }
      const { id, version } = value as { readonly id?: unknown; readonly version?: unknown };
      if (typeof id === 'string' && typeof version === 'number') {
        objects += 1;
        const known = this.#highest.get(id) ?? version;
        if (version < known) older += 1;
        this.#highest.set(id, Math.max(version, known));
      }
      for (const part of Object.values(value)) visit(part);
    };
    visit(data);
    return { objects, older };
  }
}
