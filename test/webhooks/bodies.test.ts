import { expect, test } from 'vitest';
import { webhookText } from '../../src/api/webhooks/delivery/bodies.ts';
import type { Event } from '../../src/infra/database/rows.ts';
import { cursors } from '../setup/cursors.ts';

const uuid = '01a1fc11-db75-7eac-9cd6-93f3db60e56b';

test('a balance beyond the range of a JSON number is omitted, and the event is sent without it', () => {
  const event: Event = {
    platformId: uuid,
    id: uuid,
    sequence: 7n,
    type: 'ACCOUNT_STATUS',
    occurredAt: new Date(0),
    transactionId: null,
    quoteId: null,
    accountId: uuid,
    customerId: null,
    version: 2,
    previousStatus: null,
    status: null,
    reason: null,
    terminal: false,
    oldBalance: 9_007_199_254_740_991n,
    newBalance: 9_007_199_254_740_992n,
    snapshot: {},
    epoch: null,
  };
  const around = {
    platformCustomerId: null,
    sourceKind: null,
    sourceCurrency: null,
    destinationKind: null,
    accountCurrency: 'USD',
  };
  const body = JSON.parse(webhookText(cursors, event, around));
  expect(body).toMatchObject({
    type: 'ACCOUNT_STATUS',
    accountId: `InternalAccount:${uuid}`,
    oldBalance: { amount: 9_007_199_254_740_991, currency: { code: 'USD' } },
  });
  expect(body).not.toHaveProperty('newBalance');
});
