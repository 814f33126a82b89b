import type { Rail } from './rail.ts';

/**
 * The port for authors of rails: everything that a package needs to be a rail of the gateway. A rail is a module whose
 * default export is a `RailModule`; the setting RAILS names it. src/rails/README.md says what each method promises, and
 * `npm run rail:conformance` tries it.
 */

/**
 * The version of the port. It rises with breaking changes: when the gateway calls something else, or expects another
 * answer. A new optional method does not change it.
 */
export const railPort = 1;

/** The default export of a rail's module. */
export interface RailModule {
  /** The version of the port that the module was written for. */
  readonly railPort: typeof railPort;
  /** The name of the rail, for logs and refusals. */
  readonly name: string;
  /**
   * Opens the rail, once for each entry of RAILS that names the module. It reads its own settings and may reach its
   * provider, but starts no work of its own.
   * @param settings as RAILS has them; undefined if it has none
   * @throws Error when the settings are wrong; the message names each and says what it should be
   */
  open(settings: unknown, host: RailHost): Rail | Promise<Rail>;
}

/** The services of the gateway for a rail. */
export interface RailHost {
  /** The environment of the platforms that the rail serves. */
  readonly environment: 'SANDBOX' | 'PRODUCTION';
  /** The log of the gateway. Secrets must not appear there. */
  readonly log: RailLog;
  readonly connections: RailConnections;
}

/** What platforms have stored for their rail with `npm run ops -- rails connect`, encrypted: addresses, credentials. */
export interface RailConnections {
  /**
   * Reads the connection that a platform has stored, or undefined. Read it for each use: it can change at any time, and
   * no instance restarts for it.
   */
  read(platformId: string): Promise<string | undefined>;
}

/** A log with structured fields. */
export interface RailLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export { type CarriedText, type CharacterSetName, carriedText } from '../core/carried-text.ts';
export type * from './rail.ts';
// A package that is a rail imports from this file alone.
export type * from './rail.ts';
export type * from './rail.ts';
export type * from './rail.ts';
export type * from './rail-deposits.ts';
export type * from './rail-movements.ts';
export type * from './rail-webhooks.ts';
export type * from './rate-lock.ts';
export type { AccountVerification, Deposit, Scenario, ScenarioFault, Simulation } from './simulation.ts';
