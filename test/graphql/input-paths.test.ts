import { expect, test } from 'vitest';
import { argumentPath } from '../../src/api/graphql/schema/input-paths.ts';
import { schema } from '../../src/api/graphql/server/schema.ts';

test.each([
  ['createQuote', ['source', 'accountId'], { source: { account: {} } }, ['input', 'source', 'account', 'accountId']],
  ['createQuote', ['source'], { source: { realtimeFunding: {} } }, ['input', 'source', 'realtimeFunding']],
  // An account of kind `iban` has an `iban`.
  [
    'createExternalAccount',
    ['details', 'iban'],
    { accountInfo: { iban: {} } },
    ['input', 'accountInfo', 'iban', 'iban'],
  ],
  ['createExternalAccount', ['details'], { accountInfo: { clabe: {} } }, ['input', 'accountInfo', 'clabe']],
  ['createExternalAccount', ['beneficiary'], { accountInfo: {} }, ['input', 'beneficiary']],
  [
    'createCustomer',
    ['details', 'beneficialOwners', 1, 'taxId'],
    { details: { business: {} } },
    ['input', 'details', 'business', 'beneficialOwners', 1, 'taxId'],
  ],
  ['transferOut', ['amount'], { amount: { units: 1n } }, ['input', 'amount', 'units']],
  ['sandboxSend', ['currencyAmount'], { amount: { decimal: '1' } }, ['input', 'amount', 'decimal']],
  ['sandboxSend', ['currencyCode'], {}, ['input', 'currency']],
  ['lookUpReceiver', ['senderUmaAddress'], { sender: { umaAddress: '$x' } }, ['input', 'sender', 'umaAddress']],
  ['replayWebhookEvents', ['eventId'], { events: { eventId: 'x' } }, ['input', 'events', 'eventId']],
  ['replayWebhookEvents', ['before'], { events: { between: {} } }, ['input', 'events', 'between', 'before']],
  // The choice within the account's input is part of the command's path.
  [
    'createExternalAccount',
    ['details', 'invoice'],
    { accountInfo: { lightning: { invoice: 'x' } } },
    ['input', 'accountInfo', 'lightning', 'invoice'],
  ],
  ['createCustomer', ['metadata', 'b'], { metadata: [{ key: 'a' }, { key: 'b' }] }, ['input', 'metadata', 1]],
] as const)('in %s, the path %j of the command is mapped to the path in the input', (name, path, input, place) => {
  expect(argumentPath(schema, name, path, input)).toEqual(place);
});
