import fc from 'fast-check';
import { expect } from 'vitest';
import { runAudit } from '../../src/domain/ledger/audit.ts';
import { act } from '../setup/acts.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { commands, decide } from './commands.ts';
import { type Model, modelOf } from './model.ts';
import { deletePolicy, expectUsage, type Real } from './policies.ts';
import { decideHeld } from './policy-commands.ts';
import type { Ground } from './run.ts';
import { clockwork, World } from './world.ts';

const lanes = 12;

/** The settings under which a model foresees what happens: nothing ends by itself. */
export const modelSettings = {
  SANDBOX_PACE_MS: 0,
  // A busy machine takes long to open a connection, so all lanes open one at once.
  DATABASE_POOL: 2 * lanes,
  SANDBOX_QUOTE_SECONDS: 3_600,
  PAYMENT_APPROVAL_MS: 60_000,
} as const;

/** Starts a gateway, in which each lane has a platform with two customers. */
export async function openGround(): Promise<Ground<Model, Real>> {
  const gateway = await startTestGateway(modelSettings);
  const sql = clockwork(gateway.databaseUrl);
  return {
    lanes,
    commands,
    open: async () => {
      const world = await World.open(gateway, sql);
      return { world, pair: await world.pair(0n) };
    },
    async play(real, sequence) {
      const { world, pair } = real;
      const model = modelOf(await world.balances(pair));
      try {
        await fc.asyncModelRun(() => ({ model, real }), sequence);
      } finally {
        await settle(model, real, 'reject');
      }
      expect(await world.balances(pair), 'at the end').toEqual(model.balances);
    },
    async close({ world }) {
      await expectSoundSince(gateway);
      await world.close();
    },
    async stop() {
      await sql.end();
      await gateway.stop();
    },
  };
}

/** Audits everything since the last audit, at a moment that depends on the sequences, while the other lanes go on. */
export async function expectSoundSince(gateway: TestGateway): Promise<void> {
  expect(await runAudit(gateway.gateway.payments.database)).toMatchObject({ breaches: [], storeError: undefined });
}

/** Ends all that a sequence has left under way: the next one on these customers starts clean. */
export async function settle(model: Model, real: Real, verdict: 'approve' | 'reject'): Promise<void> {
  while (model.held.length > 0) await decideHeld(model, real, 0, 'reject');
  while (model.waiting.length > 0) await decide(model, real, 0, verdict);
  await expectUsage(model.policies, real);
  for (const subject of [...model.policies.keys()]) await deletePolicy(model.policies, real, subject);
  if (model.outside !== 'ACTIVE') {
    const input = { accountId: real.pair.a.outsideUsd, status: 'ACTIVE' };
    await act(real.world.platform, 'sandboxSetExternalAccountStatus', input, '');
  }
}
