import { LRUCache } from 'lru-cache';

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
const most = { document: 8_000, input: 4_000, statementText: 1_000, statements: 50, made: 20 } as const;

/** The names of fields whose values nobody is shown, not even who has sent them. */
const secretField = /secret|password|authorization|credential|^token$/i;

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
    if (document !== undefined) this.document = shortened(document, most.document);
    const json = JSON.stringify(input, shown);
    this.input = json === undefined || json === '{}' ? null : shortened(json, most.input);
  }

  /** Notes what one of its commands has made or changed. */
  noteMade(id: string): void {
    if (this.made.length < most.made && !this.made.includes(id)) this.made.push(id);
  }

  /** Begins a statement, and returns the function to call with its result or its error. */
  begin(name: string | undefined, text: string): (error: unknown, rows?: number | null) => void {
    if (this.statements.length >= most.statements) {
      this.omittedStatements += 1;
      return () => undefined;
    }
    const startMs = this.#elapsed();
    const statement: TracedStatement = {
      ...{ name: name || null, text: shortened(text, most.statementText), startMs },
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

/** The newest requests of the sandbox's platforms that this instance has answered. */
export class RequestTraces {
  readonly #kept: LRUCache<string, RequestTrace>;

  /** @param max the most requests that are kept */
  constructor(max: number) {
    this.#kept = new LRUCache({ max });
  }

  /** Begins a request. It is kept as soon as its platform is known. */
  begin(request: Pick<RequestTrace, 'id' | 'method' | 'path'>): RequestTrace {
    return new RequestTrace(request, (platformId, trace) => this.#kept.set(keyOf(platformId, trace.id), trace));
  }

  /** Returns a request of a platform; undefined where it is unknown, or longer ago than what is kept. */
  find(platformId: string, id: string): RequestTrace | undefined {
    return this.#kept.peek(keyOf(platformId, id));
  }
}

const keyOf = (platformId: string, id: string) => `${platformId} ${id}`;

const round = (ms: number) => Math.round(ms * 100) / 100;

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function shown(key: string, value: unknown): unknown {
  if (secretField.test(key) && value !== null) return '[hidden]';
  return typeof value === 'bigint' ? value.toString() : value;
}

function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
