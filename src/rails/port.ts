import type { Rail } from './rail.ts';

/**
 * The port for rail authors: everything that a package needs in order to implement a rail. A rail is a module whose
 * default export is a `RailModule`, named in the RAILS setting. src/rails/README.md describes what each method
 * promises, and `npm run rail:conformance` tests the promises about orders.
 */

/** The version of the port. Only breaking changes increase it, so a new optional method does not. */
export const railPort = 1;

/** The default export of a rail's module. */
export interface RailModule {
  /** The version of the port for which the module was written. */
  readonly railPort: typeof railPort;
  /** The name of the rail, for logs and refusals. */
  readonly name: string;
  /**
   * Opens the rail, once for each RAILS entry that names the module. It may contact the provider, but must not start
   * background work.
   * @param settings the entry's settings in RAILS; undefined if it has none
   * @throws Error when the settings are invalid; the message names each fault and the expected value
   */
  open(settings: unknown, host: RailHost): Rail | Promise<Rail>;
}

/** The services that the gateway provides to a rail. */
export interface RailHost {
  /** The environment of the platforms that the rail serves. */
  readonly environment: 'SANDBOX' | 'PRODUCTION';
  /** The gateway's log. Never write secrets to it. */
  readonly log: RailLog;
  readonly connections: RailConnections;
}

/** The connection data (addresses, credentials) that `npm run ops -- rails connect` stores encrypted for a platform. */
export interface RailConnections {
  /** Reads a platform's stored connection, if any. Read it again for each use, because it can change at any time. */
  read(platformId: string): Promise<string | undefined>;
}

/** A log with structured fields. */
export interface RailLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export { type CarriedText, type CharacterSetName, carriedText } from '../core/carried-text.ts';
// A package that implements a rail imports only from this file.
export type * from './rail.ts';
export type * from './rail-parts.ts';
