import pg from 'pg';
import { expect } from 'vitest';
import { lookUp, umaAddressOf } from '../setup/acts.ts';
import type { Data, TestGateway, TestPlatform } from '../setup/gateway.ts';
import { externalAccount, makeScene, type Scene } from '../setup/scene.ts';

/** Two customers of one platform who pay each other and the world. One sequence of commands at a time uses them. */
export interface Pair {
  readonly a: Scene;
  readonly b: Scene;
  /** An account outside that is closed (sandbox suffix 003). */
  readonly closed: string;
  readonly umaOfB: string;
}

export interface Change {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly description: string | null;
}

const ends = new Set(['COMPLETED', 'FAILED', 'REJECTED', 'REFUNDED', 'EXPIRED']);
const patienceMs = 20_000;

/** The gateway as the model's commands see it: it is asked, its feed is followed, and its clock can be jumped. */
export class World {
  readonly platform: TestPlatform;
  readonly #latest = new Map<string, Change>();
  readonly #waiting = new Set<(change: Change) => void>();
  readonly #sql: pg.Pool;
  readonly #socket: ReturnType<TestPlatform['socket']>;
  readonly #stream: AsyncIterableIterator<Data>;
  readonly #followed: Promise<void>;

  private constructor(gateway: TestGateway, sql: pg.Pool) {
    this.platform = gateway.platform;
    this.#sql = sql;
    this.#socket = this.platform.socket();
    this.#stream = this.#socket.iterate({
      query: 'subscription { transactionUpdates { transaction { id status type description } } }',
    });
    this.#followed = this.#follow();
  }

  static open(gateway: TestGateway): World {
    // Jumping the clock of a row means changing what its triggers keep.
    const options = '-c session_replication_role=replica -c timezone=UTC';
    return new World(gateway, new pg.Pool({ connectionString: gateway.databaseUrl, max: 2, options }));
  }

  async close(): Promise<void> {
    await this.#stream.return?.();
    await this.#socket.dispose();
    await this.#sql.end();
    await this.#followed.catch(() => undefined);
  }

  /** A new pair of customers. */
  async pair(): Promise<Pair> {
    const a = await makeScene(this.platform, 0n);
    const b = await makeScene(this.platform, 0n);
    const umaOfB = await umaAddressOf(this.platform, b.customerId);
    return {
      a,
      b,
      closed: await externalAccount(this.platform, a.customerId, 'USD', {
        usAccount: { accountNumber: '77700003', routingNumber: '021000021', accountCategory: 'CHECKING' },
      }),
      umaOfB,
    };
  }

  /** A fresh lookup of a receiver: one lives ten minutes, and a long run longer. */
  async lookup(umaAddress: string): Promise<string> {
    return (await lookUp(this.platform, umaAddress)).id;
  }

  /** Waits for a transaction that the feed shows, now or later, in the state that is wanted. */
  async until(what: string, wants: (change: Change) => boolean): Promise<Change> {
    for (const change of this.#latest.values()) if (wants(change)) return change;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`waited in vain for ${what}`));
      }, patienceMs);
      const look = (change: Change) => {
        if (!wants(change)) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(change);
      };
      this.#waiting.add(look);
    });
  }

  /** Waits until a transaction has come to its end, which must be the one expected. */
  async ends(id: string, status: string): Promise<void> {
    const change = await this.until(
      `${id} to be ${status}`,
      (one) => one.id === id && ends.has(one.status) && (status !== 'REFUNDED' || one.status === status),
    );
    expect(change.status).toBe(status);
  }

  /** Spendable money of the four accounts, in smallest units. */
  async balances({ a, b }: Pair): Promise<Record<'aUsd' | 'aEur' | 'bUsd' | 'bEur', bigint>> {
    const { nodes } = await this.platform.ask(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on InternalAccount { balance { amount } } } }',
      { ids: [a.usd, a.eur, b.usd, b.eur] },
    );
    const [aUsd, aEur, bUsd, bEur] = nodes.map((node: Data) => BigInt(node.balance.amount));
    return { aUsd, aEur, bUsd, bEur };
  }

  /** Proves that no money was made or lost: each currency sums to zero, and each account is the sum of its postings. */
  async conserved({ a, b }: Pair): Promise<void> {
    const ids = [a.usd, a.eur, b.usd, b.eur].map((id) => id.split(':')[1]);
    const { rows } = await this.#sql.query(
      `select 'currency' as broken, currency as what from posting where platform_id = $1 group by currency having sum(amount) <> 0
       union all
       select 'account', a.id::text from account a where a.platform_id = $1 and a.id = any($2::uuid[]) and a.posted <> coalesce(
         (select sum(p.amount) from posting p where p.platform_id = a.platform_id and p.account_id = a.id), 0)`,
      [this.platform.platformId, ids],
    );
    expect(rows).toEqual([]);
  }

  /** Jumps the clock of a quote past its expiry. */
  async passExpiry(quoteId: string): Promise<void> {
    await this.#sql.query(
      `update quote set expires_at = clock_timestamp() where platform_id = $1 and id = $2::uuid and status = 'PENDING'`,
      [this.platform.platformId, quoteId.split(':')[1]],
    );
  }

  /** Jumps the clock of an incoming payment past the time for its approval. */
  async passApproval(transactionId: string): Promise<void> {
    const uuid = transactionId.split(':')[1];
    await this.#sql.query(
      'update transaction set approval_due_at = clock_timestamp() where platform_id = $1 and id = $2',
      [this.platform.platformId, uuid],
    );
    await this.#sql.query(
      `update rail_order o set due_at = clock_timestamp() where o.platform_id = $1 and o.due_at is not null and o.transaction_id in (
         select $2::uuid union select a.sender_transaction_id from arrival a where a.platform_id = $1 and a.transaction_id = $2)`,
      [this.platform.platformId, uuid],
    );
  }

  async #follow(): Promise<void> {
    for await (const { data } of this.#stream) {
      const change: Change = data.transactionUpdates.transaction;
      this.#latest.set(change.id, change);
      for (const look of [...this.#waiting]) look(change);
    }
  }
}
