import { expect, test } from 'vitest';
import { platformItself } from '../../src/domain/access/platform-itself.ts';
import { createCustomer, updateCustomer } from '../../src/domain/customers/customers.ts';
import { fundAccount, sandboxReceiveUma, sandboxSend } from '../../src/domain/sandbox/sandbox.ts';
import { transferOut } from '../../src/domain/transfers/transfers.ts';
import { sandboxOf, testGateway } from '../setup/gateway.ts';

/** Simulation is an optional part of a rail. A rail without it counts as real, even on a SANDBOX platform. */

const t = await testGateway();
const scene = await t.platform.makeScene();
const viewer = platformItself({ platformId: t.platform.platformId, environment: 'SANDBOX' });
const { payments } = t.gateway;
const { simulation: _none, checkIdentity: _nobody, ...rail } = sandboxOf(payments);
/** The domain, with a rail that moves money but simulates nothing. */
const real = { ...payments, rails: { SANDBOX: rail } };

const forbidden = { code: 'FORBIDDEN', message: 'this is possible only for sandbox platforms' };

test('a rail without simulation refuses every sandbox command', async () => {
  await expect(fundAccount(real, viewer, { accountId: scene.usd, amount: 1n })).rejects.toMatchObject(forbidden);
  await expect(sandboxSend(real, viewer, { quoteId: 'Quote:1', currencyCode: 'USD' })).rejects.toMatchObject(forbidden);
  await expect(
    sandboxReceiveUma(real, viewer, {
      ...{ senderUmaAddress: '$a@example.com', customerId: scene.customerId },
      ...{ receivingCurrencyCode: 'USD', receivingCurrencyAmount: 1n },
    }),
  ).rejects.toMatchObject(forbidden);
});

test('a rail without simulation accepts a payment only if it has no sandbox scenario', async () => {
  const transfer = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 5n };
  await expect(transferOut(real, viewer, { ...transfer, sandboxScenario: { delayMs: 1 } })).rejects.toMatchObject(
    forbidden,
  );
  expect((await transferOut(real, viewer, transfer)).row.status).toBe('PENDING');
});

test("if the rail does not check identities, a customer's name has no effect", async () => {
  const details = { customerType: 'INDIVIDUAL', fullName: 'Person 002' } as const;
  const made = await createCustomer(real, viewer, { platformCustomerId: 'real-1', details });
  expect(made.row.kycStatus).toBe('PENDING_REVIEW');
  const renamed = { customerId: `Customer:${made.row.id}`, details: { ...details, fullName: 'Person 003' } };
  expect((await updateCustomer(real, viewer, renamed)).row).toMatchObject({
    name: 'Person 003',
    kycStatus: 'PENDING_REVIEW',
  });
  // A rail that checks identities rejects a customer with that name.
  const simulated = await createCustomer(t.gateway.payments, viewer, { platformCustomerId: 'simulated-1', details });
  expect(simulated.row.kycStatus).toBe('REJECTED');
});
