import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { beginStatement } from '../../instruments/spans.ts';
import { checkParameters } from './hosts.ts';
import { asPlatform, currentPlatform } from './platform-scope.ts';
import type { TextRead } from './read-scope.ts';
import { StatementNames } from './statement-names.ts';
import { type NamedRead, type Replayed, ReplicaBehind, TextQuery } from './text-query.ts';

/** The maximum total time of a batch's reads, in microseconds, estimated from their last executions. */
const batchMicros = 5_000;

interface Waiting extends NamedRead {
  readonly platform: string;
  readonly required: Replayed | undefined;
  readonly resolve: (text: string) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs a pool's reads. All reads that one platform starts in one turn of the event loop are sent as a batch. Under
 * load, this saves up to two fifths of their CPU time in this process, and three fifths in Postgres (bench/LOG.md). A
 * read that is new or was slow last time is sent alone, so that no other read waits for it.
 */
export class TextReads {
  readonly #pool: pg.Pool;
  readonly #names: StatementNames;
  readonly #micros = new LRUCache<string, number>({ max: 2_000 });
  #waiting: Waiting[] = [];

  constructor(pool: pg.Pool, names = new StatementNames()) {
    this.#pool = pool;
    this.#names = names;
  }

  /** Returns the string that a statement selects. @throws ReplicaBehind if a standby has not replayed `required` */
  async read(read: TextRead, required?: Replayed): Promise<string> {
    checkParameters([read]);
    const name = this.#names.nameOf(read.text, read.planning);
    const end = beginStatement(name, read.text);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    if (this.#waiting.length === 0) setImmediate(() => this.#sendAll());
    this.#waiting.push({ ...read, name, platform: currentPlatform(), required, resolve, reject });
    if (end) promise.then(() => end(undefined, 1), end);
    return promise;
  }

  #sendAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const groups = Map.groupBy(waiting, ({ platform, planning, required }) =>
      [platform, planning, required?.lsn, required?.history].join(),
    );
    for (const reads of groups.values()) {
      let batch: Waiting[] = [];
      let micros = 0;
      for (const read of reads) {
        const own = this.#micros.get(read.name) ?? batchMicros;
        if (batch.length > 0 && micros + own > batchMicros) {
          this.#send(batch);
          batch = [];
          micros = 0;
        }
        batch.push(read);
        micros += own;
      }
      this.#send(batch);
    }
  }

  #send(reads: readonly Waiting[]): void {
    const [{ platform, required } = {}] = reads;
    if (platform === undefined) return;
    const query = new TextQuery(reads, required);
    const answered = (error: unknown) => {
      for (const [at, read] of reads.entries()) {
        const answer = query.answers[at];
        if (answer && read.name !== '') this.#micros.set(read.name, answer.micros);
        if (query.isBehind) read.reject(new ReplicaBehind());
        else if (typeof answer?.text === 'string') read.resolve(answer.text);
        else if (answer) read.reject(new Error('expected a text, but the query returned no row or null'));
        // A failed statement ends its batch. The statements after it have not run.
        else if (error instanceof pg.DatabaseError && at > query.answers.length) this.#send([read]);
        else read.reject(error);
      }
    };
    // pg's types have no callback for custom queries.
    const submit = this.#pool.query.bind(this.#pool) as (query: TextQuery, done: (error: unknown) => void) => void;
    asPlatform(platform, () => submit(query, answered));
  }
}
