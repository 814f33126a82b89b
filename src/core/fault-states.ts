import type { Logger } from 'pino';
import { isDatabaseFault } from '../infra/database/faults.ts';
import { oncePer } from './once-per.ts';

interface State {
  readonly since: number;
  readonly failing: Set<string>;
  failures: number;
}

/**
 * Logs failures of background work as states: one line when work starts to fail for a new reason, and one when no work
 * fails for that reason anymore. All database errors count as one reason, so a failover does not flood the log.
 */
export class FaultStates {
  static readonly of = oncePer((log: Logger) => new FaultStates(log));
  readonly #log: Logger;
  readonly #states = new Map<string, State>();

  private constructor(log: Logger) {
    this.#log = log;
  }

  async watch(work: string, running: Promise<unknown>): Promise<void> {
    await running.then(
      () => this.succeeded(work),
      (error: unknown) => this.failed(work, error),
    );
  }

  failed(work: string, error: unknown): void {
    const reason = reasonOf(error);
    this.#leave(work, reason);
    const known = this.#states.get(reason);
    if (known) {
      known.failing.add(work);
      known.failures += 1;
      return;
    }
    this.#states.set(reason, { since: performance.now(), failing: new Set([work]), failures: 1 });
    this.#log.error({ err: error, work }, 'background work fails; will retry until it succeeds');
  }

  succeeded(work: string): void {
    if (this.#states.size > 0) this.#leave(work);
  }

  #leave(work: string, stays?: string): void {
    for (const [reason, state] of this.#states) {
      if (reason === stays || !state.failing.delete(work) || state.failing.size > 0) continue;
      this.#states.delete(reason);
      const seconds = Math.round((performance.now() - state.since) / 1_000);
      // The work may still be failing for another reason, which is logged separately.
      this.#log.info({ reason, failures: state.failures, seconds, lastOf: work }, 'background work has recovered');
    }
  }
}

/** Returns an error's reason. Numbers are masked, because some of them, such as process ids, differ each time. */
function reasonOf(error: unknown): string {
  if (isDatabaseFault(error)) return 'the database';
  return String(error instanceof Error ? `${error.name}: ${error.message}` : error).replaceAll(/\d+/g, '0');
}
