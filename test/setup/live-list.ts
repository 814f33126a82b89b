import { vi } from 'vitest';
import type { Data, TestPlatform } from './gateway.ts';

/** A list that a client maintains through its changes, for comparison with a new read of the list. */

export type ListName = 'transactions' | 'quotes' | 'accounts' | 'customers';

/** A list to follow: its name, its filter, and how long its messages wait for further changes. */
export interface Wanted {
  readonly list: ListName;
  readonly filter: object;
  readonly waitMs: number;
}

const fields: Readonly<Record<ListName, string>> = {
  transactions: 'id version status',
  quotes: 'id version status',
  accounts: 'id version ... on ExternalAccount { status } ... on InternalAccount { balance { amount } }',
  customers: 'id version name isDeleted kycStatus',
};
const types = { transactions: 'Transaction', quotes: 'Quote', accounts: 'Account', customers: 'Customer' } as const;

/** The client of one followed list. */
export class LiveList {
  readonly wanted: Wanted;
  readonly #platform: TestPlatform;
  readonly #rows = new Map<string, Data>();
  /** The newest version seen of each row: older ones change nothing. */
  readonly #versions = new Map<string, number>();
  readonly operations: { readonly op: string; readonly id: string; readonly version: number }[] = [];
  #cut: () => void = () => undefined;
  #cursor: string | undefined;
  #failure: unknown;

  constructor(platform: TestPlatform, wanted: Wanted) {
    this.#platform = platform;
    this.wanted = wanted;
  }

  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Follows the list until it is cut, from where it was before, or from its first page. */
  async follow(): Promise<void> {
    const { list, filter, waitMs } = this.wanted;
    const type = types[list];
    const field = `${type.toLowerCase()}Changes`;
    const query = `subscription ($filter: ${type}Filter, $waitMs: Int, $after: String) {
      ${field}(filter: $filter, waitMs: $waitMs, after: $after) { cursor
        snapshot(first: 100) { edges { node { ${fields[list]} } } }
        changes { op changed cursor node { ${fields[list]} } } } }`;
    const client = this.#platform.socket();
    const { promise, resolve } = Promise.withResolvers<void>();
    let isCut = false;
    client.subscribe<Data>(
      { query, variables: { filter, waitMs, after: this.#cursor } },
      {
        next: ({ data, errors }) => {
          if (isCut) return;
          if (errors) this.#failure = new Error(JSON.stringify(errors));
          else this.#apply((data as Data)[field]);
        },
        error: (error) => {
          if (!isCut) this.#failure = error;
          resolve();
        },
        complete: resolve,
      },
    );
    this.#cut = () => {
      isCut = true;
      client.terminate();
      resolve();
    };
    await promise;
  }

  /** Cuts the connection; later messages arrive after `follow`. */
  cut(): void {
    this.#cut();
  }

  #apply({ cursor, snapshot, changes }: Data): void {
    for (const { node } of snapshot?.edges ?? []) {
      this.#rows.set(node.id, node);
      this.#versions.set(node.id, node.version);
    }
    for (const { op, node } of changes) {
      this.operations.push({ op, id: node.id, version: node.version });
      if (node.version <= (this.#versions.get(node.id) ?? 0)) continue;
      this.#versions.set(node.id, node.version);
      if (op === 'LEAVE') this.#rows.delete(node.id);
      else this.#rows.set(node.id, node);
    }
    this.#cursor = cursor;
  }

  /** Waits until the maintained list equals a new read of the list. */
  async isTrue(): Promise<void> {
    await vi.waitFor(
      async () => {
        if (this.#failure !== undefined) throw this.#failure;
        const byId = (rows: Iterable<Data>) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
        const [mine, theirs] = [byId(this.#rows.values()), byId(await this.#readAnew())];
        if (JSON.stringify(mine) !== JSON.stringify(theirs))
          throw new Error(
            `${JSON.stringify(this.wanted)}\nfollowed: ${JSON.stringify(mine)}\nread anew: ${JSON.stringify(theirs)}\n${JSON.stringify(this.operations)}`,
          );
      },
      { timeout: 60_000, interval: 25 },
    );
  }

  async #readAnew(): Promise<Data[]> {
    const { list, filter } = this.wanted;
    const read = await this.#platform.ask(
      `query ($filter: ${types[list]}Filter) { ${list}(filter: $filter, first: 100) { edges { node { ${fields[list]} } } } }`,
      { filter },
    );
    return read[list].edges.map(({ node }: Data) => node);
  }
}
