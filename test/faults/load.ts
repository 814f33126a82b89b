import { setTimeout as delay } from 'node:timers/promises';
import { mutationDocument, mutationVariables } from '../setup/documents.ts';
import type { Data } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';
import type { Command, Outcome } from './history.ts';
import { type Act, type Expected, usualActs } from './load-acts.ts';
import { Random } from './random.ts';

type Attempt =
  | { readonly kind: 'succeeded'; readonly data: Data }
  | { readonly kind: 'refused'; readonly code: string }
  /** The service responded that nothing had happened. */
  | { readonly kind: 'unavailable' }
  /** Nothing was listening at the address. */
  | { readonly kind: 'unsent' }
  | { readonly kind: 'unknown' };

interface LoadOptions {
  /** Returns each instance's address, or its last known address if it is down. */
  readonly urls: () => readonly string[];
  readonly authorization: string;
  /** The credentials of a second person, who decides on payments waiting for approval. */
  readonly approver?: string;
  /** One client is started for each scene. */
  readonly scenes: readonly Scene[];
  readonly seed: number;
  readonly during: () => string;
  /** Returns the acts of the client with the given index. The client repeatedly chooses one of them at random. */
  readonly acts?: (position: number) => readonly Act[];
}

/** Clients that move money and record the responses. */
export type Load = ReturnType<typeof startLoad>;

/** The time limit of an attempt. It is longer than any instance takes to report an unknown outcome. */
const attemptMs = 8_000;
/** How long a client waits after an unsuccessful attempt, so that its retries do not flood the instances. */
const pauseMs = 20;

export function startLoad(options: LoadOptions) {
  const clients = options.scenes.map((scene, index) => new Client(options, scene, index));
  const sum = (of: (client: Client) => number) => clients.reduce((total, client) => total + of(client), 0);
  const latest = () => `while ${options.during()}: ${clients.map((client) => client.latest).join('; ')}`;
  const load = {
    get history(): readonly Command[] {
      return clients.flatMap(({ history }) => history);
    },
    get internalErrors(): readonly string[] {
      return clients.flatMap(({ internalErrors }) => internalErrors);
    },
    /** Describes the attempts counted by `disturbed`, except those at an address where nothing was listening. */
    get troubles(): readonly string[] {
      return clients.flatMap(({ troubles }) => troubles);
    },
    get acknowledged(): number {
      return sum(({ acknowledged }) => acknowledged);
    },
    /** The number of failed attempts: unable to connect, refused as unavailable, cut off or unanswered. */
    get disturbed(): number {
      return sum(({ disturbed }) => disturbed);
    },
    more: (count: number): Promise<void> => grown(() => load.acknowledged, count, latest),
    moreDisturbed: (count: number): Promise<void> => grown(() => load.disturbed, count, latest),
    /**
     * Repeats the acknowledged command with the given key until it succeeds. Records the new payment, because the
     * previous one no longer exists.
     */
    async repeat(key: string): Promise<void> {
      await Promise.all(clients.map((client) => client.repeat(key)));
    },
    /** Stops the clients, and waits until each has finished its current command. */
    async stop(): Promise<void> {
      for (const client of clients) client.stop();
      await running;
    },
  };
  const running = Promise.all(clients.map((client) => client.run()));
  return load;
}

/** If the load makes no progress for this many milliseconds, the service has not survived. */
const standstillMs = 120_000;

async function grown(figure: () => number, by: number, latest: () => string): Promise<void> {
  const wanted = figure() + by;
  const deadline = performance.now() + standstillMs;
  while (figure() < wanted) {
    if (performance.now() > deadline)
      throw new Error(`${wanted - figure()} of ${by} did not happen within ${standstillMs} ms, ${latest()}`);
    await delay(2);
  }
}

const idIn = ({ transaction }: Data): string => transaction.id;

interface SentCommand {
  readonly send: () => Promise<Attempt>;
  readonly transactionOf: (data: Data) => string;
}

/** A client that acts on one customer's accounts, one act at a time. */
export class Client {
  readonly history: Command[] = [];
  readonly internalErrors: string[] = [];
  readonly troubles: string[] = [];
  acknowledged = 0;
  disturbed = 0;
  /** The result of the latest attempt, reported if there is no progress. */
  latest = 'no answer yet';
  readonly scene: Scene;
  readonly index: number;
  readonly random: Random;
  readonly #options: LoadOptions;
  readonly #sent = new Map<string, SentCommand>();
  #count = 0;
  #isStopping = false;

  constructor(options: LoadOptions, scene: Scene, index: number) {
    this.#options = options;
    this.scene = scene;
    this.index = index;
    this.random = new Random(options.seed + 1 + index);
  }

  stop(): void {
    this.#isStopping = true;
  }

  async run(): Promise<void> {
    const acts = this.#options.acts?.(this.index) ?? usualActs;
    while (!this.#isStopping) await this.random.oneOf(acts)(this);
  }

  /** Makes a transfer. Returns the id of its transaction if it is acknowledged. */
  readonly transfer = async (operation: 'transferOut' | 'transferIn', input: object, expected: Expected) => {
    const made = await this.#run(operation, input, expected, 'transaction { id }', idIn);
    return made && idIn(made);
  };

  /** Decides, as a second person, on a transaction that is waiting for approval. */
  readonly decide = async (operation: 'approveTransaction' | 'rejectTransaction', transactionId: string) => {
    await this.#run(operation, { transactionId }, { change: 0n }, 'transaction { id }', idIn, transactionId);
  };

  /**
   * Creates a quote, and executes it unless the input requests immediate execution. Returns the transaction's id if the
   * execution is acknowledged.
   */
  readonly quote = async (input: object, expected: Expected): Promise<string | undefined> => {
    const selection = 'quote { id transaction { id } }';
    const transactionOf = (data: Data) => data.quote.transaction.id;
    const made = await this.#run('createQuote', input, expected, selection, transactionOf);
    const executed =
      made && !('immediatelyExecute' in input)
        ? await this.#run(
            'executeQuote',
            { quoteId: made.quote.id },
            { change: 0n },
            selection,
            transactionOf,
            transactionOf(made),
          )
        : made;
    return executed && transactionOf(executed);
  };

  async repeat(key: string): Promise<void> {
    const at = this.history.findIndex((command) => command.key === key);
    const [command, sent] = [this.history[at], this.#sent.get(key)];
    if (!command || !sent) return;
    for (;;) {
      const attempt = await sent.send();
      if (attempt.kind === 'succeeded') {
        this.history[at] = { ...command, transactionIds: [sent.transactionOf(attempt.data)] };
        return;
      }
      if (attempt.kind === 'refused') return;
      await delay(pauseMs);
    }
  }

  /**
   * Sends a command until its outcome is known or the client gives up, and records it. Returns the response's data if
   * the command succeeded.
   */
  async #run(
    operation: Command['operation'],
    input: object,
    expected: Expected,
    selection: string,
    transactionOf: (data: Data) => string,
    transactionId?: string,
  ): Promise<Data> {
    const random = this.random;
    this.#count += 1;
    const key = `${operation}-${this.index}-${this.#count}`;
    const described = { ...input, idempotencyKey: key, ...(transactionId === undefined && { description: key }) };
    const send = () => this.#attempt(operation, selection, described);
    this.#sent.set(key, { send, transactionOf });
    const transactionIds = new Set<string>();
    const note = (outcome: Outcome, code?: string) =>
      this.history.push({
        key,
        operation,
        accountId: this.scene.usd,
        ...expected,
        outcome,
        transactionIds: [...transactionIds],
        during: this.#options.during(),
        ...(code !== undefined && { code }),
        ...(transactionId !== undefined && { transactionId }),
      });

    // Whether an attempt without a conclusive response may have taken effect.
    let isOpen = false;
    for (;;) {
      const attempt = await send();
      if (attempt.kind === 'succeeded') {
        transactionIds.add(transactionOf(attempt.data));
        this.acknowledged += 1;
        if (random.oneIn(10)) {
          const again = await send();
          if (again.kind === 'succeeded') transactionIds.add(transactionOf(again.data));
          else if (again.kind === 'refused') this.internalErrors.push(`${key} was repeated and refused: ${again.code}`);
        }
        note('succeeded');
        return attempt.data;
      }
      if (attempt.kind === 'refused') {
        note('refused', attempt.code);
        return undefined;
      }
      this.disturbed += 1;
      if (attempt.kind !== 'unsent') this.troubles.push(`${key}: ${this.latest}`);
      isOpen ||= attempt.kind === 'unknown';
      // Some clients give up and record what they have learned from the responses so far.
      if (this.#isStopping || (attempt.kind !== 'unsent' && random.oneIn(4))) {
        note(isOpen ? 'unknown' : 'refused', attempt.kind);
        return undefined;
      }
      await delay(pauseMs);
    }
  }

  async #attempt(operation: Command['operation'], selection: string, input: object): Promise<Attempt> {
    const { urls, approver, authorization: own } = this.#options;
    const authorization = operation.endsWith('Transaction') && approver ? approver : own;
    const body = JSON.stringify(
      { query: mutationDocument(operation, selection), variables: mutationVariables(operation, input) },
      (_key, value) => (typeof value === 'bigint' ? value.toString() : value),
    );
    try {
      const response = await fetch(`${this.random.oneOf(urls())}/graphql`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', accept: 'application/graphql-response+json' },
        body,
        signal: AbortSignal.timeout(attemptMs),
      });
      const text = await response.text();
      this.latest = `${operation}: ${response.status} ${text.slice(0, 200)}`;
      if (response.status === 503 && response.headers.get('retry-after') === null)
        this.internalErrors.push(`${this.latest} does not say when to try again`);
      return this.#read(operation, response.status, text);
    } catch (error) {
      this.latest = `${operation}: ${error}`;
      return { kind: isRefusedConnection(error) ? 'unsent' : 'unknown' };
    }
  }

  #read(operation: Command['operation'], status: number, text: string): Attempt {
    const { data, errors } = JSON.parse(text);
    const result = data?.[operation];
    if (result?.__typename.endsWith('Success')) return { kind: 'succeeded', data: result };
    const code: string = result?.code ?? errors?.[0]?.extensions?.code;
    switch (code) {
      case 'SERVICE_UNAVAILABLE':
        return { kind: 'unavailable' };
      case 'OUTCOME_UNKNOWN':
      // The first attempt is still being processed.
      case 'CONFLICT':
        return { kind: 'unknown' };
      default:
        if (result?.code) return { kind: 'refused', code };
        this.internalErrors.push(`${operation}: ${status} ${text.slice(0, 300)}`);
        return { kind: 'unknown' };
    }
  }
}

function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
