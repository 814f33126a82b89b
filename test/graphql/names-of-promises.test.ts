import { describe, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';

/** JavaScript treats an object with a `then` method as a promise, and clients choose the field names of responses. */

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });

describe.each(['then', 'catch', 'finally', 'constructor', 'toString', 'toJSON', '__proto__', 'hasOwnProperty'])(
  'the alias %s is treated like any other name',
  (name) => {
    test.each([
      [`{ ${name}: currencies { ${name}: code } }`, { [name]: expect.arrayContaining([{ [name]: 'USD' }]) }],
      [`{ viewer { ${name}: kind } }`, { viewer: { [name]: 'PLATFORM' } }],
      [`{ ${name}: viewer { ${name}: kind } }`, { [name]: { [name]: 'PLATFORM' } }],
      [`{ ${name}: accounts(first: 1) { ${name}: __typename } }`, { [name]: { [name]: 'AccountConnection' } }],
      [
        `mutation { ${name}: createCustomer(input: { platformCustomerId: "", details: { individual: {} } }) {
          ... on UserError { ${name}: code } } }`,
        { [name]: { [name]: 'INVALID_INPUT' } },
      ],
    ])('%s', async (document, expected) => {
      expect(await t.platform.ask(document)).toEqual(expected);
    });

    test('over a socket, which stays open for other operations', async () => {
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
      const { id } = accounts.edges[0].node;
      const query = `subscription($id: ID!) { ${name}: accountUpdates(of: { accountId: $id }) { ${name}: account { ${name}: id } } }`;
      const [first] = await t.platform.followed(query, { id }, () => true);
      expect(first).toEqual({ [name]: { [name]: id } });
    });
  },
);
