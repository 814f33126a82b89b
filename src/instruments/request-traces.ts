import { cut, jsonWithoutSecrets, withoutSecrets } from './without-secrets.ts';

/** A statement that a request has sent to the database. Its values are not kept. */
export interface TracedStatement {
  /** The name under which it is prepared; null where it has none. */
  readonly name: string | null;
  readonly text: string;
  /** When it was sent, in milliseconds after the request's begin. */
  readonly startMs: number;
  /** How long its result took, in milliseconds; null while it runs. */
  durationMs: number | null;
  /** How many rows it returned or changed; null where that is not known. */
  rows: number | null;
  /** The SQLSTATE or the message of its failure; null where it has not failed. */
  error: string | null;
}

/** The most of a request that is kept, in characters and statements. */
const most = { document: 8_000, input: 4_000, statementText: 1_000, statements: 50, made: 20, errorCodes: 10 } as const;

/** How long a request is kept. */
const keptMs = 3_600_000;

/** What a request was and did, for whoever builds on the sandbox. It is kept in memory, within the bounds above. */
export class RequestTrace {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly at = new Date();
  readonly statements: TracedStatement[] = [];
  /** The ids of what its commands have made or changed. */
  readonly made: string[] = [];
  /** How many statements came after the last one that is kept. */
  omittedStatements = 0;
  /** The text of its GraphQL document; null for REST. */
  document: string | null = null;
  /** Its variables, or its body in REST, as JSON without secrets; null where it has none. */
  input: string | null = null;
  /** The codes of its refusals and errors. */
  readonly errorCodes: string[] = [];
  /** The HTTP status of its answer; null while it runs, and when its client has gone before. */
  status: number | null = null;
  /** How long it took, in milliseconds; null while it runs. */
  durationMs: number | null = null;
  readonly #start = performance.now();
  readonly #keep: (platformId: string, trace: RequestTrace) => void;

  constructor(
    { id, method, path }: Pick<RequestTrace, 'id' | 'method' | 'path'>,
    keep: (platformId: string, trace: RequestTrace) => void,
  ) {
    this.id = id;
    this.method = method;
    this.path = path;
    this.#keep = keep;
  }

  /** Keeps it for a platform, which sends it. */
  belongTo(platformId: string): void {
    this.#keep(platformId, this);
  }

  /** Notes what it asks for. */
  noteInput(input: unknown, document?: string): void {
    if (document !== undefined) this.document = withoutSecrets(document, most.document);
    const json = jsonWithoutSecrets(input);
    this.input = json === undefined || json === '{}' ? null : cut(json, most.input);
  }

  /** Notes what one of its commands has made or changed. */
  noteMade(id: string): void {
    if (this.made.length < most.made && !this.made.includes(id)) this.made.push(id);
  }

  /** Notes the code of a refusal or of an error. */
  noteError(code: string): void {
    if (this.errorCodes.length < most.errorCodes && !this.errorCodes.includes(code)) this.errorCodes.push(code);
  }

  /** Begins a statement, and returns the function to call with its result or its error. */
  begin(name: string | undefined, text: string): (error: unknown, rows?: number | null) => void {
    if (this.statements.length >= most.statements) {
      this.omittedStatements += 1;
      return () => undefined;
    }
    const startMs = this.#elapsed();
    const statement: TracedStatement = {
      ...{ name: name || null, text: cut(text, most.statementText), startMs },
      ...{ durationMs: null, rows: null, error: null },
    };
    this.statements.push(statement);
    return (error, rows = null) => {
      statement.durationMs = round(this.#elapsed() - startMs);
      if (error) statement.error = failureOf(error);
      else statement.rows = rows;
    };
  }

  /** Ends the request. */
  end(status: number | null): void {
    this.durationMs ??= this.#elapsed();
    this.status ??= status;
  }

  #elapsed(): number {
    return round(performance.now() - this.#start);
  }
}

/**
 * The newest requests of the sandbox's platforms that this instance has answered, for an hour. They are in memory and not in the
 * database: a busy sandbox would write more for its requests than for its payments, and what a developer inspects is seconds old.
 */
export class RequestTraces {
  readonly #max: number;
  /** The requests of each platform, the oldest first. */
  readonly #platforms = new Map<string, Map<string, RequestTrace>>();
  #count = 0;

  /** @param max the most requests that are kept, of all platforms together */
  constructor(max: number) {
    this.#max = max;
  }

  /** Begins a request. It is kept as soon as its platform is known. */
  begin(request: Pick<RequestTrace, 'id' | 'method' | 'path'>): RequestTrace {
    return new RequestTrace(request, (platformId, trace) => this.#keep(platformId, trace));
  }

  /** Returns a request of a platform; undefined where it is unknown, or longer ago than what is kept. */
  find(platformId: string, id: string): RequestTrace | undefined {
    const trace = this.#platforms.get(platformId)?.get(id);
    return trace && !isOver(trace) ? trace : undefined;
  }

  /** Keeps a request. Of requests with the same id, as of a retry, the newest is kept. */
  #keep(platformId: string, trace: RequestTrace): void {
    const own = this.#platforms.get(platformId) ?? new Map<string, RequestTrace>();
    this.#platforms.set(platformId, own);
    if (own.get(trace.id) === trace) return;
    if (own.delete(trace.id)) this.#count -= 1;
    own.set(trace.id, trace);
    this.#count += 1;
    for (const [id, oldest] of own) {
      if (!isOver(oldest)) break;
      own.delete(id);
      this.#count -= 1;
    }
    while (this.#count > this.#max) this.#dropOne(platformId, own);
  }

  /**
   * Drops the oldest request of a platform that has its share, or else of the one that has most: a busy platform does not push
   * out what the others look for.
   */
  #dropOne(platformId: string, own: Map<string, RequestTrace>): void {
    const share = Math.ceil(this.#max / this.#platforms.size);
    let [id, kept] = [platformId, own];
    if (own.size <= share) for (const [other, of] of this.#platforms) if (of.size > kept.size) [id, kept] = [other, of];
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      this.#count -= 1;
      break;
    }
    if (kept.size === 0) this.#platforms.delete(id);
  }
}

const isOver = ({ at }: RequestTrace) => Date.now() - at.getTime() > keptMs;

const round = (ms: number) => Math.round(ms * 100) / 100;

function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
