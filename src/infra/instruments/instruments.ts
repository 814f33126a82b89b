import { Counter, Gauge, Histogram } from 'prom-client';

// The process's metrics. Each label has few values: no ids, no addresses, and no strings from clients.

export const requestSeconds = new Histogram({
  name: 'payments_request_seconds',
  help: 'The duration of requests, by API (graphql, rest, mcp), operation, and code: ok, the code of the first error, or the HTTP status for REST and MCP. An MCP tool also counts as its GraphQL operation.',
  labelNames: ['api', 'operation', 'code'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

export const earlyRefusals = new Counter({
  name: 'payments_early_refusals_total',
  help: 'Requests refused because of load (SERVICE_UNAVAILABLE) or a rate limit (RATE_LIMITED), before they reached their API.',
  labelNames: ['code'] as const,
});
// Prometheus sees no increase in a series that begins above zero, so each begins at zero, before the first refusal.
for (const code of ['SERVICE_UNAVAILABLE', 'RATE_LIMITED']) earlyRefusals.inc({ code }, 0);

/** The requests in progress, as admission control counts them (http/in-flight.ts). */
export const requestsInFlight = new Gauge({
  name: 'payments_requests_in_flight',
  help: 'Requests in flight, limited by MAX_IN_FLIGHT. A stream counts only until it begins.',
});

export const commands = new Counter({
  name: 'payments_commands_total',
  help: 'Commands, by operation and outcome: done, replayed, failed (a fault, or an unknown outcome), or the code of the refusal.',
  labelNames: ['operation', 'outcome'] as const,
});

export const loopSuccess = new Gauge({
  name: 'payments_loop_last_success_timestamp_seconds',
  help: 'When a background loop of this process last succeeded; before the first success, when it started.',
  labelNames: ['loop'] as const,
});

export const loopFailures = new Counter({
  name: 'payments_loop_failures_total',
  help: 'Failed rounds of background loops.',
  labelNames: ['loop'] as const,
});

export const lostRaces = new Counter({
  name: 'payments_lost_races_total',
  help: 'Commands that lost a race with another command in the database (serialization, deadlock, unique key), by result: retried or gave_up.',
  labelNames: ['result'] as const,
});
for (const result of ['retried', 'gave_up']) lostRaces.inc({ result }, 0);

export const slowReaders = new Counter({
  name: 'payments_slow_readers_total',
  help: 'Subscription readers dropped because they fell too far behind.',
});

/** The plans that are waiting to be committed or are being committed (ledger/commit-lanes.ts). */
export const plansWaiting = new Gauge({
  name: 'payments_commit_plans',
  help: 'Plans in this process that are waiting to be committed or are being committed.',
});

export const textReads = new Counter({
  name: 'payments_reads_total',
  help: 'Statements that read nodes and lists for requests, by server: primary or replica. Counted only if DATABASE_READ_URL is set.',
  labelNames: ['where'] as const,
});

export const replicaFallbacks = new Counter({
  name: 'payments_replica_fallbacks_total',
  help: "Reads that the primary answered instead of a replica, by reason: behind, failed, lost, or unknown (the primary's position was not available).",
  labelNames: ['reason'] as const,
});
