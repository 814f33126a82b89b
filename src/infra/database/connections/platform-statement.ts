import type { Writable } from 'node:stream';
import pg from 'pg';
import { serialize } from 'pg-protocol';

/** The part of pg's connection that is used by queries such as pg's own Query, pg-cursor and pg-query-stream. */
export interface Connection {
  /** The text of each statement that is prepared or being prepared, by name. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  readonly stream: Pick<Writable, 'writable' | 'write'>;
  close(statement: { readonly type: 'S'; readonly name: string }): void;
}

// pg's own value serialization, which its types do not declare.
export const { prepareValue } = (pg as unknown as { readonly utils: { prepareValue(value: unknown): unknown } }).utils;

/** Sets a session's platform, which the tables' row-level security policies read (docs/database-roles.md). */
export const platformStatement = {
  name: 'set_platform',
  text: "select set_config('gateway.platform', $1, false)",
} as const;

/** Returns the statement that sets the platform for the current transaction only, not for the session. */
export const localPlatformText = (value: string) => `select set_config('gateway.platform', ${value}, true)`;

/** The same statement in prepared form, for sessions that a connection pooler shares between clients. */
export const localPlatformStatement = { name: 'set_local_platform', text: localPlatformText('$1') } as const;

export interface PlatformSetting {
  readonly id: string;
  /** The statement that sets the platform: prepared or, if its name is '', sent as text. */
  readonly statement: { readonly name: string; readonly text: string };
  readonly onSet?: () => void;
}

/** A query that can set its connection's platform first, in the same round trip and the same transaction. */
export interface PlatformFirst {
  platform: PlatformSetting | undefined;
}

/**
 * Returns the messages that execute a statement. They first prepare it, unless the connection has already done so. A
 * statement named '' is prepared each time. The messages do not end the batch.
 */
export function statementMessages(
  { parsedStatements, submittedNamedStatements }: Connection,
  { name, text }: { readonly name: string; readonly text: string },
  values: readonly unknown[],
): readonly Buffer[] {
  const messages = [
    serialize.bind({ statement: name, values: [...values], valueMapper: prepareValue }),
    serialize.execute(),
  ];
  if (name !== '') {
    // pg adds a new statement to the submitted ones and, once Postgres has confirmed it, moves it to the parsed ones.
    if ((parsedStatements[name] ?? submittedNamedStatements[name]) !== undefined) return messages;
    // From here on the statement counts as prepared. If its preparation fails, the pool closes the connection.
    submittedNamedStatements[name] = text;
  }
  return [serialize.parse({ name, text }), ...messages];
}
