import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';

let t: TestGateway;
let gc: () => void;
beforeAll(async () => {
  setFlagsFromString('--expose-gc');
  gc = runInNewContext('gc');
  t = await startTestGateway();
});
afterAll(() => t.stop());

test.each([
  ['documents', (word: string) => `{ viewer { kind } } # ${word}`, 401],
  ['malformed documents', (word: string) => `{ viewer { kind } # ${word}`, 400],
])('strangers who send many long %s leave little behind', async (_what, document, status) => {
  const send = async (count: number) => {
    for (let sent = 0; sent < count; sent++) {
      const query = document(String(Math.random()).padEnd(90_000, 'x'));
      const response = await fetch(`${t.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
        body: JSON.stringify({ query }),
      });
      await response.arrayBuffer();
      expect(response.status).toBe(status);
    }
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = await send(100);
  const after = await send(400);
  // All of them would be 36 MB.
  expect(after - before).toBeLessThan(18_000_000);
});
