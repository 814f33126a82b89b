import { afterAll, expect, test } from 'vitest';
import { act } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { makeScene, withNewCredentials } from '../setup/scene.ts';

const t = await testGateway({ DATABASE_POOL: 2, ROLE: 'serve' });
const scene = await makeScene(t.platform);
// The caller's credentials are already cached, so only the request itself needs a connection.
const platform = await withNewCredentials(t.platform, t.url);
const { pool } = t.gateway.serving;
const taken = [await pool.connect(), await pool.connect()];
afterAll(() => {
  for (const client of taken) client.release();
});

test('every API asks callers to retry while no connection to the database is free', async () => {
  const rest = () =>
    fetch(`${t.url}/2025-10-13/customers`, { headers: { authorization: platform.authorization } }).then(
      async (response) => ({ status: response.status, ...(await response.json()) }),
    );
  const [list, refused, query] = await Promise.all([
    rest(),
    act(platform, 'createClientToken', { boundTo: { customerId: scene.customerId }, permissions: ['VIEW'] }),
    platform.send('{ customers { edges { node { id } } } }'),
  ]);
  expect(list).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(refused).toMatchObject({ __typename: 'UnavailableError', code: 'SERVICE_UNAVAILABLE' });
  expect(query.errors?.[0]?.extensions).toEqual({ code: 'SERVICE_UNAVAILABLE', retryAfter: 1 });
});
