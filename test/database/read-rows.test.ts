import { expect, test } from 'vitest';
import { readRow, readRows } from '../../src/infra/database/read-rows.ts';
import { openAsOwner } from '../setup/database.ts';
import { testGateway, uuidIn } from '../setup/gateway.ts';

// both-apis.test.ts compares the rows of lists, by filter and order, with those of GraphQL.

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const { database } = t.gateway.payments;
const { customerId } = await t.platform.makeScene(10_000n);

test('reads one row, or null if none meets the conditions', async () => {
  const { platformId } = t.platform;
  const id = uuidIn(customerId);
  expect(await readRow(database, 'Customer', { platformId, id })).toEqual(
    await database.prisma.customer.findUnique({ where: { platformId_id: { platformId, id } } }),
  );
  expect(await readRow(database, 'Customer', { platformId: id, id })).toBeNull();
});

test('a balance beyond the range of a JSON number is read exactly', async () => {
  const owning = openAsOwner({ url: t.databaseUrl, poolSize: 1 });
  const client = await owning.pool.connect();
  const readText = async (text: string, { values }: { readonly values: readonly unknown[] }): Promise<string> =>
    (await client.query<[string]>({ text, values: [...values], rowMode: 'array' })).rows[0]?.[0] ?? '';
  try {
    await client.query("begin; set local session_replication_role = 'replica'");
    const { rows } = await client.query(
      "update account set posted = 9007199254740995 where kind = 'INTERNAL' returning platform_id, id",
    );
    const [{ platform_id: platformId, id }] = rows;
    expect(await readRow({ readText }, 'Account', { platformId, id })).toMatchObject({ posted: 9007199254740995n });
  } finally {
    await client.query('rollback');
    client.release();
    await owning.close();
  }
});

test('unsupported conditions are errors, and are never ignored', async () => {
  const read = (where: object) => readRows(database, 'Transaction', { where });
  await expect(read({ description: { contains: 'x' } })).rejects.toThrow('contains');
  await expect(read({ NOT: { status: 'PENDING' } })).rejects.toThrow('NOT');
  await expect(read({ AND: [{ nonsense: true }] })).rejects.toThrow('nonsense');
});
