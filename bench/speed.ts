import { createHash } from 'node:crypto';
import pg from 'pg';

/** The durations of one fixed workload in Node and of another in Postgres, in milliseconds. */
export interface Speed {
  readonly node: number;
  readonly postgres: number;
}

const text = JSON.stringify(
  Array.from({ length: 2_000 }, (_, at) => ({ id: at, name: `payment ${at}`, amount: at * 7 })),
);

/** Parses, serializes and hashes the same JSON repeatedly, because that is most of what a gateway does. */
function workInNode(): void {
  for (let turn = 0; turn < 40; turn++)
    createHash('sha256')
      .update(JSON.stringify(JSON.parse(text)))
      .digest();
}

const workInPostgres = `select count(*), sum(hashtextextended(n::text, 0) % 1000) from generate_series(1, 200000) n group by n % 7`;

/**
 * Measures the machine's speed, because rented machines differ in speed by a factor of up to three, and each machine's
 * speed changes within an hour. Takes the median of nine runs of each workload.
 */
export async function measureSpeed(url: string): Promise<Speed> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const median = async (work: () => unknown) => {
    const times: number[] = [];
    for (let turn = 0; turn < 9; turn++) {
      const began = performance.now();
      await work();
      times.push(performance.now() - began);
    }
    return times.sort((one, other) => one - other)[4] ?? 0;
  };
  const speed = { node: await median(workInNode), postgres: await median(() => client.query(workInPostgres)) };
  await client.end();
  return speed;
}
