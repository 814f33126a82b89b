/** Rate limits that are too high for these attacks to reach. Rate limits have their own tests (test/http). */
export const unlimited = {
  RATE_LIMIT_CLIENT_TOKEN: { perSecond: 100_000, burst: 1_000_000 },
  WRONG_CREDENTIALS_PER_MINUTE: 1_000_000,
  SOCKETS_PER_CLIENT_TOKEN: 10_000,
  STREAMS_PER_CLIENT_TOKEN: 10_000,
} as const;
