import { describe, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { nextOf } from '../setup/streams.ts';

/** JavaScript treats an object with a `then` method as a promise, and clients choose the field names of responses. */

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });

describe.each(['then', 'catch', 'finally', 'constructor', 'toString', 'toJSON', '__proto__', 'hasOwnProperty'])(
  'the alias %s is treated like any other name',
  (name) => {
    test.each([
      [
        `{ ${name}: currencies { ${name}: code } viewer { ${name}: kind } }`,
        (data: Record<string, never>) => [data[name]?.[0]?.[name], data.viewer?.[name]],
        [expect.stringMatching(/^[A-Z]{3,4}$/), 'PLATFORM'],
      ],
      [
        `{ ${name}: accounts(first: 1) { ${name}: __typename } }`,
        (data: never) => data[name][name],
        'AccountConnection',
      ],
      [
        `mutation { ${name}: createCustomer(input: { platformCustomerId: "", details: { individual: {} } }) {
          ... on UserError { ${name}: code } } }`,
        (data: never) => data[name][name],
        'INVALID_INPUT',
      ],
    ])('%s', async (document, pick, expected) => {
      expect(pick((await t.platform.ask(document)) as never)).toEqual(expected);
    });

    test('over a socket, which stays open for its other operations', async () => {
      const socket = t.platform.socket();
      const answers = [];
      for (const query of [`{ ${name}: viewer { ${name}: kind } }`, '{ viewer { kind } }']) {
        for await (const answer of socket.iterate({ query })) answers.push(answer.data);
      }
      await socket.dispose();
      expect(answers).toMatchObject([{ [name]: { [name]: 'PLATFORM' } }, { viewer: { kind: 'PLATFORM' } }]);
    });

    test('in a stream', async () => {
      const { accounts } = await t.platform.ask('{ accounts(first: 1) { edges { node { id } } } }');
      const stream = t.platform.watch(
        `subscription($id: ID!) { ${name}: accountUpdates(of: { accountId: $id }) { ${name}: account { ${name}: id } } }`,
        { id: accounts.edges[0].node.id },
      );
      const first = await nextOf(stream);
      await stream.return?.();
      expect(first.data[name][name][name]).toBe(accounts.edges[0].node.id);
    });
  },
);
