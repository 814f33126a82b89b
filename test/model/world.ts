import { expect } from 'vitest';
import { type Data, setAccountStatus, type TestGateway, uuidIn } from '../setup/gateway.ts';
import { passApproval, passDelay, passExpiry } from '../setup/passing-time.ts';
import { type Scene, usAccount } from '../setup/scene.ts';

/** Two customers of a platform who pay each other and third parties. Only one command sequence at a time uses them. */
export interface Pair {
  readonly a: Scene;
  readonly b: Scene;
  /** An external account that is closed (sandbox suffix 003). */
  readonly closed: string;
  readonly umaOfB: string;
}

/** Balances in the currency's smallest unit. */
export type Balances = Record<'aUsd' | 'aEur' | 'bUsd' | 'bEur', bigint>;

export interface Change {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly description: string | null;
}

const ends = new Set(['COMPLETED', 'FAILED', 'REJECTED', 'REFUNDED', 'EXPIRED']);
const patienceMs = 20_000;

let worlds = 0;

export type World = Awaited<ReturnType<typeof openWorld>>;

/**
 * Opens a new platform on which the model's commands run. Tests can query it, follow its feed and shift the timestamps
 * of its rows. Its ledger covers only a few sequences, so that summing it after every command stays fast.
 */
export async function openWorld(on: TestGateway) {
  worlds += 1;
  const platform = await on.newPlatform(`world-${worlds}`);
  const { platformId } = platform;
  const latest = new Map<string, Change>();
  const waiting = new Set<(change: Change) => void>();
  const socket = platform.socket();
  const stream: AsyncIterableIterator<Data> = socket.iterate({
    query:
      'subscription ($after: String) { transactionUpdates(after: $after) { transaction { id status type description } } }',
    variables: { after: await platform.feedEnd() },
  });
  async function follow(): Promise<void> {
    for await (const { data } of stream) {
      const change: Change = data.transactionUpdates.transaction;
      latest.set(change.id, change);
      for (const look of [...waiting]) look(change);
    }
  }
  // If the stream breaks, the next wait for a change fails with a timeout.
  const followed = follow().catch(() => undefined);

  /** Waits for a change in the feed, past or future, that satisfies `wants`. */
  async function until(what: string, wants: (change: Change) => boolean): Promise<Change> {
    for (const change of latest.values()) if (wants(change)) return change;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look);
        reject(new Error(`waited in vain for ${what}`));
      }, patienceMs);
      const look = (change: Change) => {
        if (!wants(change)) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(change);
      };
      waiting.add(look);
    });
  }

  return {
    platform,
    /** Used for operator commands, which are not part of any API. */
    database: on.gateway.payments.database,
    setAccountStatus: (id: string, status: string) => setAccountStatus(on, id, status),
    until,

    async close(): Promise<void> {
      await stream.return?.();
      await socket.dispose();
      await followed;
    },

    /** Creates a pair of customers. `funds` is the first one's balance, in the currency's smallest unit. */
    async pair(funds: bigint): Promise<Pair> {
      const a = await platform.makeScene(funds);
      const b = await platform.makeScene(0n);
      const closed = await platform.externalAccount(a.customerId, 'USD', usAccount('77700003'));
      return { a, b, closed, umaOfB: await platform.umaAddressOf(b.customerId) };
    },

    /** Waits until a transaction reaches a final status, which must be the expected one. */
    async ends(id: string, status: string): Promise<void> {
      const change = await until(
        `${id} to be ${status}`,
        (one) => one.id === id && ends.has(one.status) && (status !== 'REFUNDED' || one.status === status),
      );
      expect(change.status).toBe(status);
    },

    /** Returns the spendable balances of the four accounts, in the currency's smallest unit. */
    async balances({ a, b }: Pair): Promise<Balances> {
      const held = (id: string) => platform.balanceOf(id);
      return { aUsd: await held(a.usd), aEur: await held(a.eur), bUsd: await held(b.usd), bEur: await held(b.eur) };
    },

    /**
     * Checks that the platform's ledger has neither created nor lost money: all postings in a currency sum to zero, and
     * each balance is the sum of its account's postings. Returns the same as `balances`, but in a single query, because
     * it runs after every command.
     */
    async conserved({ a, b }: Pair): Promise<Balances> {
      const { rows } = await on.owner.query<{ broken: string[]; spendable: Record<string, string> }>({
        name: 'conserved',
        text: `with legs as (select account_id, currency, amount from posting where platform_id = $1)
       select array(
           select 'currency ' || currency from legs group by currency having sum(amount) <> 0
           union all
           select 'account ' || a.id from account a
             left join (select account_id, sum(amount) as amount from legs group by account_id) p on p.account_id = a.id
           where a.platform_id = $1 and a.kind = 'INTERNAL' and a.posted <> coalesce(p.amount, 0)
         ) as broken,
         (select jsonb_object_agg(id, posted::text) from account where platform_id = $1 and id = any($2::uuid[])) as spendable`,
        values: [platformId, [a.usd, a.eur, b.usd, b.eur].map(uuidIn)],
      });
      expect(rows[0]?.broken).toEqual([]);
      const of = (id: string) => BigInt(rows[0]?.spendable[uuidIn(id)] ?? -1);
      return { aUsd: of(a.usd), aEur: of(a.eur), bUsd: of(b.usd), bEur: of(b.eur) };
    },

    /** Moves a quote past its expiry. */
    passExpiry: (quoteId: string) => passExpiry(on, quoteId),

    /** Moves a payment past its approval deadline. */
    passApproval: (transactionId: string) => passApproval(on, transactionId),

    /** Moves an incoming payment past the deadline for its pay request, which has not arrived. */
    passPayRequest: (transactionId: string) => passDelay(on, transactionId),
  };
}
