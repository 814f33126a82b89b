import { noPlatform } from './platform-scope.ts';

/** The statement timeout in milliseconds, after which Postgres cancels the statement. */
export const defaultStatementMs = 10_000;

/** Returns the settings that every session needs. The time zone is UTC: adapter-pg shifts timestamps in any other. */
export const sessionSettings = (role: string, statementMs = defaultStatementMs) => [
  `role=${role}`,
  // For some tables the serving role has views, which must be found first (docs/database-roles.md).
  `search_path=${role === 'gateway_serving' ? 'serving,public' : 'public'}`,
  `gateway.platform=${noPlatform}`,
  'timezone=UTC',
  'lock_timeout=2000',
  `statement_timeout=${statementMs}`,
  'idle_in_transaction_session_timeout=10000',
  // Postgres expects a million rows from JSON that has two: JIT compilation then took ten times as long as the payment.
  'jit=off',
  // If a machine is lost, the locks of its processes are released after a few unanswered keep-alive probes.
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
];
