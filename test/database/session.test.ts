import pg from 'pg';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/database.ts';
import { freshDatabase } from '../setup/database.ts';

test('sessions compile no plans, whatever the server is set to: a payment takes less time than compiling its plan', async () => {
  const database = await freshDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`alter database ${client.escapeIdentifier(name)} set jit = on`);
  await client.end();
  const opened = openDatabase({ url: database.url, role: 'gateway_work', poolSize: 1 });
  expect((await opened.pool.query('show jit')).rows).toEqual([{ jit: 'off' }]);
  await opened.close();
  await database.drop();
});
