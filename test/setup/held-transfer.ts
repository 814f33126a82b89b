import pg from 'pg';
import { pay } from './acts.ts';
import { type Data, type TestGateway, uuidIn } from './gateway.ts';
import { waitForLocks } from './locks.ts';
import { makeScene } from './scene.ts';

/** The limits of a gateway whose statements wait for as long as a test wants, however slow the machine is. */
export const patient = { lockMs: 60_000, statementMs: 60_000, operationMs: 60_000 } as const;

/**
 * Holds up a transfer of the gateway inside the database until the returned function is called; that function returns
 * the transaction.
 */
export async function heldTransfer(of: TestGateway): Promise<() => Promise<Data>> {
  const scene = await makeScene(of.platform, 10_000n);
  const holder = new pg.Client({ connectionString: of.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from account where id = $1 for update', [uuidIn(scene.usd)]);
  const held = pay(of.platform, scene);
  await waitForLocks(holder, 1);
  return async () => {
    await holder.query('commit');
    await holder.end();
    return held;
  };
}
