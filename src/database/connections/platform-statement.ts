import type { Writable } from 'node:stream';
import pg from 'pg';
import { serialize } from 'pg-protocol';

/** The part of pg's connection that a query uses, as pg's own Query, pg-cursor and pg-query-stream do. */
export interface Connection {
  /** The texts that are prepared, and those being prepared, by their names. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  readonly stream: Pick<Writable, 'writable' | 'write'>;
  bind(values: BindMessage): void;
  execute(portal: object): void;
}

/** Values for a prepared statement. */
interface BindMessage {
  readonly statement: string;
  readonly values: unknown[];
  readonly valueMapper: (value: unknown) => unknown;
}

const { utils } = pg as unknown as { readonly utils: { prepareValue(value: unknown): unknown } };

/** Converts a value to pg's wire format; pg's types do not declare it. */
export function prepareValue(value: unknown): unknown {
  return utils.prepareValue(value);
}

/** Sets the platform of a session. The row-level security of the tables reads it (docs/database-roles.md). */
export const platformStatement = {
  name: 'set_platform',
  text: "select set_config('gateway.platform', $1, false)",
} as const;

/** A query that can set the platform of its connection first, in the same round trip and the same transaction. */
export interface PlatformFirst {
  /** The platform to set, and what to call when it is. The connection has prepared `platformStatement` before. */
  platform: { readonly id: string; readonly onSet: () => void } | undefined;
}

const settingTo = (id: string): BindMessage => ({
  statement: platformStatement.name,
  values: [id],
  valueMapper: prepareValue,
});

/** Sends the statement that sets the platform, without the end of the batch. Its result comes before that of the query. */
export function sendPlatform(connection: Connection, id: string): void {
  connection.bind(settingTo(id));
  connection.execute({});
}

/** Returns what `sendPlatform` sends, for a query that writes its messages itself. */
export function platformMessages(id: string): readonly Buffer[] {
  return [serialize.bind(settingTo(id)), serialize.execute()];
}
