import pg from 'pg';
import { loadTool } from './tool.ts';

/** A prepared statement to run on concurrent connections, without a server. This measures the database's own limit. */
export interface StatementJob {
  readonly url: string;
  readonly sql: string;
  readonly values: readonly (readonly unknown[])[];
  readonly connections: number;
}

loadTool((job: StatementJob) => {
  const marker = `${process.pid.toString(36)}${Date.now().toString(36)}`;
  let sent = 0;
  return async (end, counts, latencies) => {
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
          if (counts()) latencies.add(performance.now() - began, 200, undefined);
        }
        await client.end();
      }),
    );
  };
});
