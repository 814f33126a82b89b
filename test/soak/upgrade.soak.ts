import { randomInt } from 'node:crypto';
import { test } from 'vitest';
import { survive } from '../faults/survive.ts';
import { checkOut, revisionBefore } from '../faults/version.ts';

// An upgrade as the operating guide describes it, under load: the migrations, then one instance after the other; back to the
// version before, since an operator may have to; and the upgrade again. UPGRADE_FROM names another revision than the one before
// the latest migration.

const seed = Number(process.env.FAULT_SEED ?? randomInt(1_000_000));

test('two versions serve one database while it is migrated, and no command fails', { timeout: 900_000 }, async () => {
  const before = await checkOut(process.env.UPGRADE_FROM ?? (await revisionBefore()));
  console.log({ from: before.revision });
  try {
    await survive({
      seed,
      before,
      undisturbed: true,
      instances: 2,
      clients: 4,
      followers: 2,
      commandsBetween: 50,
      faults: { 'migration, upgrade, the way back and the upgrade again': 1 },
    });
  } finally {
    await before.remove();
  }
});
