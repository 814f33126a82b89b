import fc from 'fast-check';
import { expect, vi } from 'vitest';
import { usdToEur } from './acts.ts';
import { type Data, setAccountStatus, type TestGateway, type TestPlatform } from './gateway.ts';
import { type Scene, usAccount } from './scene.ts';

export type ListName = 'transactions' | 'quotes' | 'accounts' | 'customers';

/** A list to follow: its name, its filter, and how long each message waits for further changes. */
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

export class LiveList {
  readonly wanted: Wanted;
  readonly #platform: TestPlatform;
  readonly #rows = new Map<string, Data>();
  /** The newest version of each row seen so far. Older versions are ignored. */
  readonly #versions = new Map<string, number>();
  readonly operations: { readonly op: string; readonly id: string; readonly version: number }[] = [];
  #cut: () => void = () => undefined;
  cursor: string | undefined;
  #failure: unknown;

  constructor(platform: TestPlatform, wanted: Wanted) {
    this.#platform = platform;
    this.wanted = wanted;
  }

  /** Follows the list from where it last stopped, or from its first page, until the connection is dropped. */
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
      { query, variables: { filter, waitMs, after: this.cursor } },
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

  /** Drops the connection. The next `follow` receives the messages that have not arrived yet. */
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
    this.cursor = cursor;
  }

  /** Waits until the followed list equals a fresh read of it. */
  async isTrue(): Promise<void> {
    await vi.waitFor(
      async () => {
        if (this.#failure !== undefined) throw this.#failure;
        const byId = (rows: Iterable<Data>) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
        const wanted = JSON.stringify({ ...this.wanted, operations: this.operations });
        expect(byId(this.#rows.values()), wanted).toEqual(byId(await this.#readAnew()));
      },
      { timeout: 60_000, interval: 25 },
    );
  }

  #readAnew(): Promise<Data[]> {
    const { list, filter } = this.wanted;
    return this.#platform.listed(list, filter, fields[list]);
  }
}

let numbers = 0;

const acts = [
  ...(['pay', 'pay', 'quote', 'execute', 'fund'] as const),
  ...(['customer', 'rename', 'delete', 'account', 'status', 'cut'] as const),
];

/** A step: an action, and a number that selects the object it applies to. */
const step = fc.record({ act: fc.constantFrom(...acts), at: fc.nat({ max: 20 }) });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const waitMs = fc.constantFrom(0, 0, 20, 100);

/** Filters for each list. They are functions, because the ids they contain differ from one history to the next. */
const filters = {
  transactions: [
    () => ({}),
    () => ({ status: ['PENDING', 'PROCESSING'] }),
    () => ({ status: ['COMPLETED', 'FAILED'] }),
    () => ({ type: 'OUTGOING', createdAfter: '2020-01-01T00:00:00Z' }),
    ({ customerId }: Scene) => ({ customerId, status: ['PROCESSING'] }),
    () => ({ executed: true }),
    ({ usd }: Scene) => ({ executed: false, accountId: usd }),
    () => ({ currency: 'EUR', amount: { currency: 'USD', min: 101 } }),
    ({ usd }: Scene) => ({ senderAccountIdentifier: usd }),
    ({ outsideEur }: Scene) => ({ receiverAccountIdentifier: outsideEur, status: ['PENDING', 'COMPLETED'] }),
  ],
  quotes: [
    () => ({}),
    () => ({ status: ['PENDING'] }),
    () => ({ status: ['PROCESSING', 'COMPLETED'] }),
    ({ usd, customerId }: Scene) => ({ sendingAccountId: usd, customerId }),
  ],
  accounts: [
    () => ({}),
    () => ({ kind: 'EXTERNAL' }),
    () => ({ currency: 'EUR', platformOwned: false }),
    ({ customerId }: Scene) => ({ customerId, kind: 'INTERNAL' }),
  ],
  customers: [
    () => ({}),
    () => ({ isIncludingDeleted: true }),
    () => ({ customerType: 'INDIVIDUAL', updatedAfter: '2020-01-01T00:00:00Z' }),
    () => ({ updatedBefore: '2020-01-01T00:00:00Z' }),
  ],
} as const;

const wanted = fc.oneof(
  ...Object.entries(filters).map(([list, of]) =>
    fc.record({ list: fc.constant(list as Wanted['list']), filter: fc.constantFrom(...of), waitMs }),
  ),
);

export const history = fc.record({
  follow: fc.array(wanted, { minLength: 3, maxLength: 6 }),
  rounds: fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
});
export type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** Plays a history. After each round, each followed list must equal a fresh read of it. */
export async function play(t: TestGateway, { follow, rounds }: History): Promise<void> {
  numbers += 1;
  const platform = await t.newPlatform(`lists ${numbers}`);
  const scene = await platform.makeScene();
  const world: World = { platform, scene, customers: [scene.customerId], quotes: [] };
  const lists = follow.map(
    ({ list, filter, waitMs: wait }) => new LiveList(platform, { list, filter: filter(scene), waitMs: wait }),
  );
  let running = lists.map((list) => list.follow());
  try {
    for (const steps of rounds) {
      for (const one of steps) {
        if (one.act === 'cut') {
          const at = one.at % lists.length;
          const list = lists[at];
          if (!list?.cursor) continue;
          list.cut();
          running = running.with(at, list.follow());
        } else await take(t, world, one);
      }
      await Promise.all(lists.map((list) => list.isTrue()));
    }
  } finally {
    for (const list of lists) list.cut();
    await Promise.all(running);
  }
}

interface World {
  readonly platform: TestPlatform;
  readonly scene: Scene;
  readonly customers: string[];
  readonly quotes: string[];
}

/** Takes a step. A refused step, such as the execution of an expired quote, changes nothing. */
async function take(
  t: TestGateway,
  { platform, scene, customers, quotes }: World,
  { act: what, at }: Step,
): Promise<void> {
  const customerId = customers[at % customers.length] ?? '';
  numbers += 1;
  switch (what) {
    case 'pay':
      await platform.transfer('transferOut', scene, 100);
      return;
    case 'quote': {
      const made = await platform.act('createQuote', usdToEur(scene), 'quote { id }');
      if (made.quote) quotes.push(made.quote.id);
      return;
    }
    case 'execute':
      await platform.act('executeQuote', { quoteId: quotes[at % Math.max(1, quotes.length)] ?? 'Quote:none' });
      return;
    case 'fund':
      await platform.act('sandboxFundAccount', { accountId: scene.usd, amount: 100 });
      return;
    case 'customer':
      // Depending on the name, the identity check passes, stays pending or fails.
      customers.push(await platform.newCustomer(`Grace Hopper 00${at % 3}`));
      return;
    case 'rename':
      await platform.act('updateCustomer', { customerId, details: { individual: { fullName: `Name ${numbers}` } } });
      return;
    case 'delete':
      // The customer whose accounts fund the payments is never deleted.
      if (customerId !== scene.customerId) await platform.act('deleteCustomer', { customerId });
      return;
    case 'account':
      await platform.act('createExternalAccount', {
        customerId,
        currency: 'USD',
        accountInfo: usAccount(`${7_000_000 + numbers}000`),
        beneficiary: { individual: { fullName: 'Grace Hopper' } },
        defaultUmaDepositAccount: at % 2 === 0,
      });
      return;
    case 'status':
      await setAccountStatus(t, scene.outsideUsd, at % 2 === 0 ? 'UNDER_REVIEW' : 'ACTIVE').catch(() => undefined);
  }
}
