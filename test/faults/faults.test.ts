import { test } from 'vitest';
import { survive } from './survive.ts';

test('killing the service and Postgres neither loses nor duplicates anything', { timeout: 600_000 }, () =>
  survive({
    seed: 17,
    instances: 2,
    clients: 4,
    followers: 2,
    commandsBetween: 5,
    limited: true,
    faults: { 'kill -9 of an instance': 3, 'immediate stop of Postgres': 1 },
  }),
);
