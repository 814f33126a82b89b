import { existsSync, readFileSync } from 'node:fs';
import type { TestGateway } from '../../setup/gateway.ts';

/** Reads how much processor time the sessions of a database have taken, as the kernel counts it for each of their processes. */
export class Sessions {
  readonly #pids: readonly number[];

  private constructor(pids: readonly number[]) {
    this.#pids = pids;
  }

  /** Finds the sessions of a gateway's pools: those that are there now. */
  static async of({ owner }: TestGateway): Promise<Sessions> {
    const { rows } = await owner.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    );
    return new Sessions(rows.map(({ pid }) => pid));
  }

  /** How much they have taken so far. One that has ended counts no more. */
  get microseconds(): number {
    let nanoseconds = 0;
    for (const pid of this.#pids) {
      const path = `/proc/${pid}/schedstat`;
      if (existsSync(path)) nanoseconds += Number(readFileSync(path, 'utf8').split(' ', 1)[0]);
    }
    return nanoseconds / 1_000;
  }
}
