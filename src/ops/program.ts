import type { Program } from '../apps/terminal/program.ts';
import { addAdjustments, addFreezing, addStatement } from './accounts.ts';
import { addActs, addAudit } from './audit.ts';
import { addBlocked } from './blocked.ts';
import { addDoctor } from './doctor.ts';
import { addConfig, addKeys, addMigrate, addRestored } from './installation.ts';
import { addCases, addOrders, addSuspense } from './orders.ts';
import { addPlatforms, addPolicies, addTokens, addWebhooks } from './platforms.ts';
import { addDeposits, addRails, addReconcile } from './rails.ts';
import { addSchema } from './schema.ts';

const commands = [
  ...[addDoctor, addConfig, addMigrate, addRestored, addKeys, addAudit, addActs, addBlocked],
  ...[addPlatforms, addTokens, addPolicies, addFreezing, addOrders, addWebhooks, addSuspense],
  ...[addAdjustments, addCases, addDeposits, addRails, addReconcile, addStatement, addSchema],
];

export function addOperators(group: Program): void {
  for (const add of commands) add(group);
}
