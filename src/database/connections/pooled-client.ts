import type pg from 'pg';
import { type ConnectionConfig, DatabaseClient } from './hosts.ts';
import { noPlatform } from './platform-scope.ts';
import { localPlatformText } from './platform-statement.ts';

/** A query that may have a name, under which it is prepared. */
interface NamedQuery {
  name?: string | undefined;
  readonly text?: string;
  readonly submit?: unknown;
}

/**
 * A connection through a connection pooler in transaction mode: each transaction may run on another session of the server. So
 * nothing may depend on a session: the platform is set in each transaction for that transaction alone, and where the pooler does
 * not prepare statements, they have no names.
 */
export class PooledClient extends DatabaseClient {
  /** The platform of the transactions that begin on it. */
  platform = noPlatform;
  /** Whether statements are prepared under names. */
  readonly prepares: boolean;

  constructor(config: ConnectionConfig = {}) {
    super(config);
    this.prepares = config.pooler?.prepares ?? false;
  }

  // The declarations of `query` in pg's types cannot be overridden one by one.
  override query = ((query: NamedQuery | string, ...rest: readonly unknown[]) => {
    if (typeof query === 'string') {
      const text = begins.test(query) && rest.length === 0 ? `${query}; ${this.#settingText()}` : query;
      return this.#send(text, ...rest);
    }
    const sent = this.#send(this.prepares ? query : withoutName(query), ...rest);
    if (typeof query.text === 'string' && begins.test(query.text)) {
      // When it fails, the transaction is aborted, and so each of its statements fails.
      (this.#send(this.#settingText()) as Promise<unknown>).catch(() => undefined);
    }
    return sent;
  }) as pg.Client['query'];

  /** Returns the statement that sets the platform of the transaction: as a text, so that it can follow BEGIN in one message. */
  #settingText(): string {
    return localPlatformText(this.escapeLiteral(this.platform));
  }

  #send(...args: readonly unknown[]): unknown {
    return Reflect.apply(super.query, this, args);
  }
}

const begins = /^\s*begin\b/i;

/** Takes the name off a query: pg then sends it as an unnamed statement, parsed and executed in one batch. */
function withoutName(query: NamedQuery): NamedQuery {
  if (query.name === undefined || query.name === '') return query;
  if (query.submit === undefined) return { ...query, name: '' };
  query.name = '';
  return query;
}
