import { InvalidArgumentError } from 'commander';
import { WebSocket } from 'ws';
import { follow, StreamRefusedError } from '../client/follow.ts';
import { type RefusalPartsFragment, Whoami } from '../client/generated/operations.ts';
import { asPost, type Operation, sentAs } from '../client/operation.ts';
import { bodyOf } from '../client/payments.ts';
import { createSteadyClient } from '../client/socket.ts';
import { Failure } from './answer.ts';
import type { Screen } from './program.ts';

const local = 'http://127.0.0.1:4000';
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Calls the service as a server with an API token does: through the GraphQL API only. */
export class Service {
  readonly #graphql: URL;
  readonly #authorization: string;
  readonly #screen: Screen;
  readonly #signal: AbortSignal;

  constructor(screen: Screen, signal: AbortSignal, url: string | undefined) {
    const { environment } = screen;
    const given = url ?? (environment.PAYMENTS_URL || local);
    if (!isWebAddress(given))
      throw new InvalidArgumentError(`${given} is not the URL of a service: it must begin with http:// or https://.`);
    this.#screen = screen;
    this.#signal = signal;
    this.#graphql = new URL(given);
    // A proxy may publish the service under a path.
    this.#graphql.pathname = this.#graphql.pathname.replace(/(\/graphql)?\/?$/, '/graphql');
    this.#authorization = authorizationOf(environment, this.#graphql);
  }

  get origin(): string {
    return this.#graphql.origin;
  }

  /** Sends a query or a mutation. Throws a Failure if it is refused, or if the service does not respond. */
  async execute<Result, Variables>(document: Operation<Result, Variables>, variables: Variables): Promise<Result> {
    const request = asPost({ ...sentAs(document), variables });
    const headers = {
      ...request.headers,
      authorization: this.#authorization,
      'apollographql-client-name': 'payments-cli',
    };
    const { status, data, errors } = await fetch(this.#graphql, { ...request, headers, signal: this.#signal })
      .then(async (response) => ({ ...(await bodyOf(response)), status: response.status }))
      .catch((error: unknown) => {
        this.#signal.throwIfAborted();
        const cause = causeOf(error);
        const reason = ('code' in cause && String(cause.code)) || cause.message;
        throw new Failure(
          `Nothing answers at ${this.origin} (${reason}). \`npm start\` starts a sandbox; --url names another service.`,
        );
      });
    if (!data && !errors) throw new Failure(`${this.#graphql} answers with ${status}: it is not this service.`);
    const [error] = errors ?? [];
    if (error || !data) throw refused(error?.extensions?.code ?? String(status), error?.message);
    // The response conforms to the service's schema, from which the document's types are generated.
    return data as Result;
  }

  /** Sends a mutation, and returns its successful result. Throws a Failure if it is refused, or if `execute` fails. */
  async mutate<Result extends Readonly<Record<string, object>>, Variables>(
    document: Operation<Result, Variables>,
    variables: Variables,
  ): Promise<Exclude<Result[keyof Result], RefusalPartsFragment>> {
    const [result = {}] = Object.values(await this.execute(document, variables));
    // Only the refusals in a result's union have a code.
    if (!('code' in result)) return result as Exclude<Result[keyof Result], RefusalPartsFragment>;
    const { code, message, fields } = result as unknown as RefusalPartsFragment;
    const [field] = fields;
    throw new Failure(`${message} (${code}${field ? `, ${field.path.join('.')}` : ''})`, code);
  }

  /** Reads who the caller is and where the feed ends. This also verifies the credentials. */
  async whoami() {
    return (await this.execute(Whoami, {})).viewer;
  }

  /**
   * Follows a subscription to its end, or until the user stops it. If the connection is lost, prints a line,
   * reconnects, and resumes after the last message.
   * @param after the cursor to begin after
   */
  async follow<Result, Variables>(
    document: Operation<Result, Variables>,
    variables: Variables,
    onMessage: (data: Result) => void,
    after?: string,
  ): Promise<void> {
    // Fails at once if the service cannot be reached. The subscription itself would try to reconnect forever.
    await this.whoami();
    const client = createSteadyClient({
      url: this.#graphql.href.replace(/^http/, 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: this.#authorization },
      retryAttempts: 0,
    });
    let isLost = false;
    client.on('closed', (event) => {
      // The library does not declare the type of the event, which depends on the socket class.
      const { code } = event as { readonly code?: number };
      if (code === 1000 || this.#signal.aborted || isLost) return;
      isLost = true;
      this.#screen.err('Connection lost. Reconnecting …');
    });
    client.on('connected', () => {
      if (isLost) this.#screen.err('Reconnected; no event was missed.');
      isLost = false;
    });
    const refusal = new AbortController();
    const begin = async () => {
      refusal.abort();
      return '';
    };
    const signal = AbortSignal.any([this.#signal, refusal.signal]);
    try {
      const resumed = { ...variables, after };
      await follow(client, { document, variables: resumed, onMessage, signal, ...(after !== undefined && { begin }) })
        .done;
      if (refusal.signal.aborted)
        throw new Failure(
          `The service refuses the cursor ${after || '""'}: it is too old, or belongs to another platform.`,
        );
    } catch (error) {
      throw error instanceof StreamRefusedError ? refused(error.code, error.message) : error;
    } finally {
      await client.dispose();
    }
  }
}

function refused(code: string, message = 'no data'): Failure {
  if (code === 'UNAUTHENTICATED')
    return new Failure(
      'The service does not know these credentials. Set PAYMENTS_CLIENT_ID and PAYMENTS_CLIENT_SECRET to those of an API token.',
      code,
    );
  return new Failure(`${message} (${code})`, code);
}

function authorizationOf(environment: Screen['environment'], { hostname }: URL): string {
  const { PAYMENTS_CLIENT_ID: id, PAYMENTS_CLIENT_SECRET: secret } = environment;
  if (id !== undefined && secret !== undefined) return basic(id, secret);
  if (id === undefined && secret === undefined && loopback.test(hostname)) return basic('sandbox', 'sandbox');
  throw new Failure(
    'Set PAYMENTS_CLIENT_ID and PAYMENTS_CLIENT_SECRET to those of an API token. Only a sandbox on this machine needs none.',
  );
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

export const isWebAddress = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/** Returns why `fetch` failed. If the host has several addresses, returns the failure of the first. */
export function causeOf(error: unknown): Error {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof AggregateError) return causeOf(cause.errors[0]);
  return cause instanceof Error ? cause : new Error(String(cause));
}
