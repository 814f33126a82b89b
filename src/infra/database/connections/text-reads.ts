import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { serialize } from 'pg-protocol';
import { beginStatement } from '../../instruments/spans.ts';
import { asPlatform, currentPlatform } from './platform-scope.ts';
import { type Connection, type PlatformFirst, statementMessages } from './platform-statement.ts';
import type { TextRead } from './read-scope.ts';
import { type NameOf, statementNames } from './statement-names.ts';

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
 * load, this saves up to 40 % of their CPU time in this process, and 60 % in Postgres (bench/LOG.md). A read that is
 * new or was slow last time is sent alone, so that no other read waits for it.
 */
export class TextReads {
  readonly pool: pg.Pool;
  readonly #nameOf: NameOf;
  readonly #micros = new LRUCache<string, number>({ max: 2_000 });
  #waiting: Waiting[] = [];

  constructor(pool: pg.Pool, nameOf = statementNames()) {
    this.pool = pool;
    this.#nameOf = nameOf;
  }

  /** Returns the string that a statement selects. @throws ReplicaBehind if a standby has not replayed `required` */
  async read(read: TextRead, required?: Replayed): Promise<string> {
    checkParameters([read]);
    const name = this.#nameOf(read.text, read.planning);
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
        else if (answer) read.reject(new Error('expected text, but the query returned null or no row'));
        // A failed statement ends its batch. The statements after it have not run.
        else if (error instanceof pg.DatabaseError && at > query.answers.length) this.#send([read]);
        else read.reject(error);
      }
    };
    // pg's types have no callback for custom queries.
    const submit = this.pool.query.bind(this.pool) as (query: TextQuery, done: (error: unknown) => void) => void;
    asPlatform(platform, () => submit(query, answered));
  }
}

/** The maximum number of parameters per statement. The protocol counts them in 16 bits; pg truncates a higher count. */
const maxParameters = 65_535;

/** Rejects a pg query that binds too many parameters, before anything is sent. */
export function checkParameters([query, given]: readonly unknown[]): void {
  const values = Array.isArray(given) ? given : Object(query).values;
  if (Array.isArray(values) && values.length > maxParameters)
    throw new Error(`a statement has ${values.length} parameters; Postgres takes at most ${maxParameters}`);
}

/** The statement with which a standby checks whether it may run the reads that follow in the same batch. */
const guard = { name: 'has_replayed', text: 'select has_replayed($1::pg_lsn, $2)' } as const;

/** The statement that makes Postgres use one plan for all values in the reads that follow it in the batch. */
const planOnce = {
  name: 'plan_once',
  text: "select set_config('plan_cache_mode', 'force_generic_plan', true)",
} as const;

/** The position that the server must have replayed before it runs a read (database/replicas). */
export interface Replayed {
  /** A position in the write-ahead log, as Postgres writes it. */
  readonly lsn: string;
  readonly history: string;
}

/** Reports that a standby has not replayed the position that a query requires. */
export class ReplicaBehind extends Error {
  constructor() {
    super('the replica has not replayed the position that the read requires');
    this.name = 'ReplicaBehind';
  }
}

/** A read and the name under which it is prepared. If the name is '', Postgres plans the read every time. */
interface NamedRead extends TextRead {
  readonly name: string;
}

/** The result of a read. `text` is undefined if the read returned no row. */
export interface Answer {
  readonly text: string | null | undefined;
  /** The execution time that Postgres measured for a named read, in microseconds. */
  readonly micros: number;
}

const timed = (text: string) =>
  `select r.*, (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000000)::int from (${text}) r`;

/**
 * A batch of reads, each of which returns a single string. It uses pg's interface for custom queries, because pg's own
 * query needs a third more CPU time for a single read. Each read gets its own snapshot.
 */
export class TextQuery implements pg.Submittable, PlatformFirst {
  /** The name in traces. Behind a pooler without prepared statements, this name and the reads' names are empty. */
  name = 'text_reads';
  readonly text = '';
  platform: PlatformFirst['platform'];
  readonly reads: readonly NamedRead[];
  /** The results received so far. After an error, the reads that follow the failed one have not run. */
  readonly answers: Answer[] = [];
  /** Whether the standby has yet to replay the required position. If so, none of the results count. */
  isBehind = false;
  readonly #required: Replayed | undefined;
  /** How many results precede the reads' own. The guard, the platform setting and the plan mode return one each. */
  #before = 0;
  #row: readonly (string | null)[] = [];
  /** pg sets this callback, and waits until it is called. */
  callback: ((error: Error | null) => void) | undefined;

  /**
   * @param reads the reads, of which either all or none are planned once
   * @param required the position that a standby must have replayed. The standby checks this itself in a statement
   *   before the reads, so the reads' snapshots are newer than the check, whichever server a proxy has chosen
   */
  constructor(reads: readonly NamedRead[], required?: Replayed) {
    this.reads = reads;
    this.#required = required;
  }

  submit(pgConnection: unknown): Error | null {
    // pg passes its own Connection.
    const connection = pgConnection as Connection;
    // Written as one buffer. Several writes would increase a request's CPU time by 5 % (bench/LOG.md).
    const messages: Buffer[] = [];
    if (this.platform) {
      this.#before += 1;
      messages.push(...statementMessages(connection, this.platform.statement, [this.platform.id]));
    }
    const isPrepared = this.name !== '';
    if (isPrepared && this.reads[0]?.planning === 'once' && this.reads[0].name !== '') {
      this.#before += 1;
      messages.push(...statementMessages(connection, planOnce, []));
    }
    if (this.#required) {
      this.#before += 1;
      messages.push(...statementMessages(connection, guard, [this.#required.lsn, this.#required.history]));
    }
    for (const { name, text, values } of this.reads) {
      const read = { name: isPrepared ? name : '', text: name === '' ? text : timed(text) };
      messages.push(...statementMessages(connection, read, values));
    }
    messages.push(serialize.sync());
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages));
    return null;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#row = fields;
  }

  handleCommandComplete(): void {
    const [text, micros] = this.#row;
    this.#row = [];
    if (this.#before === 0) this.answers.push({ text, micros: Number(micros) });
    else {
      this.#before -= 1;
      if (this.#before === 0 && this.#required && text !== 't') this.isBehind = true;
    }
  }

  handleReadyForQuery(): void {
    this.platform?.onSet?.();
    this.callback?.(null);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}
