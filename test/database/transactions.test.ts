import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.ts';
import type { ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import { inRolledBackTransaction, inTransaction, transactionOn } from '../../src/database/transaction.ts';
import { emptyDatabase } from '../setup/database.ts';

let throwaway: ThrowawayDatabase;
let database: Database;
let client: pg.Client;
beforeAll(async () => {
  throwaway = await emptyDatabase();
  database = openDatabase({ url: throwaway.url, poolSize: 1 });
  client = new pg.Client({ connectionString: throwaway.url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('create table note (text text)');
});
afterAll(async () => {
  await client.end();
  await database.close();
  await throwaway.drop();
});

const notes = async () =>
  (await database.pool.query('select text from note order by text')).rows.map(({ text }) => text);

test('what fails is undone and its own error comes out, and the connection serves the next', async () => {
  const work = (on: pg.ClientBase) => async () => {
    await on.query("insert into note values ('lost')");
    await on.query('select 1 / 0');
  };
  await expect(transactionOn(client, work(client))).rejects.toThrow('division by zero');
  await expect(inTransaction(database, ({ client: on }) => work(on)())).rejects.toThrow('division by zero');
  await transactionOn(client, () => client.query("insert into note values ('kept')"));
  expect(await notes()).toEqual(['kept']);
});

test('a connection that breaks and cannot roll back hides no error, and the pool gives it to nobody', async () => {
  await expect(
    inTransaction(database, async ({ client: on }) => {
      await client.query('select pg_terminate_backend($1)', [
        (await on.query('select pg_backend_pid() as pid')).rows[0].pid,
      ]);
      throw new Error('the reason');
    }),
  ).rejects.toThrow('the reason');
  expect(await notes()).toEqual(['kept']);
});

test('what is tried leaves nothing, whether it succeeds or fails', async () => {
  expect(
    await inRolledBackTransaction(
      client,
      async () => (await client.query("insert into note values ('tried') returning text")).rows,
    ),
  ).toEqual([{ text: 'tried' }]);
  await expect(inRolledBackTransaction(client, () => client.query('select 1 / 0'))).rejects.toThrow('division by zero');
  expect(await notes()).toEqual(['kept']);
});

test('one file begins and ends transactions', async () => {
  const files = globSync('src/**/*.ts', { exclude: (path) => path.includes('generated') });
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })));
  const speaking = texts.filter(({ text }) =>
    /['"`](begin|commit|rollback)\b/i.test(text.replaceAll(/begin: 'begin/g, '')),
  );
  expect(speaking.map(({ file }) => file)).toEqual(['src/database/transaction.ts']);
});
