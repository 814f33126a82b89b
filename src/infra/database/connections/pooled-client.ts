import { type ConnectionConfig, DatabaseClient } from './hosts.ts';
import { noPlatform } from './platform-scope.ts';
import { localPlatformText } from './platform-statement.ts';

/** A connection pooler in transaction mode, such as PgBouncer. */
export interface Pooler {
  readonly url: string;
  /** Whether it supports clients' prepared statements, as PgBouncer 1.21 and later do with max_prepared_statements. */
  readonly prepares: boolean;
}

interface NamedQuery {
  name?: string | undefined;
  readonly text?: string;
  readonly submit?: unknown;
}

/** A connection through a pooler in transaction mode, in which each transaction may run in a different session. */
export class PooledClient extends DatabaseClient {
  /** The platform for transactions that begin on this connection. */
  platform = noPlatform;
  readonly prepares: boolean;

  constructor(config: ConnectionConfig = {}) {
    super(config);
    this.prepares = config.pooler?.prepares ?? false;
  }

  protected override send([query, ...rest]: [query: NamedQuery | string, ...unknown[]]): unknown {
    if (typeof query === 'string') {
      const text = begins.test(query) && rest.length === 0 ? `${query}; ${this.#settingText()}` : query;
      return super.send([text, ...rest]);
    }
    const sent = super.send([this.prepares ? query : withoutName(query), ...rest]);
    if (typeof query.text === 'string' && begins.test(query.text)) {
      // If setting the platform fails, the transaction aborts. Without a callback, a query returns a promise.
      (super.send([this.#settingText()]) as Promise<unknown>).catch(() => undefined);
    }
    return sent;
  }

  /** Returns the statement that sets the transaction's platform, as text, so that it can share a message with BEGIN. */
  #settingText(): string {
    return localPlatformText(this.escapeLiteral(this.platform));
  }
}

const begins = /^\s*begin\b/i;

/** Removes a query's name, so that pg sends it as an unnamed statement, parsed and executed in one batch. */
function withoutName(query: NamedQuery): NamedQuery {
  if (query.name === undefined || query.name === '') return query;
  if (query.submit === undefined) return { ...query, name: '' };
  query.name = '';
  return query;
}
