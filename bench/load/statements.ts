import pg from 'pg';
import { Latencies, type Measured } from './latencies.ts';

/** One prepared statement by several connections at once, without any server: the database's own limit. */
export interface StatementJob {
  readonly url: string;
  readonly sql: string;
  readonly values: readonly (readonly unknown[])[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

process.once('message', (job: StatementJob) => {
  run(job).then(
    (measured) => process.send?.({ measured }, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function run(job: StatementJob): Promise<Measured> {
  const latencies = new Latencies();
  const marker = `${process.pid.toString(36)}${Date.now().toString(36)}`;
  let sent = 0;
  let measuring = false;
  setTimeout(() => {
    measuring = true;
    latencies.begin();
    process.send?.('begin');
  }, job.warmUpMs);
  const end = Date.now() + job.warmUpMs + job.measureMs;
  await Promise.all(
    Array.from({ length: job.connections }, async () => {
      const client = new pg.Client({ connectionString: job.url, options: '-c timezone=UTC' });
      await client.connect();
      while (Date.now() < end) {
        const number = sent++;
        const values = (job.values[number % job.values.length] ?? []).map((value) =>
          value === '%KEY%' ? `${marker}-${number}` : value,
        );
        const began = performance.now();
        await client.query({ name: 'measured', text: job.sql, values });
        if (measuring) latencies.add(performance.now() - began, 200, undefined);
      }
      await client.end();
    }),
  );
  process.send?.('end');
  return latencies.measured();
}
