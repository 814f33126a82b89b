import { expect, vi } from 'vitest';
import { listCases, settleCase } from '../../src/domain/settlement/cases.ts';
import { sandboxOf, type TestGateway, type TestPlatform, tester } from './gateway.ts';
import type { Scene } from './scene.ts';

/** Makes a payment for which the provider takes five units too many, settles it as an operator, and returns its id. */
export async function settledByHand({ gateway }: TestGateway, platform: TestPlatform, scene: Scene): Promise<string> {
  const { payments } = gateway;
  const spies = (['payOut', 'findOrder'] as const).map((part) =>
    vi.spyOn(sandboxOf(payments), part).mockResolvedValue({ kind: 'settled', amount: 1_000n, sent: 1_005n }),
  );
  const { id } = await platform.pay(scene, 1_000);
  await vi.waitFor(async () => {
    const cases = await listCases(payments.database);
    expect(cases.filter(({ transactionId }) => id === `Transaction:${transactionId}`)).toHaveLength(1);
  }, 20_000);
  const operator = { ...tester, reason: 'the provider has taken a fee' };
  await settleCase(payments, id, operator);
  for (const spy of spies) spy.mockRestore();
  expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  return id;
}
