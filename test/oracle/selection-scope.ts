/**
 * The selections at one position of a response, kept free of conflicts (GraphQL specification, 5.3.2). Fields with the
 * same response name must be the same field with the same arguments if they can apply to the same object, and must
 * otherwise have the same shape. The scope of an interface or union has a child scope for each concrete type. No two
 * children apply to the same object, and each includes the fields selected on the abstract type.
 */
export class SelectionScope {
  readonly #parent: SelectionScope | undefined;
  readonly #ofTypes = new Map<string, SelectionScope>();
  readonly #calls = new Map<string, string>();
  readonly #shapes = new Map<string, string>();
  readonly #below = new Map<string, SelectionScope>();
  #closed = false;

  constructor(parent?: SelectionScope) {
    this.#parent = parent;
  }

  /** Returns the scope of one of several possible types. */
  ofType(name: string): SelectionScope {
    const known = this.#ofTypes.get(name) ?? new SelectionScope(this);
    this.#ofTypes.set(name, known);
    return known;
  }

  /** Returns the scope of the selection below a field. */
  below(key: string): SelectionScope {
    const known = this.#below.get(key);
    if (known) return known;
    const made = this.#parent ? this.#parent.below(key).#special() : new SelectionScope();
    this.#below.set(key, made);
    return made;
  }

  /** Selects a field with its arguments under a key, unless that conflicts with the selection so far. */
  take(key: string, call: string, shape: string): boolean {
    const top = this.#top();
    if ((top.#shapes.get(key) ?? shape) !== shape) return false;
    if (top.#everything().some((scope) => scope.#closed)) return false;
    if (this.#related().some((scope) => (scope.#calls.get(key) ?? call) !== call)) return false;
    top.#shapes.set(key, shape);
    this.#calls.set(key, call);
    return true;
  }

  /** Whether nothing is selected here for any type. */
  get isEmpty(): boolean {
    return this.#top()
      .#everything()
      .every((scope) => scope.#calls.size === 0 && !scope.#closed);
  }

  /** Prevents further selections here. */
  close(): void {
    this.#closed = true;
  }

  #special(): SelectionScope {
    const made = new SelectionScope(this);
    this.#ofTypes.set(`below ${this.#ofTypes.size}`, made);
    return made;
  }

  #top(): SelectionScope {
    return this.#parent ? this.#parent.#top() : this;
  }

  /** Returns the scopes of the same object: this one, and those of more general and more specific types. */
  #related(): SelectionScope[] {
    const general: SelectionScope[] = [];
    for (let scope = this.#parent; scope; scope = scope.#parent) general.push(scope);
    return [...general, ...this.#everything()];
  }

  #everything(): SelectionScope[] {
    return [this, ...[...this.#ofTypes.values()].flatMap((scope) => scope.#everything())];
  }
}
