import { existsSync, readFileSync } from 'node:fs';
import type { TestGateway } from '../../setup/gateway.ts';

/**
 * Measures the processor time that a gateway's sessions take during the work, in microseconds: the kernel counts it for
 * each process.
 */
export async function processorTime(t: TestGateway, work: () => Promise<unknown>): Promise<number> {
  for (;;) {
    const before = await sessions(t);
    await work();
    const after = await sessions(t);
    // The time of a session that has ended is lost.
    if ([...before.keys()].every((pid) => after.has(pid))) {
      const nanoseconds = [...after].reduce((sum, [pid, taken]) => sum + taken - (before.get(pid) ?? 0), 0);
      if (nanoseconds > 0) return nanoseconds / 1_000;
    }
  }
}

/** Reads the time that each session has taken so far, in nanoseconds. */
async function sessions({ owner }: TestGateway): Promise<Map<number, number>> {
  const { rows } = await owner.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and usename <> current_user and backend_type = 'client backend'`,
  );
  const taken = new Map<number, number>();
  for (const { pid } of rows) {
    const path = `/proc/${pid}/schedstat`;
    if (existsSync(path)) taken.set(pid, Number(readFileSync(path, 'utf8').split(' ', 1)[0]));
  }
  return taken;
}
