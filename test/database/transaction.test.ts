import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { sqlState } from '../../src/infra/database/faults.ts';
import type { Prisma } from '../../src/infra/database/generated/client/client.ts';
import { inRolledBackTransaction, inTransaction, transactionOn } from '../../src/infra/database/transaction.ts';
import { openAsOwner, testDatabase } from '../setup/database.ts';
import { openClient, whileLocked } from '../setup/gateway.ts';
import { waitForLocks } from '../setup/locks.ts';

/** Longer than the first statement takes on a busy machine, but shorter than the lock timeout. */
const transactionMs = 1_000;
const { url } = await testDatabase();
const database = openAsOwner({ url });
// The pool has a single connection, so the next user of the connection would notice late statements.
const hasty = openAsOwner({ url, poolSize: 1, transactionMs });
const single = openAsOwner({ url, poolSize: 1 });
afterAll(() => Promise.all([database, hasty, single].map((one) => one.close())));
// Domains, and therefore their platforms, cannot normally be deleted. Here, both are deleted after each test.
await database.pool.query('alter table uma_domain disable trigger append_only; create table note (text text)');

describe('Prisma and SQL in one transaction', () => {
  afterEach(async () => {
    await database.prisma.apiToken.deleteMany();
    await database.prisma.umaDomain.deleteMany();
    await database.prisma.platform.deleteMany();
  });

  const named = (name: string) => ({ name, environment: 'SANDBOX', umaDomain: `${name}.example` }) as const;

  /** Prisma creates the platform and its token with one command, which sends two statements. */
  const withToken = (name: string): Prisma.PlatformCreateInput => ({
    ...named(name),
    tokens: { create: { clientId: name, secretHash: Buffer.alloc(32), name } },
  });

  const insertByHand = (client: pg.ClientBase, name: string) =>
    client.query("insert into platform (name, environment, uma_domain, currencies) values ($1, 'SANDBOX', $2, '{}')", [
      name,
      `${name}.example`,
    ]);

  const names = async () =>
    (await database.prisma.platform.findMany({ orderBy: { name: 'asc' } })).map(({ name }) => name);

  /** Runs `work` while another transaction locks the row of a platform named `before`. */
  async function whileHeld(work: (holder: pg.Client, letGo: () => Promise<unknown>) => Promise<void>): Promise<void> {
    await database.prisma.platform.create({ data: named('before') });
    const rows = ['select from platform for update'] as const;
    await whileLocked(url, rows, (holder) => work(holder, () => holder.query('rollback')));
  }

  /** Renames the platform and gives it a token. Of the two statements, only the first has to wait for the row. */
  const renameWithToken = (prisma: Prisma.TransactionClient) =>
    prisma.platform.update({
      where: { name: 'before' },
      data: { name: 'after', tokens: { create: { clientId: 'late', secretHash: Buffer.alloc(32), name: 'late' } } },
    });

  async function expectNothingDone(): Promise<void> {
    expect(await names()).toEqual(['before']);
    expect(await database.prisma.apiToken.count()).toBe(0);
  }

  test('writes through Prisma and through SQL are committed together', async () => {
    const transactions = await inTransaction(database, async ({ client, prisma }) => {
      await prisma.platform.create({ data: withToken('one') });
      await insertByHand(client, 'two');
      expect(await prisma.platform.count()).toBe(2);
      expect(await names()).toEqual([]);
      return prisma.$queryRaw`select distinct xmin::text from platform`;
    });
    expect(transactions).toHaveLength(1);
    expect(await names()).toEqual(['one', 'two']);
  });

  test('an exception rolls back both', async () => {
    const thrown = inTransaction(database, async ({ client, prisma }) => {
      await prisma.platform.create({ data: withToken('one') });
      await insertByHand(client, 'two');
      throw new Error('no');
    });
    await expect(thrown).rejects.toThrow('no');
    expect(await names()).toEqual([]);
  });

  test('concurrent transactions stay on their own connections, even if Prisma batches their reads', async () => {
    const asked = Array.from({ length: 8 }, (_, place) =>
      inTransaction(database, async ({ client, prisma }) => {
        const { id } = await prisma.platform.create({ data: withToken(`platform-${place}`) });
        // Prisma batches lookups made in the same tick into one statement. Each lookup must see only its own
        // transaction's rows.
        const [again, , [seen]] = await Promise.all([
          prisma.platform.findUnique({ where: { id } }),
          database.prisma.platform.findUnique({ where: { id } }).then((outside) => expect(outside).toBe(null)),
          prisma.$queryRaw<{ pid: number }[]>`select pg_backend_pid() as pid`,
        ]);
        expect(again?.name).toBe(`platform-${place}`);
        const { rows } = await client.query('select pg_backend_pid() as pid');
        expect(rows).toEqual([seen]);
      }),
    );
    await Promise.all(asked);
    expect(await names()).toHaveLength(8);
  });

  test('a statement sent by Prisma fails with the original Postgres error', async () => {
    await database.prisma.platform.create({ data: named('taken') });
    const twice = inTransaction(database, ({ prisma }) => prisma.platform.create({ data: named('taken') }));
    expect(sqlState(await twice.catch((error: unknown) => error))).toBe('23505');
  });

  test('a transaction in which a failure was ignored is not reported as committed', async () => {
    await database.prisma.platform.create({ data: named('taken') });
    const over = inTransaction(database, async ({ client, prisma }) => {
      await insertByHand(client, 'lost');
      await prisma.platform.create({ data: named('taken') }).catch(() => undefined);
    });
    await expect(over).rejects.toThrow('the transaction ended with ROLLBACK');
    expect(await names()).toEqual(['taken']);
  });

  test('if Prisma’s time limit expires during a command, the command’s remaining statements are not executed', async () => {
    await whileHeld(async (holder, letGo) => {
      const late = inTransaction(hasty, ({ prisma }) => renameWithToken(prisma));
      const failed = expect(late).rejects.toMatchObject({ code: 'P1018' });
      await waitForLocks(holder, 1);
      // This timer is as long as Prisma's own and starts later, so Prisma's has already expired when this one ends.
      await delay(transactionMs);
      await letGo();
      await failed;
    });
    await expectNothingDone();
    expect((await hasty.pool.query('select now() = statement_timestamp() as alone')).rows).toEqual([{ alone: true }]);
  });

  test('a transaction that ends after Prisma’s time limit commits nothing', async () => {
    const slow = inTransaction(hasty, async ({ prisma }) => {
      await prisma.platform.create({ data: withToken('slow') });
      await delay(transactionMs);
    });
    await expect(slow).rejects.toMatchObject({ code: 'P2028' });
    expect(await names()).toEqual([]);
  });

  test('a Prisma command that is not awaited ends with its transaction', async () => {
    let forgotten: Promise<unknown> | undefined;
    await whileHeld(async (holder, letGo) => {
      const waits = Promise.withResolvers<void>();
      const ended = inTransaction(hasty, async ({ prisma }) => {
        forgotten = renameWithToken(prisma).catch((error: unknown) => error);
        await waits.promise;
        throw new Error('no');
      });
      const failed = expect(ended).rejects.toThrow('no');
      await waitForLocks(holder, 1);
      waits.resolve();
      // Waits until the rollback is queued behind the waiting statement.
      await setImmediate();
      await letGo();
      await failed;
    });
    expect(await forgotten).toMatchObject({ code: 'P1018' });
    await expectNothingDone();
  });
});

describe('a transaction in SQL', async () => {
  const client = await openClient(url);
  afterAll(() => client.end());
  const notes = async () =>
    (await single.pool.query('select text from note order by text')).rows.map(({ text }) => text);

  test('a failure is rolled back and thrown unchanged, and the connection can be used again', async () => {
    const work = (on: pg.ClientBase) => async () => {
      await on.query("insert into note values ('lost')");
      await on.query('select 1 / 0');
    };
    await expect(transactionOn(client, work(client))).rejects.toThrow('division by zero');
    await expect(inTransaction(single, ({ client: on }) => work(on)())).rejects.toThrow('division by zero');
    await transactionOn(client, () => client.query("insert into note values ('kept')"));
    expect(await notes()).toEqual(['kept']);
  });

  test('a broken connection that cannot roll back does not hide the error, and is removed from the pool', async () => {
    await expect(
      inTransaction(single, async ({ client: on }) => {
        await client.query('select pg_terminate_backend($1)', [
          (await on.query('select pg_backend_pid() as pid')).rows[0].pid,
        ]);
        throw new Error('the reason');
      }),
    ).rejects.toThrow('the reason');
    expect(await notes()).toEqual(['kept']);
  });

  test('a transaction that is always rolled back leaves nothing behind, whether its work succeeds or fails', async () => {
    expect(
      await inRolledBackTransaction(
        client,
        async () => (await client.query("insert into note values ('tried') returning text")).rows,
      ),
    ).toEqual([{ text: 'tried' }]);
    await expect(inRolledBackTransaction(client, () => client.query('select 1 / 0'))).rejects.toThrow(
      'division by zero',
    );
    expect(await notes()).toEqual(['kept']);
  });
});

test('only one file begins and ends transactions', async () => {
  const files = globSync('src/**/*.ts', { exclude: (path) => path.includes('generated') });
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })));
  const speaking = texts.filter(({ text }) =>
    /['"`](begin|commit|rollback)\b/i.test(text.replaceAll(/begin: 'begin/g, '')),
  );
  expect(speaking.map(({ file }) => file)).toEqual(['src/infra/database/transaction.ts']);
});
