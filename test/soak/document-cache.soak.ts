import { expect, test } from 'vitest';
import { connect, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { heapInUse } from '../setup/heap.ts';
import { often } from '../setup/statements.ts';

const t = await testGateway();

/** The maximum memory that may be retained, in MB. Anything that grows without bound would retain more. */
const little = 5;

/** Returns how much more memory, in MB, is in use after `act` has run `acts` times. */
async function leftBehind(acts: number, act: (turn: number) => Promise<void>): Promise<number> {
  const before = heapInUse();
  for (let turn = 0; turn < acts; turn += 1) await act(turn);
  return (heapInUse() - before) / 1e6;
}

async function sendAsStranger(query: string): Promise<number> {
  const stranger = connect(t.url, '', '');
  const response = await stranger.post({ query }, { accept: 'application/graphql-response+json' });
  await response.arrayBuffer();
  return response.status;
}

/** A unique document of some 1,500 tokens. */
const large = (turn: number) =>
  `query Q${turn} { customers(first: 1) { edges { node { ${'id accounts(first: 1) { edges { node { id } } } '.repeat(95)} } } } }`;

test.each([
  ['long documents', 400, (word: string) => `{ viewer { kind } } # ${word.padEnd(90_000, 'x')}`],
  ['documents with many tokens', 200, (word: string) => `{ viewer { ${'kind '.repeat(450)} } } # ${word}`],
  ['long malformed documents', 200, (word: string) => `{ viewer { kind } # ${word.padEnd(90_000, 'x')}`],
  ['short malformed documents', 1_500, (word: string) => `{ viewer { kind } # ${word}`],
])('many %s from strangers retain little memory', async (_what, count, document) => {
  const send = async () => expect(await sendAsStranger(document(String(Math.random())))).toBe(401);
  // The first round fills the caches for such documents.
  await leftBehind(count, send);
  expect(await leftBehind(count, send)).toBeLessThan(little);
});

test('unique documents retain little memory, even if each is sent again and its plan is cached', async () => {
  const ask = async (turn: number) => {
    for (let time = 0; time < often; time += 1) await t.platform.ask(large(turn));
  };
  await leftBehind(60, ask);
  expect(await leftBehind(150, (turn) => ask(100 + turn))).toBeLessThan(little);
});

test('data that is sent along with documents is not retained', async () => {
  const ask = async (turn: number) => {
    for (let time = 0; time < often; time += 1) {
      await t.platform.ask(`query Q${turn} { viewer { kind } currencies { code } }`, {
        unused: `${turn}`.padEnd(90_000, 'x'),
      });
    }
  };
  await leftBehind(20, ask);
  expect(await leftBehind(100, (turn) => ask(100 + turn))).toBeLessThan(little);
});

test('a document that many customers send retains little memory per customer', async () => {
  const lists = Array.from(
    { length: 19 },
    (_, n) => `a${n}: transactions(first: ${n + 1}) { edges { node { id status } } }`,
  );
  const document = `{ customers(first: 1) { edges { node { ${lists.join(' ')} } } } }`;
  const apps: TestPlatform[] = [];
  for (let made = 0; made < 200; made += 1) {
    const { token } = await t.platform.mint({ customerId: await t.platform.newCustomer(), permissions: ['VIEW'] });
    apps.push(connect(t.url, t.platform.platformId, `Bearer ${token}`));
  }
  // These apps make the service compile the document and cache as many plans as it can.
  for (const app of apps.slice(0, 100)) await app.ask(document);
  expect(await leftBehind(100, async (turn) => void (await apps[100 + turn]?.ask(document)))).toBeLessThan(little);
});
